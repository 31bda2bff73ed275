-- Lists failed memories with the cause, newest failure first, without their content.
--
-- After five attempts a memory has failed, until its text changes or retry_failures() is called.
--
-- cause  only failures of this cause;  k  maximum number of rows
--
-- Errors  22023 k is negative
--
-- cause     one word;  error  message of the last attempt
CREATE OR REPLACE FUNCTION pgrecall.failures(cause text DEFAULT NULL, k integer DEFAULT 100)
RETURNS TABLE (
    memory_id bigint, namespace text, generation integer, model text, cause text, error text, attempts integer,
    failed_at timestamptz
)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 100
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT f.memory_id, n.name, f.generation_id, e.name, f.cause, f.error, f.attempts, f.failed_at
    FROM pgrecall.embedding_failures f
    JOIN pgrecall.memories m ON m.id = f.memory_id
    JOIN pgrecall.namespaces n ON n.id = m.namespace_id
    JOIN pgrecall.generations g ON g.id = f.generation_id
    LEFT JOIN pgrecall.embedding_models e ON e.id = g.model_id
    WHERE failures.cause IS NULL OR f.cause = failures.cause
    ORDER BY f.failed_at DESC, f.memory_id DESC
    LIMIT _pgrecall.parse_row_limit(failures.k);
END;

ALTER FUNCTION pgrecall.failures OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.failures TO pgrecall_reader;
