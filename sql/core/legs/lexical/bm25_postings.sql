-- Returns the best memories for the query's terms by BM25, from the postings.
--
-- For each term it takes the best `budget` postings, rounded up to 128, so a common term costs no more than any other. Which those are does
-- not depend on how they came to be in blocks: it reads every block that may hold one of them, up to a number
-- (posting_blocks_needed), and keeps the best, ties by id. A first look at the better half of these blocks tells which impact suffices, so
-- that few other postings are unnested and sorted. A term with fewer postings is read to its end.
--
-- Recently changed memories are scored from their search_vector instead of their postings. If a memory among the best
-- may hold common terms whose postings were not taken, it is scored again, exactly.
--
-- The postings of the past are lists of their own, read only if the filter may pass memories that are over (reads_past).
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
    WITH state AS MATERIALIZED (
        -- As separated_at(), which the planner would not inline; -infinity without a row.
        SELECT s.moment, CASE WHEN s.moment IS NOT NULL THEN greatest(s.moment, now()) END AS today
        FROM (
            SELECT CASE WHEN count(*) = 0 THEN '-infinity'::timestamptz ELSE max(s.separated_at) END AS moment
            FROM pgrecall.posting_states s
            WHERE s.namespace_id = bm25_postings.namespace_id
        ) s
    ), changed AS MATERIALIZED (
        SELECT u.memory_id FROM pgrecall.pending_postings u WHERE u.namespace_id = bm25_postings.namespace_id
        UNION ALL
        SELECT o.memory_id FROM state s CROSS JOIN LATERAL _pgrecall.newly_past(bm25_postings.namespace_id, s.moment) o
    ), enough AS MATERIALIZED (
        -- As many as full blocks hold; those of changed memories are read in vain.
        SELECT n.best, n.best + (SELECT count(*) FROM changed) AS postings FROM (SELECT (budget + 127) / 128 * 128 AS best) n
    ), word AS (
        SELECT w.term, w.idf, w.place, w.place > cardinality(words) - COALESCE(cardinality(common), 0) AS is_common
        FROM unnest(words, idfs) WITH ORDINALITY w (term, idf, place)
    ), list AS (
        SELECT v.is_past FROM (VALUES (false), (true)) v (is_past) WHERE NOT v.is_past OR _pgrecall.reads_past(filter)
    ), recent AS MATERIALIZED (
        SELECT w.place, m.is_past, m.id AS memory_id, i.impact
        FROM (
            SELECT o.id, o.search_vector, o.word_count, o.is_past
            FROM changed c
            CROSS JOIN state s
            CROSS JOIN LATERAL (
                SELECT m.id, m.search_vector, m.word_count, _pgrecall.is_past(m, s.today) AS is_past
                FROM pgrecall.memories m
                WHERE m.id = c.memory_id AND m.namespace_id + 0 = bm25_postings.namespace_id AND m.deleted_at IS NULL
                OFFSET 0
            ) o
            WHERE o.search_vector @@ any_word AND (_pgrecall.reads_past(filter) OR NOT o.is_past)
            OFFSET 0
        ) m
        CROSS JOIN LATERAL _pgrecall.term_impacts(m.search_vector, settings, words, m.word_count) i
        JOIN word w ON w.term = i.term
    ), part AS (
        -- A list that is read to its end: in any order.
        SELECT p.memory_id, p.idf * p.impact AS score, false AS is_common
        FROM (
            SELECT w.idf, unnest(b.memory_ids) AS memory_id, unnest(b.impacts) AS impact
            FROM word w
            CROSS JOIN list r
            CROSS JOIN LATERAL (
                SELECT p.memory_ids, p.impacts
                FROM pgrecall.postings p
                WHERE p.namespace_id = bm25_postings.namespace_id AND p.term = w.term AND p.is_past = r.is_past
                OFFSET 0
            ) b
            WHERE NOT w.is_common
        ) p
        WHERE p.memory_id NOT IN (SELECT c.memory_id FROM changed c)
        UNION ALL
        SELECT n.memory_id, w.idf * n.impact, false FROM recent n JOIN word w ON w.place = n.place WHERE NOT w.is_common
        UNION ALL
        SELECT k.memory_id, w.idf * k.impact, true
        FROM word w
        CROSS JOIN list r
        LEFT JOIN LATERAL (
            -- Postings are ordered by impact and id. Taking quarters of the best blocks by their last: the last of the quarter that
            -- makes enough. NULL: those blocks do not hold enough.
            SELECT q.impact, q.id
            FROM (
                SELECT q.impact, q.id, sum(q.size) OVER (ORDER BY q.impact DESC, q.id ROWS UNBOUNDED PRECEDING) AS held
                FROM (
                    SELECT unnest(ARRAY[p.impacts[p.n / 4], p.impacts[p.n / 2], p.impacts[p.n * 3 / 4], p.impacts[p.n]]) AS impact,
                           unnest(ARRAY[p.ids[p.n / 4], p.ids[p.n / 2], p.ids[p.n * 3 / 4], p.ids[p.n]]) AS id,
                           unnest(ARRAY[p.n / 4, p.n / 2 - p.n / 4, p.n * 3 / 4 - p.n / 2, p.n - p.n * 3 / 4]) AS size
                    FROM (
                        SELECT b.impacts, b.memory_ids AS ids, cardinality(b.memory_ids) AS n
                        FROM pgrecall.postings b
                        WHERE b.namespace_id = bm25_postings.namespace_id AND b.term = w.term AND b.is_past = r.is_past
                        ORDER BY b.top_impact DESC, b.block
                        LIMIT (SELECT _pgrecall.posting_blocks_needed(e.postings::integer) / 2 FROM enough e)
                    ) p
                ) q
            ) q
            WHERE q.held >= (SELECT e.postings FROM enough e)
            ORDER BY q.held
            LIMIT 1
        ) cut ON true
        CROSS JOIN LATERAL (
            SELECT p.memory_id, p.impact
            FROM (
                SELECT unnest(b.memory_ids) AS memory_id, unnest(b.impacts) AS impact
                FROM (
                    SELECT p.memory_ids, p.impacts
                    FROM pgrecall.postings p
                    WHERE p.namespace_id = bm25_postings.namespace_id AND p.term = w.term AND p.is_past = r.is_past
                      AND p.top_impact >= COALESCE(cut.impact, 0)
                    ORDER BY p.top_impact DESC, p.block
                    LIMIT (SELECT _pgrecall.posting_blocks_needed(e.postings::integer) FROM enough e)
                ) b
            ) p
            WHERE (cut.impact IS NULL OR p.impact > cut.impact OR (p.impact = cut.impact AND p.memory_id <= cut.id))
              AND p.memory_id NOT IN (SELECT c.memory_id FROM changed c)
            UNION ALL
            SELECT n.memory_id, n.impact FROM recent n WHERE n.place = w.place AND n.is_past = r.is_past
            ORDER BY impact DESC, memory_id
            LIMIT (SELECT e.best FROM enough e)
        ) k
        WHERE w.is_common
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
        SELECT b.id,
               _pgrecall.round_score(CASE
                   WHEN b.common_words < cardinality(common)
                       AND (SELECT count(*) FROM unnest(common) q (word) WHERE b.search_vector @@ q.word) > b.common_words
                       THEN (SELECT sum(p.part) FROM _pgrecall.bm25_parts(b.search_vector, b.word_count, words, idfs, settings) p)
                   ELSE b.score
               END) AS score
        FROM best b
    )
    SELECT s.id, s.score FROM scored s ORDER BY s.score DESC, s.id LIMIT depth;
END;
