-- Shows what curation by rules would do with a memory, and why. Writes nothing.
--
-- Returns one row, or none if the memory does not exist or is sensitive, forgotten or superseded. ADD names the nearest
-- memory, if there is one.
--
-- memory_hash, other_hash  hashes of the compared texts, for apply_curation()
CREATE OR REPLACE FUNCTION pgrecall.decide_curation(memory_id bigint)
RETURNS TABLE (decision text, other_id bigint, evidence jsonb, memory_hash bytea, other_hash bytea)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 1
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT COALESCE(j.decision, 'ADD'), j.other_id, COALESCE(j.evidence, '{}'), m.content_hash, j.content_hash
    FROM pgrecall.memories m
    LEFT JOIN LATERAL (
        SELECT _pgrecall.classify_pair(e.evidence) AS decision, c.other_id, e.evidence, o.content_hash
        FROM _pgrecall.curation_candidates(m.id) c
        JOIN pgrecall.memories o ON o.id = c.other_id
        CROSS JOIN LATERAL (SELECT _pgrecall.curation_evidence(m.id, c.other_id, c.cosine) AS evidence OFFSET 0) e
        ORDER BY array_position(ARRAY['NOOP', 'SUPERSEDE', 'UPDATE', 'ADD'], _pgrecall.classify_pair(e.evidence)),
                 c.cosine DESC NULLS LAST, c.other_id
        LIMIT 1
    ) j ON true
    WHERE m.id = (SELECT _pgrecall.seen_id('memory', decide_curation.memory_id))
      AND NOT m.is_sensitive AND m.deleted_at IS NULL AND m.superseded_by IS NULL;
END;

ALTER FUNCTION pgrecall.decide_curation OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.decide_curation TO pgrecall_reader;
