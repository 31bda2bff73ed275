-- Returns memories with the exact score that each leg gives them, whether or not it found them. Join it with few ids.
--
-- It calls <leg>_score() of the legs that score a memory by its row; the graph leg scores links, in graph_leg().
--
-- It also returns the share of expansion terms in the lexical score, the score of the sparse terms, and the columns that the
-- priors need. The caller
-- passes ids of one namespace only. A namespace condition here would make the planner underestimate the rows and avoid
-- hash joins.
--
-- mean, centred_query, scale, penalty  from dense_background()
CREATE OR REPLACE FUNCTION _pgrecall.scored_memories(
    parsed pgrecall.parsed_query, query_vec pgvector.halfvec, generation integer,
    mean pgvector.halfvec, centred_query pgvector.halfvec, scale double precision, penalty double precision,
    has_passages boolean
)
RETURNS TABLE (
    id bigint, lexical_score double precision, similarity double precision, dense_score double precision, passage int4range,
    holds_phrase boolean, importance real, category text, happened_at timestamptz, speaker text,
    expansion_score double precision, sparse_score double precision, neighbour_weight double precision,
    origin pgrecall.memory_origin
)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT m.id, l.score, d.similarity, d.score, d.passage, COALESCE(m.search_vector @@ (parsed).phrase, false),
           m.importance, m.category, COALESCE(m.occurred_at, m.created_at), m.speaker, l.expansion_score,
           s.score, _pgrecall.neighbour_weight(m.word_count, octet_length(m.content)), m.origin
    FROM pgrecall.memories m
    CROSS JOIN LATERAL _pgrecall.lexical_score(m.search_vector, m.word_count, m.importance, parsed) l
    CROSS JOIN LATERAL _pgrecall.dense_score(
        m.id, _pgrecall.embedding_of(m, generation), query_vec, generation, mean, centred_query, scale, penalty, has_passages
    ) d
    CROSS JOIN LATERAL _pgrecall.sparse_score(m.id, (parsed).sparse) s;
END;
