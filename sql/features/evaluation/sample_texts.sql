-- Returns titles or first sentences of memories from the whole table, to use in place of real queries.
--
-- Samples the whole table in steps of the id, so a second call returns the same texts. Only memories that both
-- generations have embedded, in namespaces with more than 20: in smaller ones any two rankings of 10 mostly agree.
-- Never a sensitive memory.
--
-- n           maximum number of texts
-- generation  the generation to compare with the active one
CREATE OR REPLACE FUNCTION pgrecall.sample_texts(n integer, generation integer)
RETURNS TABLE (memory_id bigint, text text)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 100
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
BEGIN
    RETURN QUERY EXECUTE $statement$
        SELECT DISTINCT ON (found.id) found.id,
               left(COALESCE(
                   NULLIF(btrim(found.title), ''),
                   substring(btrim(found.content, E' \t\r\n') FROM '^(.*?[.!?。！？])(?:\s|$)'),
                   found.content
               ), 300)
        FROM (SELECT min(m.id) AS first, max(m.id) AS last FROM pgrecall.memories m) ids
        CROSS JOIN generate_series(0, $1 - 1) step
        CROSS JOIN LATERAL (
            SELECT m.id, m.title, m.content
            FROM pgrecall.memories m
            WHERE m.id >= ids.first + (ids.last - ids.first) * step / greatest($1 - 1, 1)
              AND NOT m.is_sensitive AND _pgrecall.matches_filter(m, NULL)
              AND _pgrecall.embedding_of(m, $2) IS NOT NULL AND _pgrecall.embedding_of(m, $3) IS NOT NULL
              AND _pgrecall.namespace_size(m.namespace_id, 21) > 20
            ORDER BY m.id
            LIMIT 1
        ) found
        ORDER BY found.id
    $statement$
    USING n, pgrecall.active_generation(), generation;
END
$function$;
