-- Stores memories of a file in one namespace, all or none, and compares those whose external_id is already there;
-- on_conflict keeps or updates these.
--
-- memories          JSON array of objects whose keys are the options of remember(), without "namespace"
-- namespace         NULL: the setting pgrecall.namespace, else 'default'
-- create_namespace  create it if it is missing
-- on_conflict       'keep': a memory with the same external_id stays as it is;  'update': it takes the given fields if one
--                   of them differs, unless it was forgotten or superseded
-- placed            places of memories, from 1, whose position the caller has counted: it is not compared
--
-- A memory that states no origin comes from the import. What is there is not compared by its origin.
--
-- place    place in the array, from 1
-- outcome  'stored'; 'present' if the memory has all given fields as they are; 'differs' if not; 'updated'
--
-- Imports into one namespace take turns, so that the outcomes are right when several import one file.
--
-- Errors  those of remember_many();  22023 an external_id stands twice in the array
CREATE OR REPLACE FUNCTION pgrecall.import_lines(
    memories jsonb, namespace text DEFAULT NULL, create_namespace boolean DEFAULT false, on_conflict text DEFAULT 'keep',
    placed integer[] DEFAULT '{}'
)
RETURNS TABLE (place integer, id bigint, outcome text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT SET extra_float_digits = 1
AS $function$
DECLARE
    home text := pgrecall.namespace_name(import_lines.namespace);
    home_id integer;
    -- One element per memory.
    ids bigint[];
    outcomes text[];
    chosen bigint[];
    answered bigint[];
BEGIN
    IF jsonb_typeof(memories) IS DISTINCT FROM 'array' OR memories @? 'lax $[*] ? (@.type() != "object")' THEN
        RAISE EXCEPTION 'memories must be a JSON array of objects' USING ERRCODE = 'invalid_parameter_value',
            HINT = 'Each object has the options of remember().';
    ELSIF on_conflict IS NULL OR on_conflict NOT IN ('keep', 'update') THEN
        RAISE EXCEPTION 'on_conflict cannot be "%"', left(on_conflict, 80)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'It takes keep or update.';
    ELSIF memories @? '$[*].namespace' THEN
        RAISE EXCEPTION 'a memory names a namespace' USING ERRCODE = 'invalid_parameter_value',
            HINT = 'Call the function for each namespace.';
    ELSIF EXISTS (
        SELECT FROM jsonb_array_elements(memories) e (fields)
        WHERE e.fields ->> 'external_id' <> '' GROUP BY e.fields ->> 'external_id' HAVING count(*) > 1
    ) THEN
        RAISE EXCEPTION 'an external_id stands twice' USING ERRCODE = 'invalid_parameter_value',
            HINT = 'Pass the second one in another call: it is a change of the first.';
    END IF;
    PERFORM _pgrecall.check_memory('{"content": null}' || e.fields, _pgrecall.memory_of_batch(e.place, jsonb_array_length(memories)))
    FROM jsonb_array_elements(memories) WITH ORDINALITY e (fields, place);
    PERFORM _pgrecall.check_namespace(home, import_lines.create_namespace);
    home_id := pgrecall.namespace_id(home);
    PERFORM _pgrecall.serialize_imports(ARRAY[home_id]);
    -- Else one that is forgotten meanwhile would come back.
    IF on_conflict = 'update' THEN
        PERFORM _pgrecall.lock_external_ids(memories, home);
    END IF;

    SELECT array_agg(m.id ORDER BY g.place),
           array_agg(CASE
               WHEN m.id IS NULL THEN 'stored'
               WHEN NOT _pgrecall.has_given_fields(
                   m, CASE WHEN g.place = ANY (placed) THEN g.fields - 'position' ELSE g.fields END - 'origin'
               ) THEN CASE WHEN on_conflict = 'update' AND m.deleted_at IS NULL AND m.superseded_by IS NULL
                           THEN 'updated' ELSE 'differs' END
               ELSE 'present'
           END ORDER BY g.place)
    INTO ids, outcomes
    -- Computed before the lookup: under row-level security an index takes no expression that is not leakproof.
    FROM (
        SELECT e.fields, e.place, NULLIF(e.fields ->> 'external_id', '') AS external_id
        FROM jsonb_array_elements(memories) WITH ORDINALITY e (fields, place)
        OFFSET 0
    ) g
    LEFT JOIN pgrecall.memories m ON m.namespace_id = home_id AND m.external_id = g.external_id;

    SELECT array_agg(o.place ORDER BY o.place) INTO chosen
    FROM unnest(outcomes) WITH ORDINALITY o (outcome, place) WHERE o.outcome IN ('stored', 'updated');
    IF chosen IS NOT NULL THEN
        answered := ARRAY(SELECT public.remember_many(
            (SELECT jsonb_agg(jsonb '{"origin": "import"}' || (memories -> (c.place - 1)::integer) ORDER BY c.place)
             FROM unnest(chosen) c (place)),
            home, on_conflict => import_lines.on_conflict
        ));
        FOR turn IN 1..cardinality(chosen) LOOP
            ids[chosen[turn]] := answered[turn];
        END LOOP;
    END IF;
    RETURN QUERY
        SELECT o.place::integer, ids[o.place], o.outcome
        FROM unnest(outcomes) WITH ORDINALITY o (outcome, place) ORDER BY o.place;
END
$function$;

ALTER FUNCTION pgrecall.import_lines OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.import_lines TO pgrecall_writer;
