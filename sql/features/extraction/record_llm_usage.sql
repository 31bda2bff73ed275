-- Adds to today's usage of a language model.
--
-- cost  in any one currency; NULL: unknown, which makes the day's cost unknown
CREATE OR REPLACE FUNCTION pgrecall.record_llm_usage(
    model text, requests bigint, prompt_tokens bigint, completion_tokens bigint, cost numeric DEFAULT NULL
)
RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
BEGIN ATOMIC
    INSERT INTO pgrecall.llm_usage AS u (model, requests, prompt_tokens, completion_tokens, cost)
    VALUES (model, requests, prompt_tokens, completion_tokens, cost)
    ON CONFLICT ON CONSTRAINT llm_usage_pkey DO UPDATE
        SET requests = u.requests + excluded.requests, prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
            completion_tokens = u.completion_tokens + excluded.completion_tokens, cost = u.cost + excluded.cost;
END;

ALTER FUNCTION pgrecall.record_llm_usage OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.record_llm_usage TO pgrecall_embedder;
