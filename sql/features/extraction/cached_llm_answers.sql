-- Returns cached answers of a language model, by the hash of the prompt.
--
-- Memories with the same text share an answer.
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

ALTER FUNCTION pgrecall.cached_llm_answers OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.cached_llm_answers TO pgrecall_embedder;
