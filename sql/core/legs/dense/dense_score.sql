-- Returns the dense leg's exact score of a memory, 0 to 1, whichever leg found it, with the cosine and the best passage.
--
-- NULL without embedding or query vector. similarity_score() makes a score of a cosine.
--
-- The score of a long memory is that of its best passage, or of the whole. Of many passages one is near any query
-- by chance, so the expected maximum of as many draws counts against it: penalty * sqrt(2 ln number).
--
-- memory_id, embedding        of the memory; no whole row, whose text would be read
-- generation                  of the embedding; NULL: the active one
-- mean, centred_query, scale, penalty  from dense_background()
-- has_passages                whether any memory of the namespace has some
--
-- similarity                  the cosine, of the memory or of its best passage
-- passage                     where the best passage stands in the text
CREATE OR REPLACE FUNCTION _pgrecall.dense_score(
    memory_id bigint, embedding pgvector.halfvec, query_vec pgvector.halfvec, generation integer,
    mean pgvector.halfvec, centred_query pgvector.halfvec, scale double precision, penalty double precision,
    has_passages boolean
)
RETURNS TABLE (similarity double precision, score double precision, passage int4range)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT greatest(
               1 - (dense_score.embedding OPERATOR(pgvector.<=>) query_vec),
               1 - (p.embedding OPERATOR(pgvector.<=>) query_vec)
           ),
           CASE WHEN p.embedding IS NULL
               THEN _pgrecall.similarity_score(dense_score.embedding, query_vec, mean, centred_query, scale)
               ELSE greatest(greatest(
                   _pgrecall.similarity_score(dense_score.embedding, query_vec, mean, centred_query, scale),
                   _pgrecall.similarity_score(p.embedding, query_vec, mean, centred_query, scale)
               ) - penalty * sqrt(2 * ln(p.total + 1)), 0)
           END,
           CASE WHEN p.embedding IS NOT NULL THEN int4range(p.starts_at, p.ends_at) END
    FROM (SELECT) one
    LEFT JOIN LATERAL (
        SELECT b.*
        FROM (
            SELECT s.embedding, s.starts_at, s.ends_at, count(*) OVER () AS total
            FROM pgrecall.passages s
            WHERE s.memory_id = dense_score.memory_id
              AND s.generation_id = COALESCE(dense_score.generation, pgrecall.active_generation())
            ORDER BY s.embedding OPERATOR(pgvector.<=>) query_vec, s.number
            LIMIT 1
        ) b
        WHERE has_passages OFFSET 0  -- OFFSET keeps the condition out here, where it skips the sort, too
    ) p ON true;
END;
