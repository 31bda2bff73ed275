-- Returns the Jaccard similarity of the trigrams of two texts, from 0 to 1; equal to pg_trgm's similarity().
CREATE OR REPLACE FUNCTION _pgrecall.trigram_similarity(one text, other text)
RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
BEGIN ATOMIC
    SELECT COALESCE(count(*) FILTER (WHERE t.holders = 2)::real / nullif(count(*), 0), 0)::real
    FROM (
        SELECT count(*) AS holders
        FROM (
            SELECT unnest(_pgrecall.trigrams(one)) AS trigram
            UNION ALL
            SELECT unnest(_pgrecall.trigrams(other))
        ) a
        GROUP BY a.trigram
    ) t;
END;
