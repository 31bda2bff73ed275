-- Moves pending changes of a namespace into its postings. Returns the number of changed memories.
--
-- Memories whose validity has ended meanwhile change too: they move to the postings of the past. Each moves with the text
-- that this reads, so a writer that changes it meanwhile notes that text as its old one.
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
    past boolean[];
    over bigint[];
    over_vectors tsvector[];
    over_at timestamptz;
    moment timestamptz;
BEGIN
    IF NOT _pgrecall.try_lock_postings(flush_pending.namespace_id) THEN
        RETURN 0::bigint;
    END IF;
    moment := _pgrecall.separated_at(namespace_id);
    SELECT array_agg(o.memory_id), array_agg(o.vector), CASE WHEN count(*) < max_memories THEN now() ELSE max(o.ends_at) END
    INTO over, over_vectors, over_at
    FROM (
        SELECT o.memory_id, o.vector, o.ends_at
        FROM _pgrecall.newly_past(namespace_id, moment) o
        ORDER BY o.ends_at
        FETCH FIRST (max_memories) ROWS WITH TIES
    ) o;
    INSERT INTO pgrecall.posting_states AS s (namespace_id, separated_at) VALUES (flush_pending.namespace_id, over_at)
    ON CONFLICT ON CONSTRAINT posting_states_pkey DO UPDATE SET separated_at = greatest(s.separated_at, excluded.separated_at)
    WHERE s.separated_at IS NOT NULL;
    IF over IS NOT NULL THEN
        PERFORM _pgrecall.remove_postings(namespace_id, over, over_vectors);
        PERFORM _pgrecall.index_postings(namespace_id, over, over_vectors, array_fill(true, ARRAY[cardinality(over)]));
    END IF;
    SELECT array_agg(u.memory_id),
           array_agg(u.memory_id) FILTER (WHERE u.indexed_vector IS NOT NULL),
           array_agg(u.indexed_vector) FILTER (WHERE u.indexed_vector IS NOT NULL),
           array_agg(u.indexed_past) FILTER (WHERE u.indexed_vector IS NOT NULL)
    INTO changed, posted, vectors, past
    FROM (
        SELECT u.memory_id, u.indexed_vector, u.indexed_past FROM pgrecall.pending_postings u
        WHERE u.namespace_id = flush_pending.namespace_id
        ORDER BY u.memory_id
        LIMIT max_memories
        FOR UPDATE SKIP LOCKED
    ) u;
    IF changed IS NULL THEN
        RETURN COALESCE(cardinality(over), 0)::bigint;
    END IF;
    -- A forgotten or superseded memory may be one of those whose embeddings were sampled.
    PERFORM _pgrecall.update_backgrounds(b.generation_id, changed)
    FROM pgrecall.embedding_backgrounds b WHERE b.namespace_id = flush_pending.namespace_id;
    IF cardinality(posted) >= 10000 AND (
        SELECT 4 * count(u.indexed_vector) FROM pgrecall.pending_postings u WHERE u.namespace_id = flush_pending.namespace_id
    ) >= (
        SELECT sum(l.documents) FROM pgrecall.term_stats l WHERE l.namespace_id = flush_pending.namespace_id AND l.term = ''
    ) THEN
        -- Much of the namespace has changed: a rebuild is less work.
        PERFORM _pgrecall.rebuild_postings(namespace_id);
        RETURN (cardinality(changed) + COALESCE(cardinality(over), 0))::bigint;
    END IF;

    DELETE FROM pgrecall.pending_postings u WHERE u.namespace_id = flush_pending.namespace_id AND u.memory_id = ANY (changed);
    IF posted IS NOT NULL THEN
        PERFORM _pgrecall.remove_postings(namespace_id, posted, vectors, past);
    END IF;
    PERFORM _pgrecall.index_memories(namespace_id, changed);
    RETURN (cardinality(changed) + COALESCE(cardinality(over), 0))::bigint;
END
$function$;
