-- Returns the best memories for the query's terms by BM25, from the postings.
--
-- For each term it reads the best blocks, about `budget` memories, so a common term costs no more than any other.
-- Recently changed memories are scored from their search_vector instead of their postings. If a memory among the best
-- may hold common terms whose postings were not read, it is scored again, exactly.
--
-- words, idfs  from query_term_weights()
-- any_word     the tsquery that matches any of the terms
-- common       one tsquery for each term with more memories than the budget; those terms come last. NULL: none, and the
--              result is exact BM25
-- required     an additional tsquery that a memory must match; NULL: none
-- tried        how many of the best by their read postings the filter is applied to, if some terms are common; NULL: all
CREATE OR REPLACE FUNCTION _pgrecall.bm25_postings(
    namespace_id integer, words text[], idfs double precision[], any_word tsquery, common tsquery[], required tsquery,
    filter pgrecall.recall_filter, depth integer, tried integer, budget integer, settings pgrecall.bm25_parameters
)
RETURNS TABLE (id bigint, score double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 50
BEGIN ATOMIC
    WITH changed AS MATERIALIZED (
        SELECT u.memory_id FROM pgrecall.pending_postings u WHERE u.namespace_id = bm25_postings.namespace_id
    ), word AS (
        SELECT w.term, w.idf, w.place > cardinality(words) - COALESCE(cardinality(common), 0) AS is_common
        FROM unnest(words, idfs) WITH ORDINALITY w (term, idf, place)
    ), block AS (
        SELECT w.idf, w.is_common, l.memory_ids, l.impacts
        FROM word w
        CROSS JOIN LATERAL (
            SELECT b.memory_ids, b.impacts,
                   sum(cardinality(b.memory_ids)) OVER (ORDER BY b.top_impact DESC, b.block) - cardinality(b.memory_ids) AS before
            FROM (
                SELECT p.memory_ids, p.impacts, p.top_impact, p.block
                FROM pgrecall.postings p
                WHERE p.namespace_id = bm25_postings.namespace_id AND p.term = w.term
                ORDER BY p.top_impact DESC, p.block
                LIMIT _pgrecall.posting_blocks_needed(budget)
            ) b
        ) l
        WHERE l.before < budget
    ), posting AS (
        SELECT unnest(b.memory_ids) AS memory_id, unnest(b.impacts) AS impact, b.idf, b.is_common FROM block b
    ), part AS (
        SELECT p.memory_id, p.idf * p.impact AS score, p.is_common
        FROM posting p
        WHERE NOT EXISTS (SELECT FROM changed c WHERE c.memory_id = p.memory_id)
        UNION ALL
        SELECT m.id, w.idf * i.impact, w.is_common
        FROM changed c
        JOIN pgrecall.memories m ON m.id = c.memory_id
        CROSS JOIN LATERAL _pgrecall.term_impacts(m.search_vector, settings, words) i
        JOIN word w ON w.term = i.term
        WHERE m.search_vector @@ any_word
    ), candidate AS (
        -- Sorted, so that the filter runs only until the limit is reached. If it passes few of the best, bm25_scan runs.
        SELECT p.memory_id, sum(p.score) AS score, count(*) FILTER (WHERE p.is_common) AS common_words
        FROM part p
        GROUP BY p.memory_id
        ORDER BY score DESC, p.memory_id
        LIMIT CASE WHEN common IS NOT NULL THEN tried END
    ), best AS (
        SELECT m.id, c.score, c.common_words, m.search_vector, m.word_count
        FROM candidate c
        JOIN pgrecall.memories m ON m.id = c.memory_id
        -- No namespace condition: a cached plan expects few memories in one and would read all of a large one. IS TRUE:
        -- the planner tries no index for the filter's conditions, which would take it longer than the search.
        WHERE m.namespace_id + 0 = bm25_postings.namespace_id
          AND (required IS NULL OR m.search_vector @@ required) AND _pgrecall.matches_filter(m, filter) IS TRUE
        ORDER BY c.score DESC, c.memory_id
        LIMIT CASE WHEN common IS NULL THEN depth ELSE greatest(100, depth) END
    ), scored AS (
        -- Rounded, so that the same terms tie regardless of the order of summation.
        SELECT b.id,
               round((CASE
                   WHEN (SELECT count(*) FROM unnest(common) q (word) WHERE b.search_vector @@ q.word) > b.common_words
                       THEN (SELECT sum(p.part) FROM _pgrecall.bm25_parts(b.search_vector, b.word_count, words, idfs, settings) p)
                   ELSE b.score
               END)::numeric, 9)::double precision AS score
        FROM best b
    )
    SELECT s.id, s.score FROM scored s ORDER BY s.score DESC, s.id LIMIT depth;
END;

COMMENT ON FUNCTION _pgrecall.bm25_postings IS
    'Returns the best memories for the query''s terms by BM25, from the postings.';
