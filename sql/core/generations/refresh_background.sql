-- Measures the background of a namespace's embeddings: their mean, and the deviation of centred cosines.
--
-- It takes up to 400 texts in the order of their hashes, and compares each with the next three. The texts alone decide which
-- are taken, so the same memories have the same background, in whatever order and number they were embedded. A text that
-- is stored several times counts once. At most 1,000 memories are looked at, so the cost is bounded while few of many are
-- embedded. Below 20 embeddings there is no background, and recall takes the model's (state_background).
CREATE OR REPLACE FUNCTION _pgrecall.refresh_background(namespace_id integer, generation integer)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    min_sample CONSTANT integer := 20;
    max_sample CONSTANT integer := 400;
    max_looked_at CONSTANT integer := 1000;
    found record;
BEGIN
    WITH looked_at AS MATERIALIZED (
        SELECT m.content_hash, substring(m.content_hash FROM 1 FOR 4) AS key, m.id,
               _pgrecall.embedding_of(m, generation) AS embedding
        FROM pgrecall.memories m
        WHERE m.namespace_id = refresh_background.namespace_id
          AND m.deleted_at IS NULL AND m.superseded_by IS NULL AND NOT m.is_sensitive
        ORDER BY substring(m.content_hash FROM 1 FOR 4), m.id
        LIMIT max_looked_at
    ), text AS (
        SELECT DISTINCT ON (l.content_hash) l.content_hash, l.key, l.embedding
        FROM looked_at l
        WHERE l.embedding IS NOT NULL
        ORDER BY l.content_hash, l.id
    ), sample AS MATERIALIZED (
        SELECT t.embedding, t.key, t.content_hash
        FROM text t
        ORDER BY t.content_hash
        LIMIT max_sample
    ), taken AS MATERIALIZED (
        SELECT array_agg(s.embedding ORDER BY s.content_hash) AS embeddings, count(*)::integer AS size,
               -- Before PostgreSQL 18 there is no max(bytea).
               CASE WHEN count(*) = max_sample THEN (SELECT k.key FROM sample k ORDER BY k.key DESC LIMIT 1)
                    WHEN (SELECT count(*) FROM looked_at) = max_looked_at
                    THEN (SELECT l.key FROM looked_at l ORDER BY l.key DESC LIMIT 1) END AS last_key
        FROM sample s
    )
    SELECT b.mean, b.deviation, t.size, t.last_key INTO found
    FROM taken t
    CROSS JOIN LATERAL _pgrecall.measure_background(t.embeddings) b;
    IF found.size >= min_sample AND found.deviation > 0 THEN
        INSERT INTO pgrecall.embedding_backgrounds AS b (namespace_id, generation_id, mean, deviation, sample_size, last_key)
        VALUES (refresh_background.namespace_id, generation, found.mean, found.deviation, found.size, found.last_key)
        ON CONFLICT ON CONSTRAINT embedding_backgrounds_pkey
        DO UPDATE SET mean = EXCLUDED.mean, deviation = EXCLUDED.deviation, sample_size = EXCLUDED.sample_size,
                      last_key = EXCLUDED.last_key;
    ELSE
        DELETE FROM pgrecall.embedding_backgrounds b
        WHERE b.namespace_id = refresh_background.namespace_id AND b.generation_id = refresh_background.generation;
    END IF;
END
$function$;
