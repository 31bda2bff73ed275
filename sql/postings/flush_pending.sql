-- Moves pending changes of a namespace into its postings. Returns the number of changed memories.
--
-- Returns 0 if nothing changed, or if another transaction is already flushing.
--
-- It locks the notes of the changed memories first and reads the memories in later statements. A writer that changes
-- one of them meanwhile waits for this transaction's end and then sees the new postings. Notes locked by another
-- transaction are left for the next run.
--
-- max_memories  maximum number of changed memories to process
CREATE OR REPLACE FUNCTION _pgrecall.flush_pending(namespace_id integer, max_memories integer DEFAULT 10000)
RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    changed bigint[];
    posted bigint[];
    vectors tsvector[];
BEGIN
    IF NOT _pgrecall.try_lock_postings(flush_pending.namespace_id) THEN
        RETURN 0::bigint;
    END IF;
    SELECT array_agg(u.memory_id),
           array_agg(u.memory_id) FILTER (WHERE u.indexed_vector IS NOT NULL),
           array_agg(u.indexed_vector) FILTER (WHERE u.indexed_vector IS NOT NULL)
    INTO changed, posted, vectors
    FROM (
        SELECT u.memory_id, u.indexed_vector FROM pgrecall.pending_postings u
        WHERE u.namespace_id = flush_pending.namespace_id
        ORDER BY u.memory_id
        LIMIT max_memories
        FOR UPDATE SKIP LOCKED
    ) u;
    IF changed IS NULL THEN
        RETURN 0::bigint;
    ELSIF cardinality(posted) >= 10000 AND (
        SELECT 4 * count(u.indexed_vector) FROM pgrecall.pending_postings u WHERE u.namespace_id = flush_pending.namespace_id
    ) >= (
        SELECT l.documents FROM pgrecall.term_stats l WHERE l.namespace_id = flush_pending.namespace_id AND l.term = ''
    ) THEN
        -- Much of the namespace has changed: a rebuild is less work.
        PERFORM _pgrecall.rebuild_postings(namespace_id);
        RETURN cardinality(changed)::bigint;
    END IF;

    DELETE FROM pgrecall.pending_postings u WHERE u.namespace_id = flush_pending.namespace_id AND u.memory_id = ANY (changed);
    IF posted IS NOT NULL THEN
        PERFORM _pgrecall.remove_postings(namespace_id, posted, vectors);
    END IF;
    PERFORM _pgrecall.index_memories(namespace_id, changed);
    RETURN cardinality(changed)::bigint;
END
$function$;

COMMENT ON FUNCTION _pgrecall.flush_pending IS
    'Moves pending changes of a namespace into its postings; returns the number of changed memories.';
