-- Returns the dense score of a memory, 0 to 1: how far its cosine stands out from those between unrelated memories.
--
-- Encoders differ: unrelated texts have cosines near 0.1 with one and near 0.9 with another. Subtracting the namespace's
-- mean embedding centres them at 0 (Mu, Viswanath: All-but-the-Top, 2018); dividing by their deviation makes one scale
-- of them. Without a background (mean is NULL), the cosine itself counts, from 0.
--
-- mean           the namespace's mean embedding;  centred_query  the query's embedding, the mean subtracted
-- scale          the centred cosine that counts in full: dense_deviations times the deviation
CREATE OR REPLACE FUNCTION _pgrecall.similarity_score(
    embedding pgvector.halfvec, query_vec pgvector.halfvec, mean pgvector.halfvec, centred_query pgvector.halfvec,
    scale double precision
)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN embedding IS NULL OR query_vec IS NULL THEN NULL
    WHEN mean IS NULL THEN greatest(1 - (embedding OPERATOR(pgvector.<=>) query_vec), 0)
    -- A vector equal to the mean has no direction left: its distance is NaN.
    ELSE least(greatest(
        (1 - NULLIF((pgvector.l2_normalize(embedding) OPERATOR(pgvector.-) mean) OPERATOR(pgvector.<=>) centred_query, 'NaN'))
        / scale, 0), 1)
END;
