-- Sets the successors of memories that pgrecall.import_memories() has stored. Returns how many memories it changed.
--
-- links  JSON array of objects: id, superseded_by (both ids of this database), and superseded_at, updated_at and
--        deleted_at of the line
--
-- Errors  22023 no array of objects, or memories would supersede one another in a circle;  40001 a successor has been
--         superseded since the transaction's snapshot
CREATE OR REPLACE FUNCTION pgrecall.link_imported_memories(links jsonb)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    linked bigint[];
    last_change bigint;
    seen bigint[];
BEGIN
    IF jsonb_typeof(links) IS DISTINCT FROM 'array' THEN
        RAISE EXCEPTION 'links must be a JSON array, not %', COALESCE(jsonb_typeof(links), 'NULL')
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Pass an object with id and superseded_by for every memory.';
    END IF;
    PERFORM _pgrecall.check_typed(
        l.link, 'link ' || l.place, ids => '{id,superseded_by}', times => '{superseded_at,deleted_at,updated_at}'
    )
    FROM jsonb_array_elements(links) WITH ORDINALITY l (link, place);
    seen := _pgrecall.seen_ids('memory', ARRAY(
        SELECT l.id FROM jsonb_to_recordset(links) AS l (id bigint)
        UNION
        SELECT l.superseded_by FROM jsonb_to_recordset(links) AS l (superseded_by bigint)
    ));
    PERFORM _pgrecall.serialize_imports(ARRAY(SELECT m.namespace_id FROM pgrecall.memories m WHERE m.id = ANY (seen)));
    PERFORM FROM pgrecall.memories m
    WHERE m.id = ANY (seen) ORDER BY m.id FOR NO KEY UPDATE;
    PERFORM _pgrecall.lock_successors(seen);
    PERFORM _pgrecall.lock_names(seen);
    -- Of those to be linked alone: a successor from another shard has a history with numbers of its own.
    SELECT max(c.id) INTO last_change
    FROM pgrecall.memory_changes c
    WHERE c.memory_id = ANY (seen) AND c.memory_id IN (SELECT l.id FROM jsonb_to_recordset(links) AS l (id bigint));
    WITH changed AS (
        UPDATE pgrecall.memories m
        SET superseded_by = s.id, superseded_at = l.superseded_at, deleted_at = l.deleted_at,
            updated_at = COALESCE(l.updated_at, m.updated_at)
        FROM jsonb_to_recordset(links) AS l (
            id bigint, superseded_by bigint, superseded_at timestamptz, deleted_at timestamptz, updated_at timestamptz
        )
        JOIN pgrecall.memories s ON s.id = l.superseded_by AND s.id = ANY (seen)
        -- Only import_memories() leaves a memory in this state.
        WHERE m.id = l.id AND m.id = ANY (seen) AND m.deleted_at = _pgrecall.awaits_successor()
          AND m.superseded_by IS NULL AND s.namespace_id = m.namespace_id
        RETURNING m.id
    )
    SELECT COALESCE(array_agg(c.id), '{}') INTO linked FROM changed c;
    IF EXISTS (
        WITH RECURSIVE later AS (
            SELECT m.id AS start, m.superseded_by AS id FROM pgrecall.memories m WHERE m.id = ANY (linked)
            UNION
            SELECT p.start, m.superseded_by FROM later p JOIN pgrecall.memories m ON m.id = p.id WHERE p.id <> p.start
        )
        SELECT FROM later p WHERE p.id = p.start
    ) THEN
        RAISE EXCEPTION 'memories supersede one another in a circle'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Two memories cannot supersede each other: correct superseded_by.';
    END IF;
    -- No change of the memories: import_records() brings their history.
    DELETE FROM pgrecall.memory_changes c WHERE c.memory_id = ANY (linked) AND c.id > COALESCE(last_change, 0);
    RETURN cardinality(linked);
END
$function$;

ALTER FUNCTION pgrecall.link_imported_memories OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.link_imported_memories TO pgrecall_writer;
