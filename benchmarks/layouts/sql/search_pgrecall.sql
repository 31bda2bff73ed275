-- The lexical leg of pgrecall as it is installed.
SELECT l.id, l.score
FROM pgrecall.lexical_query(
    %(namespace_id)s, %(languages)s::regconfig[], %(text)s, %(depth)s,
    pgrecall.effective_settings(jsonb_build_object('lexical_budget', %(budget)s, 'phrase_bonus', 0))
) q
CROSS JOIN LATERAL pgrecall.bm25_leg(%(namespace_id)s, q, NULL::pgrecall.recall_filter, %(depth)s) l
ORDER BY l.rank
