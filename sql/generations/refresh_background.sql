-- Measures the background of a namespace's embeddings: their mean, and the deviation of centred cosines.
--
-- It takes 400 of at most 20,000 embeddings, by a hash of the id, and compares each with the next three. Below 20
-- embeddings there is no background, and recall counts cosines from 0.
CREATE OR REPLACE FUNCTION _pgrecall.refresh_background(namespace_id integer, generation integer)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    min_sample CONSTANT integer := 20;
    found record;
BEGIN
    WITH embedded AS MATERIALIZED (
        SELECT e.embedding, row_number() OVER (ORDER BY hashint8extended(e.id, 0)) AS place, count(*) OVER () AS total
        FROM (
            SELECT m.id, _pgrecall.embedding_of(m, generation) AS embedding
            FROM pgrecall.memories m
            WHERE m.namespace_id = refresh_background.namespace_id AND m.deleted_at IS NULL
              AND _pgrecall.embedding_of(m, generation) IS NOT NULL
            LIMIT 20000
        ) e
    ), sample AS MATERIALIZED (
        SELECT pgvector.l2_normalize(e.embedding) AS embedding, e.place, e.total FROM embedded e WHERE e.place <= 400
    ), center AS MATERIALIZED (
        SELECT pgvector.avg(s.embedding) AS mean, max(s.total) AS total FROM sample s
    )
    SELECT c.mean, c.total, sqrt(avg((1 - d.distance) ^ 2)) AS deviation INTO found
    FROM center c
    CROSS JOIN sample a
    JOIN sample b ON b.place BETWEEN a.place + 1 AND a.place + 3
    CROSS JOIN LATERAL (
        SELECT NULLIF((a.embedding OPERATOR(pgvector.-) c.mean) OPERATOR(pgvector.<=>) (b.embedding OPERATOR(pgvector.-) c.mean), 'NaN')
                   AS distance
    ) d
    GROUP BY c.mean, c.total;
    IF found.total >= min_sample AND found.deviation > 0 THEN
        INSERT INTO pgrecall.embedding_backgrounds AS b (namespace_id, generation_id, mean, deviation, sampled_from)
        VALUES (refresh_background.namespace_id, refresh_background.generation, found.mean, found.deviation, found.total)
        ON CONFLICT ON CONSTRAINT embedding_backgrounds_pkey
        DO UPDATE SET mean = EXCLUDED.mean, deviation = EXCLUDED.deviation, sampled_from = EXCLUDED.sampled_from, added = 0;
    ELSE
        DELETE FROM pgrecall.embedding_backgrounds b
        WHERE b.namespace_id = refresh_background.namespace_id AND b.generation_id = refresh_background.generation;
    END IF;
END
$function$;

COMMENT ON FUNCTION _pgrecall.refresh_background IS
    'Measures the background of a namespace''s embeddings: their mean, and the deviation of centred cosines.';
