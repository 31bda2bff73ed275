-- Lists failed memories with the kind of job and the cause, newest failure first, without their content.
--
-- After five attempts a job has failed, until the memory's text changes or retry_failures() is called.
--
-- cause  only failures of this cause;  k  maximum number of rows;  kind  only jobs of this kind
--
-- Errors  22023 k is negative
--
-- generation, model  of kind embedding;  cause  one word;  error  message of the last attempt
-- kind  embedding, text (extraction), llm (extraction by a language model), notes, sparse or curation
CREATE OR REPLACE FUNCTION pgrecall.failures(cause text DEFAULT NULL, k integer DEFAULT 100, kind text DEFAULT NULL)
RETURNS TABLE (
    memory_id bigint, namespace text, generation integer, model text, cause text, error text, attempts integer,
    failed_at timestamptz, kind text
)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 100
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT f.memory_id, n.name, g.id, e.name, f.cause, f.last_error, f.attempts, f.failed_at, f.kind
    FROM pgrecall.jobs f
    JOIN pgrecall.memories m ON m.id = f.memory_id
    JOIN pgrecall.namespaces n ON n.id = m.namespace_id
    LEFT JOIN pgrecall.generations g ON g.id = f.generation_id
    LEFT JOIN pgrecall.embedding_models e ON e.id = g.model_id
    WHERE f.failed_at IS NOT NULL AND (failures.cause IS NULL OR f.cause = failures.cause)
      AND (failures.kind IS NULL OR f.kind = failures.kind)
    ORDER BY f.failed_at DESC, f.memory_id DESC, f.kind
    LIMIT _pgrecall.parse_row_limit(failures.k);
END;

ALTER FUNCTION pgrecall.failures OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.failures TO pgrecall_reader;
