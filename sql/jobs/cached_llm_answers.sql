-- What a language model answered before, by the hash of what it was asked.
--
-- Memories that say the same have the same answer; whichever of them still has it lends it.
--
-- keys  SHA-256 each
CREATE OR REPLACE FUNCTION pgrecall.cached_llm_answers(keys bytea[])
RETURNS TABLE (key bytea, answer jsonb)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 16
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT DISTINCT ON (a.key) a.key, a.answer
    FROM pgrecall.llm_answers a
    WHERE a.key = ANY (keys)
    ORDER BY a.key, a.created_at DESC;
END;

COMMENT ON FUNCTION pgrecall.cached_llm_answers IS 'What a language model answered before, by the hash of what it was asked.';

ALTER FUNCTION pgrecall.cached_llm_answers OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.cached_llm_answers TO pgrecall_embedder;
