-- Rebuilds the postings and the lexicon of a namespace; false if another transaction is writing them.
--
-- It cannot run while another transaction writes the postings, nor under repeatable read. Writers continue meanwhile. A
-- memory with a pending note keeps the postings that the note describes. One statement reads both memories and notes,
-- so it sees a change together with its note, or neither. What is over now goes to the postings of the past.
CREATE OR REPLACE FUNCTION _pgrecall.rebuild_postings(namespace_id integer)
RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    size CONSTANT integer := 10000;
    candidates bigint[];
    ids bigint[];
    vectors tsvector[];
    past boolean[];
    moment timestamptz;
BEGIN
    IF NOT _pgrecall.try_lock_postings(rebuild_postings.namespace_id) THEN
        RETURN false;
    END IF;
    LOCK TABLE pgrecall.memories IN ACCESS SHARE MODE;  -- first, in the lock order of TRUNCATE
    SELECT array_agg(u.memory_id) INTO candidates
    FROM (
        SELECT u.memory_id FROM pgrecall.pending_postings u
        WHERE u.namespace_id = rebuild_postings.namespace_id
        FOR UPDATE SKIP LOCKED
    ) u;
    DELETE FROM pgrecall.pending_postings u
    WHERE u.namespace_id = rebuild_postings.namespace_id AND u.memory_id = ANY (candidates);
    DELETE FROM pgrecall.postings p WHERE p.namespace_id = rebuild_postings.namespace_id;
    DELETE FROM pgrecall.term_stats l WHERE l.namespace_id = rebuild_postings.namespace_id;
    moment := greatest(_pgrecall.separated_at(rebuild_postings.namespace_id), now());
    INSERT INTO pgrecall.posting_states AS s (namespace_id, separated_at) VALUES (rebuild_postings.namespace_id, moment)
    ON CONFLICT ON CONSTRAINT posting_states_pkey DO UPDATE SET separated_at = excluded.separated_at;

    SELECT array_agg(c.id ORDER BY c.id) INTO candidates
    FROM (
        SELECT m.id FROM pgrecall.memories m
        WHERE m.namespace_id = rebuild_postings.namespace_id AND m.deleted_at IS NULL
        UNION
        SELECT u.memory_id FROM pgrecall.pending_postings u WHERE u.namespace_id = rebuild_postings.namespace_id
    ) c;
    FOR start IN 1 .. COALESCE(cardinality(candidates), 0) BY size LOOP
        SELECT array_agg(v.id), array_agg(v.vector), array_agg(v.is_past) INTO ids, vectors, past
        FROM (
            SELECT c.id, CASE WHEN u.memory_id IS NULL THEN m.search_vector ELSE u.indexed_vector END AS vector,
                   CASE WHEN u.memory_id IS NULL THEN _pgrecall.is_past(m, moment) ELSE u.indexed_past END AS is_past
            FROM unnest(candidates[start : start + size - 1]) c (id)
            LEFT JOIN pgrecall.pending_postings u ON u.memory_id = c.id AND u.namespace_id = rebuild_postings.namespace_id
            LEFT JOIN pgrecall.memories m
                   ON m.id = c.id AND m.namespace_id = rebuild_postings.namespace_id AND m.deleted_at IS NULL
        ) v
        WHERE v.vector IS NOT NULL;
        PERFORM _pgrecall.index_postings(namespace_id, ids, vectors, past) WHERE ids IS NOT NULL;
    END LOOP;
    -- Each round made blocks of its own: a daemon puts the lists of several in order.
    UPDATE pgrecall.posting_states s SET changes = 0, compacted_to = CASE WHEN cardinality(candidates) > size THEN '' END
    WHERE s.namespace_id = rebuild_postings.namespace_id;
    RETURN true;
END
$function$;

ALTER FUNCTION _pgrecall.rebuild_postings OWNER TO pgrecall_engine;
