-- Returns what the dense leg measures a cosine against: the cosines between unrelated memories of the namespace.
--
-- Too few embeddings to measure: those of the model, whose mean is NULL if no embedder has measured it. No row if
-- dense_deviations is 0.
--
-- generation     of the embeddings;  query_vec  NULL: nothing is compared
--
-- mean           the mean embedding;  centred_query  the query's embedding, the mean subtracted
-- scale          the centred cosine that counts in full: dense_deviations times the deviation
-- penalty        what counts against the best of many passages (dense_score)
CREATE OR REPLACE FUNCTION _pgrecall.dense_background(
    namespace_id integer, generation integer, query_vec pgvector.halfvec, settings pgrecall.recall_settings
)
RETURNS TABLE (mean pgvector.halfvec, centred_query pgvector.halfvec, scale double precision, penalty double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT b.mean, pgvector.l2_normalize(query_vec) OPERATOR(pgvector.-) b.mean, (settings).dense_deviations * b.deviation,
           (settings).passage_penalty / (settings).dense_deviations
    FROM (
        SELECT o.mean, o.deviation, 1 AS choice
        FROM pgrecall.embedding_backgrounds o
        WHERE o.namespace_id = dense_background.namespace_id AND o.generation_id = generation
        UNION ALL
        SELECT m.background_mean, m.background_deviation, 2
        FROM pgrecall.generations g
        JOIN pgrecall.embedding_models m ON m.id = g.model_id
        WHERE g.id = generation AND query_vec IS NOT NULL
        ORDER BY choice
        LIMIT 1
    ) b
    WHERE (settings).dense_deviations > 0;
END;
