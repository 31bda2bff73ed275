-- Concepts whose names have no embedding and that at least two memories mention.
--
-- Looks at 20,000 of them at the most, from a different place each time: which of them a second memory has mentioned is
-- written nowhere, since those who mention a concept would wait for each other to write it.
--
-- batch  how many at the most
CREATE OR REPLACE FUNCTION pgrecall.unembedded_concepts(batch integer DEFAULT 100)
RETURNS TABLE (id bigint, name text)
LANGUAGE plpgsql VOLATILE ROWS 100
SET search_path FROM CURRENT
AS $function$
DECLARE
    first bigint;
    last bigint;
    start bigint;
BEGIN
    SELECT c.id INTO first FROM pgrecall.concepts c WHERE c.embedding IS NULL ORDER BY c.id LIMIT 1;
    SELECT c.id INTO last FROM pgrecall.concepts c WHERE c.embedding IS NULL ORDER BY c.id DESC LIMIT 1;
    start := first + floor(random() * (last - first + 1))::bigint;
    RETURN QUERY
    SELECT looked.id, looked.name
    FROM (
        (SELECT c.id, c.name FROM pgrecall.concepts c
         WHERE c.embedding IS NULL AND c.id >= start ORDER BY c.id LIMIT 20000)
        UNION ALL
        (SELECT c.id, c.name FROM pgrecall.concepts c
         WHERE c.embedding IS NULL AND c.id < start ORDER BY c.id LIMIT 20000)
        LIMIT 20000
    ) looked
    CROSS JOIN LATERAL (
        SELECT FROM pgrecall.mentions one
        JOIN pgrecall.mentions two ON two.concept_id = one.concept_id AND two.memory_id <> one.memory_id
        WHERE one.concept_id = looked.id
        LIMIT 1
    ) mentioned
    LIMIT batch;
END
$function$;

COMMENT ON FUNCTION pgrecall.unembedded_concepts IS
    'Concepts whose names have no embedding and that at least two memories mention.';
