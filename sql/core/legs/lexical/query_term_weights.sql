-- Returns the query terms that occur in a namespace, the rarest first, each with its document frequency and weight: idf =
-- ln(1 + (N - df + 0.5) / (df + 0.5)).
--
-- The document frequency df and the number N of memories come from pgrecall.term_stats, corrected by the memories in
-- pgrecall.pending_postings and by those that have ended since. So a term has its weight as soon as it is stored. Both count
-- only memories that are not over: a namespace weighs its terms alike whatever was in it before.
--
-- terms       distinct lexemes
-- max_terms   maximum number of terms; the rarest are kept
-- reads_past  also return terms that only memories hold that are over; longest then counts the postings of the past, too
--
-- longest     the number of postings in the longer of the lists that are read
CREATE OR REPLACE FUNCTION _pgrecall.query_term_weights(
    namespace_id integer, terms text[], max_terms integer, reads_past boolean DEFAULT false
)
RETURNS TABLE (term text, documents bigint, idf double precision, longest bigint)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 8
BEGIN ATOMIC
    WITH state AS MATERIALIZED (
        SELECT s.moment, CASE WHEN s.moment IS NOT NULL THEN greatest(s.moment, now()) END AS today
        FROM (
            -- As separated_at(), which the planner would not inline; -infinity without a row.
            SELECT CASE WHEN count(*) = 0 THEN '-infinity'::timestamptz ELSE max(s.separated_at) END AS moment
            FROM pgrecall.posting_states s
            WHERE s.namespace_id = query_term_weights.namespace_id
        ) s
    ), changed AS MATERIALIZED (
        SELECT m.search_vector AS vector, 1 AS change, _pgrecall.is_past(m, s.today) AS is_past
        FROM pgrecall.pending_postings u
        JOIN pgrecall.memories m ON m.id = u.memory_id
        CROSS JOIN state s
        WHERE u.namespace_id = query_term_weights.namespace_id AND m.namespace_id + 0 = query_term_weights.namespace_id
          AND m.deleted_at IS NULL AND m.search_vector <> ''
        UNION ALL
        SELECT u.indexed_vector, -1, u.indexed_past
        FROM pgrecall.pending_postings u
        WHERE u.namespace_id = query_term_weights.namespace_id AND u.indexed_vector <> ''
        UNION ALL
        SELECT o.vector, c.change, c.is_past
        FROM state s
        CROSS JOIN LATERAL _pgrecall.newly_past(query_term_weights.namespace_id, s.moment) o
        CROSS JOIN (VALUES (1, true), (-1, false)) c (change, is_past)
        WHERE o.vector <> ''
    ), total AS (
        SELECT COALESCE((SELECT l.documents FROM pgrecall.term_stats l
                         WHERE l.namespace_id = query_term_weights.namespace_id AND l.term = '' AND NOT l.is_past), 0)
               + COALESCE((SELECT sum(c.change) FROM changed c WHERE NOT c.is_past), 0) AS documents
    ), word AS MATERIALIZED (
        SELECT w.term, COALESCE(l.documents, 0) AS posted, COALESCE(p.documents, 0) AS past, _pgrecall.term_query(w.term) AS query
        FROM unnest(terms) w (term)
        LEFT JOIN pgrecall.term_stats l
               ON l.namespace_id = query_term_weights.namespace_id AND l.term = w.term AND NOT l.is_past
        LEFT JOIN pgrecall.term_stats p
               ON reads_past AND p.namespace_id = query_term_weights.namespace_id AND p.term = w.term AND p.is_past
    )
    SELECT k.term, k.documents, ln(1 + (t.documents - k.documents + 0.5) / (k.documents + 0.5)),
           CASE WHEN reads_past THEN greatest(k.documents, k.past) ELSE k.documents END
    FROM total t
    CROSS JOIN LATERAL (
        SELECT w.term, w.posted + COALESCE(c.change, 0) AS documents, w.past + COALESCE(c.past_change, 0) AS past
        FROM word w
        CROSS JOIN LATERAL (
            SELECT sum(c.change) FILTER (WHERE NOT c.is_past) AS change, sum(c.change) FILTER (WHERE c.is_past) AS past_change
            FROM changed c WHERE c.vector @@ w.query
        ) c
    ) k
    WHERE k.documents > 0 OR (reads_past AND k.past > 0)
    ORDER BY k.documents, k.term
    LIMIT max_terms;
END;
