-- Returns the query terms that occur in a namespace, each with its weight: idf = ln(1 + (N - df + 0.5) / (df + 0.5)).
--
-- The document frequency df and the number N of memories come from pgrecall.term_stats, corrected by the memories in
-- pgrecall.pending_postings. So a term has its weight as soon as it is stored.
--
-- terms      distinct lexemes
-- max_terms  maximum number of terms; the rarest are kept
CREATE OR REPLACE FUNCTION _pgrecall.query_term_weights(namespace_id integer, terms text[], max_terms integer)
RETURNS TABLE (term text, documents bigint, idf double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 8
BEGIN ATOMIC
    WITH changed AS MATERIALIZED (
        SELECT m.search_vector AS vector, 1 AS change
        FROM pgrecall.pending_postings u
        JOIN pgrecall.memories m ON m.id = u.memory_id
        WHERE u.namespace_id = query_term_weights.namespace_id AND m.namespace_id + 0 = query_term_weights.namespace_id
          AND m.deleted_at IS NULL AND m.search_vector <> ''
        UNION ALL
        SELECT u.indexed_vector, -1
        FROM pgrecall.pending_postings u
        WHERE u.namespace_id = query_term_weights.namespace_id AND u.indexed_vector <> ''
    ), total AS (
        SELECT COALESCE((SELECT l.documents FROM pgrecall.term_stats l
                         WHERE l.namespace_id = query_term_weights.namespace_id AND l.term = ''), 0)
               + COALESCE((SELECT sum(c.change) FROM changed c), 0) AS documents
    ), word AS MATERIALIZED (
        SELECT w.term, COALESCE(l.documents, 0) AS posted, _pgrecall.term_query(w.term) AS query
        FROM unnest(terms) w (term)
        LEFT JOIN pgrecall.term_stats l ON l.namespace_id = query_term_weights.namespace_id AND l.term = w.term
    )
    SELECT k.term, k.documents, ln(1 + (t.documents - k.documents + 0.5) / (k.documents + 0.5))
    FROM total t
    CROSS JOIN LATERAL (
        SELECT w.term,
               w.posted + COALESCE((SELECT sum(c.change) FROM changed c WHERE c.vector @@ w.query), 0) AS documents
        FROM word w
    ) k
    WHERE k.documents > 0
    ORDER BY k.documents, k.term
    LIMIT max_terms;
END;

COMMENT ON FUNCTION _pgrecall.query_term_weights IS
    'Returns the query terms that occur in a namespace, with document frequency and idf, the rarest first.';
