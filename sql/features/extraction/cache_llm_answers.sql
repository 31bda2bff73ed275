-- Caches answers of a language model about claimed memories. Returns how many it cached.
--
-- A ticket becomes invalid when the text changes or the memory becomes sensitive or is forgotten; answers about the old text
-- are then dropped. Locks the rows of the queue: a concurrent change of a memory waits, and its trigger then deletes the
-- answer.
--
-- answers  [{"key", "memory_id", "ticket", "answer"}]; key is a SHA-256 in hex
--
-- Errors  22023 not an array
CREATE OR REPLACE FUNCTION pgrecall.cache_llm_answers(answers jsonb)
RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    kept integer;
BEGIN
    IF jsonb_typeof(answers) IS DISTINCT FROM 'array' THEN
        RAISE EXCEPTION 'answers are a JSON array, not %', COALESCE(jsonb_typeof(answers), 'NULL')
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Pass [{"key": "00", "memory_id": 1, "ticket": 2, "answer": {}}].';
    END IF;
    PERFORM _pgrecall.check_typed(a.answer, 'answer ' || a.place, ids => '{memory_id,ticket}', hashes => '{key}')
    FROM jsonb_array_elements(answers) WITH ORDINALITY a (answer, place);
    WITH claimed AS MATERIALIZED (
        SELECT g.key, g.memory_id, g.answer
        FROM jsonb_to_recordset(answers) g (key text, memory_id bigint, ticket bigint, answer jsonb)
        JOIN pgrecall.jobs x ON x.memory_id = g.memory_id AND x.kind = 'llm' AND x.ticket = g.ticket
        JOIN pgrecall.memories m ON m.id = g.memory_id
        WHERE g.answer IS NOT NULL AND NOT m.is_sensitive AND m.deleted_at IS NULL
        ORDER BY g.memory_id
        FOR UPDATE OF x
    )
    INSERT INTO pgrecall.llm_answers AS a (key, memory_id, answer)
    SELECT DISTINCT ON (c.key, c.memory_id) decode(c.key, 'hex'), c.memory_id, c.answer
    FROM claimed c
    ORDER BY c.key, c.memory_id
    ON CONFLICT ON CONSTRAINT llm_answers_pkey DO UPDATE SET answer = excluded.answer, created_at = now();
    GET DIAGNOSTICS kept = ROW_COUNT;
    RETURN kept;
END
$function$;

ALTER FUNCTION pgrecall.cache_llm_answers OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.cache_llm_answers TO pgrecall_embedder;
