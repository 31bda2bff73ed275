-- Adds the current text of memories to the postings, 10,000 at a time; skips forgotten ones and those of another namespace.
-- The caller holds try_lock_postings().
CREATE OR REPLACE FUNCTION _pgrecall.index_memories(namespace_id integer, memory_ids bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    size CONSTANT integer := 10000;
    ids bigint[];
    vectors tsvector[];
    past boolean[];
    moment CONSTANT timestamptz := _pgrecall.separated_at(namespace_id);
BEGIN
    FOR start IN 1 .. cardinality(memory_ids) BY size LOOP
        SELECT array_agg(m.id), array_agg(m.search_vector), array_agg(_pgrecall.is_past(m, moment)) INTO ids, vectors, past
        FROM pgrecall.memories m
        WHERE m.id = ANY (memory_ids[start : start + size - 1])
          AND m.namespace_id = index_memories.namespace_id AND m.deleted_at IS NULL;
        IF ids IS NOT NULL THEN
            PERFORM _pgrecall.index_postings(namespace_id, ids, vectors, past);
        END IF;
    END LOOP;
END
$function$;
