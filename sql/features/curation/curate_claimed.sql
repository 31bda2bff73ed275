-- Curates a claimed memory, by rules or with the decision of a language model, and removes it from the queue. Returns the
-- number of the decision, NULL if there is none.
--
-- Returns NULL if the ticket is void, curation was switched off, or nothing is left to decide. If the text has changed
-- since, a language model's decision is void and the memory waits again.
--
-- Waits for nobody for long: if another transaction holds one of the memories, it is left for some seconds later.
--
-- This is the only way for an embedder to supersede a memory: only while the setting curate is on, recorded, and
-- reversible.
--
-- verdict  decision of a language model; NULL: by rules; {"decision", "other_id", "decider", "evidence", "memory_hash",
--       "other_hash"}, hashes in hex
CREATE OR REPLACE FUNCTION pgrecall.curate_claimed(memory_id bigint, ticket bigint, verdict jsonb DEFAULT NULL)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
SET lock_timeout = '250ms'
AS $function$
DECLARE
    curation_id bigint;
BEGIN
    IF pgrecall.stored_setting('curate') = 'off' OR NOT EXISTS (
        SELECT FROM pgrecall.curation_jobs j
        WHERE j.memory_id = curate_claimed.memory_id AND j.ticket = curate_claimed.ticket
    ) THEN
        RETURN NULL;
    END IF;
    IF verdict IS NULL THEN
        curation_id := pgrecall.curate(curate_claimed.memory_id);
    ELSE
        PERFORM _pgrecall.check_typed(verdict, 'verdict', ids => '{other_id}', hashes => '{memory_hash,other_hash}');
        curation_id := pgrecall.apply_curation(
            curate_claimed.memory_id, (verdict ->> 'other_id')::bigint, verdict ->> 'decision', left(verdict ->> 'decider', 200),
            verdict -> 'evidence', decode(verdict ->> 'memory_hash', 'hex'), decode(verdict ->> 'other_hash', 'hex')
        );
    END IF;
    -- No lock until here: a session that flags a memory as sensitive locks its row first, then this one.
    IF curation_id IS NOT NULL OR NOT EXISTS (
        SELECT FROM pgrecall.memories m
        WHERE m.id = curate_claimed.memory_id AND m.deleted_at IS NULL AND m.superseded_by IS NULL
    ) THEN
        DELETE FROM pgrecall.curation_jobs j WHERE j.memory_id = curate_claimed.memory_id;
    ELSE
        UPDATE pgrecall.curation_jobs j SET ticket = NULL, worker_id = NULL, lease_expires_at = NULL
        WHERE j.memory_id = curate_claimed.memory_id AND j.ticket = curate_claimed.ticket;
    END IF;
    RETURN curation_id;
EXCEPTION
    -- The memory is claimed again some seconds later, which is no further attempt.
    WHEN lock_not_available THEN
        UPDATE pgrecall.curation_jobs j
        SET ticket = NULL, worker_id = NULL, lease_expires_at = clock_timestamp() + interval '10 seconds' * (1 + random()),
            attempts = greatest(j.attempts - 1, 0)
        FROM (
            SELECT o.memory_id FROM pgrecall.curation_jobs o
            WHERE o.memory_id = curate_claimed.memory_id AND o.ticket = curate_claimed.ticket
            FOR UPDATE SKIP LOCKED
        ) held
        WHERE j.memory_id = held.memory_id;
        RETURN NULL;
END
$function$;

ALTER FUNCTION pgrecall.curate_claimed OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.curate_claimed TO pgrecall_embedder;
