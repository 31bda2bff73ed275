-- Stores rows of another program with their times, flags and embeddings, and updates rows that have changed there since;
-- all or none.
--
-- rows          JSON array of objects:
--               memory      options of remember(), external_id among them
--               import      its source: kind, id, and a fingerprint that changes with the row
--               updated_at  time of the row's last change; NULL: now
--               deleted_at  time of its deletion: the memory is stored as forgotten
--               embedding   as text, '[0.1,…]', of the active model; not stored for a sensitive or deleted row
-- namespace     of rows without one; NULL: the setting pgrecall.namespace, else 'default'. Created if missing
-- keep_deleted  true: store rows that were deleted before their first import; false: only forget imported ones
--
-- A row that is unchanged at its source does not change its memory, even if the memory was changed here. A changed row
-- replaces all fields, except that a sensitive memory stays sensitive.
--
-- Returns for each row its place from 1, the memory's id, and an outcome: 'stored', 'updated', 'left out', or 'present',
-- 'kept' and 'taken' as in preview_import_rows()
--
-- Errors  22023, 54000 see _pgrecall.check_memory;  42704 no such language;  42501 no such namespace, and the role may not create one;
--         23505 an external_id twice
CREATE OR REPLACE FUNCTION pgrecall.import_rows(
    rows jsonb, namespace text DEFAULT NULL, keep_deleted boolean DEFAULT true
)
RETURNS TABLE (place integer, id bigint, outcome text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT SET extra_float_digits = 1
AS $function$
DECLARE
    home text := pgrecall.namespace_name(import_rows.namespace);
    -- One element per row: the options of remember(), its memory, the outcome.
    given jsonb[];
    ids bigint[];
    changed bigint[];
    made pgrecall.naming[];
    outcomes text[];
    fresh jsonb;
    new_ids bigint[];
    places bigint[];
    twice bigint;
    item record;
BEGIN
    IF jsonb_typeof(rows) IS DISTINCT FROM 'array' THEN
        RAISE EXCEPTION 'rows must be a JSON array, not %', COALESCE(jsonb_typeof(rows), 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass an object for every row.';
    END IF;
    PERFORM _pgrecall.check_import_row(r.value, 'row ' || r.place)
    FROM jsonb_array_elements(rows) WITH ORDINALITY r (value, place);
    PERFORM _pgrecall.check_memory('{"content": null}' || (r.value -> 'memory'), 'row ' || r.place)
    FROM jsonb_array_elements(rows) WITH ORDINALITY r (value, place);
    PERFORM _pgrecall.check_language(l.language)
    FROM (SELECT DISTINCT r.value #>> '{memory,language}' AS language FROM jsonb_array_elements(rows) r (value)) l;
    SELECT array_agg(
        jsonb '{"origin": "import"}' || (r.value -> 'memory')
        || jsonb_build_object('metadata', COALESCE(NULLIF(r.value #> '{memory,metadata}', 'null'), '{}')
            || jsonb_build_object('imported_from', (r.value -> 'import') || jsonb_build_object(
                'updated_at', extract(epoch FROM COALESCE((r.value ->> 'updated_at')::timestamptz, now())),
                'is_deleted', r.value ->> 'deleted_at' IS NOT NULL
            )))
        ORDER BY r.place
    ) INTO given
    FROM jsonb_array_elements(rows) WITH ORDINALITY r (value, place);

    SELECT max(g.place) INTO twice
    FROM unnest(given) WITH ORDINALITY g (fields, place)
    GROUP BY COALESCE(g.fields ->> 'namespace', home), g.fields ->> 'external_id'
    HAVING count(*) > 1
    ORDER BY 1
    LIMIT 1;
    IF twice IS NOT NULL THEN
        RAISE EXCEPTION 'row %: an earlier row has the same external_id', twice
            USING ERRCODE = 'unique_violation', HINT = 'Leave one of them out, or pass it in another call.';
    END IF;
    PERFORM _pgrecall.check_namespace(n.name, true)
    FROM (SELECT DISTINCT COALESCE(g.fields ->> 'namespace', home) AS name FROM unnest(given) g (fields) ORDER BY 1) n;
    -- Two imports of one source take turns, so that neither counts rows that the other stores.
    PERFORM _pgrecall.serialize_imports(ARRAY(
        SELECT n.id FROM pgrecall.namespaces n
        WHERE n.name IN (SELECT COALESCE(g.fields ->> 'namespace', home) FROM unnest(given) g (fields))
    ));
    SELECT array_agg(l.id) INTO changed
    FROM (
        SELECT m.id FROM pgrecall.memories m
        WHERE m.id IN (SELECT a.id FROM pgrecall.preview_import_rows(rows, home) a WHERE a.outcome = 'changed')
        ORDER BY m.id
        FOR NO KEY UPDATE
    ) l;
    SELECT array_agg(a.id ORDER BY a.place),
           array_agg(CASE
               WHEN a.outcome = 'changed' THEN 'updated'
               WHEN a.outcome <> 'new' THEN a.outcome
               WHEN keep_deleted OR r.value ->> 'deleted_at' IS NULL THEN 'stored'
               ELSE 'left out'
           END ORDER BY a.place)
    INTO ids, outcomes
    FROM pgrecall.preview_import_rows(rows, home) a
    JOIN jsonb_array_elements(rows) WITH ORDINALITY r (value, place) ON r.place = a.place;

    SELECT jsonb_agg(
        g.fields || jsonb_build_object('updated_at', r.value -> 'updated_at', 'deleted_at', r.value -> 'deleted_at')
        ORDER BY g.place
    ), array_agg(g.place ORDER BY g.place) INTO fresh, places
    FROM unnest(given) WITH ORDINALITY g (fields, place)
    JOIN jsonb_array_elements(rows) WITH ORDINALITY r (value, place) ON r.place = g.place
    WHERE outcomes[g.place] = 'stored';
    IF changed IS NOT NULL THEN
        SELECT b.ids, b.made INTO new_ids, made
        FROM _pgrecall.insert_beside(to_jsonb(given), COALESCE(fresh, '[]'), home, changed) b;
    ELSIF fresh IS NOT NULL THEN
        new_ids := _pgrecall.insert_memories(fresh, home);
    END IF;
    FOR item IN SELECT n.id, n.turn FROM unnest(new_ids) WITH ORDINALITY n (id, turn) LOOP
        IF item.id IS NULL THEN
            RAISE EXCEPTION 'row %: another session has just taken its external_id', places[item.turn]
                USING ERRCODE = 'unique_violation', HINT = 'Repeat the call.';
        END IF;
        ids[places[item.turn]] := item.id;
    END LOOP;
    FOR item IN
        SELECT m.id, m.is_sensitive, g.fields
        FROM unnest(given) WITH ORDINALITY g (fields, place)
        JOIN pgrecall.memories m ON m.id = ids[g.place]
        WHERE outcomes[g.place] = 'updated'
        ORDER BY m.id
    LOOP
        PERFORM _pgrecall.change_memory(item.id, jsonb '{
            "title": "", "category": "", "tags": [], "expanded_keywords": [], "importance": 0.5, "source": "", "session": "",
            "speaker": "", "position": null, "occurred_at": null, "valid_from": null, "valid_to": null,
            "expires_at": null
        }' || jsonb_build_object(
            'language', (
                SELECT _pgrecall.stored_language(n.language)::text
                FROM pgrecall.namespaces n WHERE n.name = COALESCE(item.fields ->> 'namespace', home)
            )
        ) || jsonb_strip_nulls(item.fields - '{namespace,external_id,metadata}'::text[]) || jsonb_build_object(
            'metadata', item.fields -> 'metadata',
            'is_sensitive', item.is_sensitive OR COALESCE((item.fields ->> 'is_sensitive')::boolean, false)
        ), true);
    END LOOP;

    PERFORM pgrecall.complete(NULL, e.ids, e.hashes, e.vectors)
    FROM (
        SELECT array_agg(m.id) AS ids, array_agg(m.content_hash) AS hashes, array_agg(r.value ->> 'embedding') AS vectors
        FROM jsonb_array_elements(rows) WITH ORDINALITY r (value, place)
        JOIN pgrecall.memories m ON m.id = ids[r.place]
        WHERE outcomes[r.place] IN ('stored', 'updated')
          AND r.value ->> 'embedding' IS NOT NULL AND r.value ->> 'deleted_at' IS NULL AND NOT m.is_sensitive
    ) e
    WHERE e.ids IS NOT NULL;
    UPDATE pgrecall.memories m
    SET updated_at = COALESCE((r.value ->> 'updated_at')::timestamptz, m.updated_at),
        deleted_at = (r.value ->> 'deleted_at')::timestamptz
    FROM jsonb_array_elements(rows) WITH ORDINALITY r (value, place)
    WHERE m.id = ids[r.place] AND outcomes[r.place] = 'updated'
      AND COALESCE(r.value ->> 'updated_at', r.value ->> 'deleted_at') IS NOT NULL;
    -- What is sensitive, forgotten or kept as it is mentions nothing of this.
    IF made <> '{}' THEN
        PERFORM _pgrecall.upsert_concepts('{}', made);
    END IF;

    RETURN QUERY
        SELECT o.place::integer, ids[o.place], o.outcome
        FROM unnest(outcomes) WITH ORDINALITY o (outcome, place) ORDER BY o.place;
END
$function$;

ALTER FUNCTION pgrecall.import_rows OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.import_rows TO pgrecall_writer;
