-- Lists concepts with at least two mentions whose names have no embedding.
--
-- Checks at most 20,000 concepts, from a different offset each time. No flag marks a second mention, because writers
-- that mention the same concept would wait for each other to set it.
--
-- EXECUTE plans with a constant generation, so that name_embedding_of() folds to its column and the index is used.
--
-- batch  maximum number of rows
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
    'Lists concepts with at least two mentions whose names have no embedding.';

ALTER FUNCTION pgrecall.unembedded_concepts OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.unembedded_concepts TO pgrecall_embedder;
