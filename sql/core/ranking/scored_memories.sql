-- Returns memories with their exact lexical and dense scores, whether or not a leg found them. Join it with few ids.
--
-- The dense score of a long memory is that of its best passage, or of the whole. Of many passages one is near any query
-- by chance, so the expected maximum of as many draws counts against it: passage_penalty * sqrt(2 ln number).
--
-- It also returns the share of expansion terms in the lexical score, and the columns that the priors need. The caller
-- passes ids of one namespace only. A namespace condition here would make the planner underestimate the rows and avoid
-- hash joins.
CREATE OR REPLACE FUNCTION _pgrecall.scored_memories(
    parsed pgrecall.parsed_query, query_vec pgvector.halfvec, generation integer,
    mean pgvector.halfvec, centred_query pgvector.halfvec, scale double precision,
    has_passages boolean, passage_penalty double precision
)
RETURNS TABLE (
    id bigint, lexical_score double precision, similarity double precision, dense_score double precision, passage int4range,
    holds_phrase boolean, importance real, category text, happened_at timestamptz, speaker text,
    expansion_score double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT m.id,
           CASE
               -- Most candidates of the other legs hold none of the words; this test is cheap.
               WHEN m.search_vector @@ (parsed).any_word
                    AND ((parsed).required IS NULL OR m.search_vector @@ (parsed).required)
                   THEN COALESCE(round((
                       SELECT sum(p.part)
                       FROM _pgrecall.bm25_parts(
                           m.search_vector, m.word_count, (parsed).words, (parsed).idfs, (parsed).impacts
                       ) p
                   )::numeric, 9)::double precision, 0)
               WHEN m.search_vector @@ (parsed).narrow
                   THEN _pgrecall.ts_rank_score(m.search_vector, m.importance, (parsed).narrow, (parsed).importance_share)
               WHEN m.search_vector @@ (parsed).broad AND ts_rank(m.search_vector, (parsed).broad) >= (parsed).min_rank
                   THEN _pgrecall.ts_rank_score(m.search_vector, m.importance, (parsed).broad, (parsed).importance_share)
               ELSE 0
           END,
           greatest(
               1 - (_pgrecall.embedding_of(m, generation) OPERATOR(pgvector.<=>) query_vec),
               1 - (p.embedding OPERATOR(pgvector.<=>) query_vec)
           ),
           CASE WHEN p.embedding IS NULL
               THEN _pgrecall.similarity_score(_pgrecall.embedding_of(m, generation), query_vec, mean, centred_query, scale)
               ELSE greatest(greatest(
                   _pgrecall.similarity_score(_pgrecall.embedding_of(m, generation), query_vec, mean, centred_query, scale),
                   _pgrecall.similarity_score(p.embedding, query_vec, mean, centred_query, scale)
               ) - passage_penalty * sqrt(2 * ln(p.total + 1)), 0)
           END,
           CASE WHEN p.embedding IS NOT NULL THEN int4range(p.starts_at, p.ends_at) END,
           COALESCE(m.search_vector @@ (parsed).phrase, false),
           m.importance, m.category, COALESCE(m.occurred_at, m.created_at), m.speaker,
           -- The same as expansion_score().
           CASE WHEN (parsed).added IS NOT NULL THEN COALESCE(round((
               SELECT sum(p.part)
               FROM _pgrecall.bm25_parts(
                   m.search_vector, m.word_count, (parsed).added, (parsed).added_idfs, (parsed).impacts
               ) p
           )::numeric, 9)::double precision, 0) END
    FROM pgrecall.memories m
    LEFT JOIN LATERAL (
        SELECT s.embedding, s.starts_at, s.ends_at, count(*) OVER () AS total
        FROM pgrecall.passages s
        WHERE has_passages AND s.memory_id = m.id
          AND s.generation_id = COALESCE(scored_memories.generation, pgrecall.active_generation())
        ORDER BY s.embedding OPERATOR(pgvector.<=>) query_vec, s.number
        LIMIT 1
    ) p ON true;
END;
