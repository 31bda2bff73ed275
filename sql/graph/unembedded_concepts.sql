-- Concepts whose names have no embedding and that at least two memories mention.
--
-- Looks at 20,000 of them at the most, from a different place each time: which of them a second memory has mentioned is
-- written nowhere, since those who mention a concept would wait for each other to write it.
--
-- EXECUTE plans with the generation: name_embedding_of() is its column then, and the index serves.
--
-- batch  how many at the most
CREATE OR REPLACE FUNCTION pgrecall.unembedded_concepts(batch integer DEFAULT 100)
RETURNS TABLE (id bigint, name text)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 100
SET search_path FROM CURRENT
AS $function$
DECLARE
    generation integer := pgrecall.active_generation();
    first bigint;
    last bigint;
    start bigint;
BEGIN
    EXECUTE 'SELECT c.id FROM pgrecall.concepts c WHERE _pgrecall.name_embedding_of(c, $1) IS NULL ORDER BY c.id LIMIT 1'
        INTO first USING generation;
    EXECUTE 'SELECT c.id FROM pgrecall.concepts c WHERE _pgrecall.name_embedding_of(c, $1) IS NULL ORDER BY c.id DESC LIMIT 1'
        INTO last USING generation;
    start := first + floor(random() * (last - first + 1))::bigint;
    RETURN QUERY EXECUTE $statement$
        SELECT looked.id, looked.name
        FROM (
            (SELECT c.id, c.name FROM pgrecall.concepts c
             WHERE _pgrecall.name_embedding_of(c, $1) IS NULL AND c.id >= $2 ORDER BY c.id LIMIT 20000)
            UNION ALL
            (SELECT c.id, c.name FROM pgrecall.concepts c
             WHERE _pgrecall.name_embedding_of(c, $1) IS NULL AND c.id < $2 ORDER BY c.id LIMIT 20000)
            LIMIT 20000
        ) looked
        CROSS JOIN LATERAL (
            SELECT FROM pgrecall.mentions one
            JOIN pgrecall.mentions two ON two.concept_id = one.concept_id AND two.memory_id <> one.memory_id
            WHERE one.concept_id = looked.id
            LIMIT 1
        ) mentioned
        LIMIT $3
    $statement$
    USING generation, start, batch;
END
$function$;

COMMENT ON FUNCTION pgrecall.unembedded_concepts IS
    'Concepts whose names have no embedding and that at least two memories mention.';

ALTER FUNCTION pgrecall.unembedded_concepts OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.unembedded_concepts TO pgrecall_embedder;
