-- Stores the memories of a JSON array (keys: the options of remember(), and "namespace"); returns ids in the same order.
-- on_conflict handles an existing external_id: error (unless the text is the same), keep or update.
--
-- memories          JSON array of objects whose keys are the options of remember(), "namespace" among them
-- namespace         of the memories that name none; NULL: the setting pgrecall.namespace, else 'default'
-- create_namespace  create missing namespaces
-- on_conflict       when the namespace already has a memory with an external_id:
--                   'error'  an error if the text differs or that memory is forgotten, or if only the new one is
--                            sensitive; else its id
--                   'keep'   its id, nothing changes
--                   'update' updates the given fields and restores a forgotten memory, and with another text a superseded one
--
-- The call is atomic: it stores all memories or none.
--
-- Errors  22023, 54000 see _pgrecall.check_memory;  42704 no such namespace or language;  23505 see on_conflict
CREATE OR REPLACE FUNCTION public.remember_many(
    memories jsonb,
    namespace text DEFAULT NULL,
    create_namespace boolean DEFAULT false,
    on_conflict text DEFAULT 'error'
)
RETURNS SETOF bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    -- Looked up once: the setting costs more than storing a memory does.
    home text := pgrecall.namespace_name(remember_many.namespace);
    ids bigint[];
    made pgrecall.naming[];
    item record;
BEGIN
    IF jsonb_typeof(memories) IS DISTINCT FROM 'array' THEN
        RAISE EXCEPTION 'memories must be a JSON array, not %', COALESCE(jsonb_typeof(memories), 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'For a single memory use remember().';
    ELSIF on_conflict IS NULL OR on_conflict NOT IN ('error', 'keep', 'update') THEN
        RAISE EXCEPTION 'on_conflict cannot be "%"', left(on_conflict, 80)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'It takes error, keep or update.';
    END IF;
    FOR item IN SELECT e.fields, e.place FROM jsonb_array_elements(memories) WITH ORDINALITY e (fields, place) LOOP
        PERFORM _pgrecall.check_memory(
            CASE jsonb_typeof(item.fields) WHEN 'object' THEN '{"content": null}' || item.fields ELSE item.fields END,
            _pgrecall.memory_of_batch(item.place, jsonb_array_length(memories))
        );
    END LOOP;
    PERFORM _pgrecall.check_language(l.language)
    FROM (SELECT DISTINCT e.fields ->> 'language' AS language FROM jsonb_array_elements(memories) e (fields)) l;
    PERFORM _pgrecall.check_namespace(n.namespace, create_namespace)
    FROM (
        SELECT DISTINCT COALESCE(e.fields ->> 'namespace', home) AS namespace
        FROM jsonb_array_elements(memories) e (fields)
        ORDER BY 1
    ) n;

    -- All calls take their locks in one order, so that they wait for each other and do not deadlock: the rows that are there, in the
    -- order of ids; new external ids, in the order of their index; namespaces that get a new language; the names that these rows
    -- and the batch mention.
    IF on_conflict = 'update' AND jsonb_array_length(memories) > 1 THEN
        SELECT b.ids, b.made INTO ids, made
        FROM _pgrecall.insert_beside(memories, memories, home, _pgrecall.lock_external_ids(memories, home)) b;
    ELSE
        ids := _pgrecall.insert_memories(memories, home);
    END IF;
    IF array_position(ids, NULL) IS NULL THEN
        RETURN QUERY SELECT i.id FROM unnest(ids) WITH ORDINALITY i (id, place) ORDER BY i.place;
        RETURN;
    END IF;
    FOR item IN
        SELECT e.fields - 'namespace' AS fields, ids[e.place] AS id, e.place,
               pgrecall.namespace_id(COALESCE(e.fields ->> 'namespace', home)) AS namespace_id
        FROM jsonb_array_elements(memories) WITH ORDINALITY e (fields, place)
        ORDER BY e.place
    LOOP
        RETURN NEXT CASE
            WHEN item.id IS NOT NULL THEN item.id
            ELSE _pgrecall.resolve_conflict(item.namespace_id, item.fields, on_conflict,
                                               _pgrecall.memory_of_batch(item.place, jsonb_array_length(memories)))
        END;
    END LOOP;
    -- A sensitive memory mentions nothing, and of two changes of one memory the last counts.
    IF made <> '{}' THEN
        PERFORM _pgrecall.upsert_concepts('{}', made);
    END IF;
END
$function$;

ALTER FUNCTION public.remember_many OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.remember_many FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.remember_many TO pgrecall_writer;
