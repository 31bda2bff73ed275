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
        SELECT FROM pgrecall.jobs j
        WHERE j.memory_id = curate_claimed.memory_id AND j.kind = 'curation' AND j.ticket = curate_claimed.ticket
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
        DELETE FROM pgrecall.jobs j WHERE j.memory_id = curate_claimed.memory_id AND j.kind = 'curation';
    ELSE
        -- An attempt, so that a memory that is never decided about comes to an end.
        PERFORM _pgrecall.fail_job(
            'curation', 0, curate_claimed.memory_id, NULL, curate_claimed.ticket, 'there was no decision', 'undecided', '0'
        );
    END IF;
    RETURN curation_id;
EXCEPTION
    -- The memory is claimed again some seconds later, which is no further attempt.
    WHEN lock_not_available THEN
        PERFORM _pgrecall.postpone_jobs('curation', jsonb_build_array(jsonb_build_object(
            'memory_id', curate_claimed.memory_id, 'ticket', curate_claimed.ticket
        )));
        RETURN NULL;
END
$function$;

ALTER FUNCTION pgrecall.curate_claimed OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.curate_claimed TO pgrecall_embedder;
