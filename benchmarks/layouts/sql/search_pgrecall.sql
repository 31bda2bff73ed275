-- The lexical leg of pgrecall as it is installed.
SELECT l.id, l.score
FROM pgrecall.bm25_leg(
    %(namespace_id)s, pgrecall.query_terms(%(languages)s::regconfig[], %(text)s), NULL,
    NULL::pgrecall.recall_filter, %(depth)s, %(budget)s, 32
) l
ORDER BY l.rank
