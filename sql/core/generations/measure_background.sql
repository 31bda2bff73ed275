-- Measures what cosines between unrelated texts look like: the mean of their embeddings, and the deviation of centred cosines.
--
-- mean        of their embeddings, of length 1 each; NULL without any
-- deviation   root mean square of the cosines of each with the next three, the mean subtracted; NULL without any
-- embeddings  of unrelated texts, of any length but 0
CREATE OR REPLACE FUNCTION _pgrecall.measure_background(
    embeddings pgvector.halfvec[], OUT mean pgvector.halfvec, OUT deviation double precision
)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    WITH sample AS MATERIALIZED (
        SELECT pgvector.l2_normalize(e.embedding) AS embedding, e.place
        FROM unnest(embeddings) WITH ORDINALITY e (embedding, place)
    ), center AS MATERIALIZED (
        SELECT pgvector.avg(s.embedding) AS mean FROM sample s
    )
    SELECT c.mean, (
        SELECT sqrt(avg((1 - d.distance) ^ 2))
        FROM sample a
        JOIN sample b ON b.place BETWEEN a.place + 1 AND a.place + 3
        CROSS JOIN LATERAL (
            SELECT NULLIF(
                (a.embedding OPERATOR(pgvector.-) c.mean) OPERATOR(pgvector.<=>) (b.embedding OPERATOR(pgvector.-) c.mean), 'NaN'
            ) AS distance
        ) d
    )
    FROM center c;
END;
