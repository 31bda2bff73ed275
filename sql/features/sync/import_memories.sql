-- Stores lines of pgrecall.export_memories() with their times and embeddings, all or none. Does not change existing memories.
--
-- Does not change existing memories: those with the same external_id in the namespace or, for a line without one, those
-- with the same creation time, text, session, position, speaker and source. Creates missing namespaces.
--
-- Stores an embedding if the database has a generation of its model and dimension and embeds the same text of the memory
-- as the source; otherwise a daemon computes it. A superseded memory stays forgotten until link_imported_memories() sets
-- its successor.
--
-- keep_origins  true: memories get the origins that the lines state, as a backup needs it; false: import, or a less trusted one that the
--               line states
--
-- place     position of the line in the array, from 1
-- outcome   'stored'; 'present'; or 'differs' if the memory that is there has another text or other fields
-- embedded  number of embeddings stored
-- left_out  models of the embeddings not stored
--
-- Errors  22023, 54000 see _pgrecall.check_import_line;  42704 no such language
CREATE OR REPLACE FUNCTION pgrecall.import_memories(lines jsonb, keep_origins boolean DEFAULT false)
RETURNS TABLE (place integer, id bigint, outcome text, embedded integer, left_out text[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT SET extra_float_digits = 1
AS $function$
DECLARE
    -- One element per line: the options of remember(), the memory, whether it is new.
    given jsonb[];
    homes integer[];
    ids bigint[];
    known bigint[];  -- those that were there before
    is_new boolean[];
    places bigint[];  -- of those to be stored, and their ids
    made bigint[];
    target record;
BEGIN
    IF jsonb_typeof(lines) IS DISTINCT FROM 'array' THEN
        RAISE EXCEPTION 'lines must be a JSON array, not %', COALESCE(jsonb_typeof(lines), 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass the lines of an export as one array.';
    END IF;
    SELECT array_agg(_pgrecall.check_import_line(e.line, 'line ' || e.place) ORDER BY e.place) INTO given
    FROM jsonb_array_elements(lines) WITH ORDINALITY e (line, place);
    -- Whoever wrote a file may have written any origin into it.
    IF keep_origins IS NOT TRUE THEN
        SELECT array_agg(
            g.fields || jsonb_build_object('origin', least((g.fields ->> 'origin')::pgrecall.memory_origin, 'import'))
            ORDER BY g.place
        ) INTO given
        FROM unnest(given) WITH ORDINALITY g (fields, place);
    END IF;
    SELECT array_agg(pgrecall.create_namespace(n.name, n.language)) INTO homes
    FROM (
        SELECT e.line ->> 'namespace' AS name, COALESCE(min(e.line ->> 'namespace_language'), 'english') AS language
        FROM jsonb_array_elements(lines) e (line)
        GROUP BY 1
        ORDER BY 1
    ) n;
    -- No unique index covers memories without an external_id, so two imports of one file take turns.
    PERFORM _pgrecall.serialize_imports(homes);

    SELECT array_agg(_pgrecall.find_imported_memory(g.fields) ORDER BY g.place) INTO known
    FROM unnest(given) WITH ORDINALITY g (fields, place);
    ids := known;
    -- Identical lines are one memory; the first one stores it.
    SELECT array_agg(g.is_first AND ids[g.place] IS NULL ORDER BY g.place) INTO is_new
    FROM (
        SELECT l.place, row_number() OVER (
            PARTITION BY l.fields ->> 'namespace', NULLIF(l.fields ->> 'external_id', ''),
                CASE WHEN COALESCE(l.fields ->> 'external_id', '') = '' THEN jsonb_build_array(
                    (l.fields ->> 'created_at')::timestamptz, (l.fields ->> 'occurred_at')::timestamptz,
                    l.fields -> 'content', l.fields -> 'title', l.fields -> 'session', l.fields -> 'position',
                    l.fields -> 'speaker', l.fields -> 'source'
                ) END
            ORDER BY l.place
        ) = 1 AS is_first
        FROM unnest(given) WITH ORDINALITY l (fields, place)
    ) g;
    IF true = ANY (is_new) THEN
        PERFORM _pgrecall.check_language(l.language)
        FROM (
            SELECT DISTINCT g.fields ->> 'language' AS language FROM unnest(given) WITH ORDINALITY g (fields, place) WHERE is_new[g.place]
        ) l;
        PERFORM _pgrecall.check_namespace(n.name, false)
        FROM (
            SELECT DISTINCT g.fields ->> 'namespace' AS name
            FROM unnest(given) WITH ORDINALITY g (fields, place) WHERE is_new[g.place] ORDER BY 1
        ) n;
        SELECT array_agg(g.place ORDER BY g.place), _pgrecall.insert_memories(jsonb_agg(g.fields ORDER BY g.place), NULL)
        INTO places, made
        FROM unnest(given) WITH ORDINALITY g (fields, place) WHERE is_new[g.place];
        -- Another session may have stored one since: that one is there, and not of this import.
        FOR turn IN 1..cardinality(places) LOOP
            ids[places[turn]] := made[turn];
            is_new[places[turn]] := made[turn] IS NOT NULL;
        END LOOP;
        SELECT array_agg(COALESCE(ids[g.place], _pgrecall.find_imported_memory(g.fields)) ORDER BY g.place) INTO ids
        FROM unnest(given) WITH ORDINALITY g (fields, place);
        FOR target IN
            SELECT g.id AS generation, array_agg(ids[e.place]) AS memory_ids,
                   array_agg(decode(e.line ->> 'text_hash', 'hex')) AS hashes,
                   array_agg(v.embedding ->> 'vector') AS vectors, jsonb_agg(v.embedding -> 'passages') AS passages
            FROM jsonb_array_elements(lines) WITH ORDINALITY e (line, place)
            CROSS JOIN LATERAL jsonb_array_elements(e.line -> 'embeddings') v (embedding)
            JOIN pgrecall.embedding_models o ON o.name = v.embedding ->> 'model'
            JOIN pgrecall.generations g ON g.model_id = o.id AND g.dimension = (v.embedding ->> 'dimension')::numeric
            WHERE is_new[e.place]
            GROUP BY g.id
        LOOP
            PERFORM pgrecall.complete(
                NULL, target.memory_ids, target.hashes, target.vectors, target.generation, passages => target.passages
            );
        END LOOP;
        PERFORM _pgrecall.lock_names(ARRAY(
            SELECT ids[e.place] FROM jsonb_array_elements(lines) WITH ORDINALITY e (line, place)
            WHERE is_new[e.place] AND COALESCE(e.line ->> 'deleted_at', e.line ->> 'superseded_by') IS NOT NULL
        ));
        -- After the embeddings, because complete() skips forgotten memories.
        UPDATE pgrecall.memories m
        SET updated_at = COALESCE((e.line ->> 'updated_at')::timestamptz, m.updated_at),
            deleted_at = CASE WHEN e.line ->> 'superseded_by' IS NULL THEN (e.line ->> 'deleted_at')::timestamptz
                              ELSE _pgrecall.awaits_successor() END
        FROM jsonb_array_elements(lines) WITH ORDINALITY e (line, place)
        WHERE m.id = ids[e.place] AND is_new[e.place];
        -- None of this is a change of the memories: import_records() brings their history.
        DELETE FROM pgrecall.memory_changes c
        WHERE c.memory_id IN (SELECT ids[n.place] FROM unnest(is_new) WITH ORDINALITY n (is_new, place) WHERE n.is_new);
    END IF;

    RETURN QUERY
        SELECT e.place::integer, m.id,
               CASE
                   WHEN is_new[e.place] THEN 'stored'
                   -- An import that was interrupted has left it. If this one does not complete it, it stays forgotten for good.
                   WHEN m.deleted_at = _pgrecall.awaits_successor() AND known[e.place] IS NOT NULL THEN 'present'
                   WHEN _pgrecall.has_given_fields(
                       m, given[e.place] - CASE WHEN keep_origins THEN '{namespace}' ELSE '{namespace,origin}'::text[] END
                   ) THEN 'present'
                   ELSE 'differs'
               END,
               v.embedded::integer, v.left_out
        FROM jsonb_array_elements(lines) WITH ORDINALITY e (line, place)
        JOIN pgrecall.memories m ON m.id = ids[e.place]
        CROSS JOIN LATERAL (
            SELECT count(g.id) AS embedded,
                   COALESCE(array_agg(format('%s (%s)', v.embedding ->> 'model', v.embedding ->> 'dimension'))
                            FILTER (WHERE g.id IS NULL), '{}') AS left_out
            FROM jsonb_array_elements(e.line -> 'embeddings') v (embedding)
            LEFT JOIN pgrecall.embedding_models o ON o.name = v.embedding ->> 'model'
            LEFT JOIN pgrecall.generations g
                ON g.model_id = o.id AND g.dimension = (v.embedding ->> 'dimension')::numeric
                   AND _pgrecall.embedding_of(m, g.id) IS NOT NULL
            WHERE is_new[e.place]
        ) v
        ORDER BY e.place;
END
$function$;

ALTER FUNCTION pgrecall.import_memories OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.import_memories TO pgrecall_writer;
