-- The lexical leg alone, as recall calls it, with the reading of the query.
SELECT l.id, l.rank, l.score
FROM _pgrecall.parse_query(
    %(namespace_id)s, %(languages)s::regconfig[], %(text)s,
    %(leg_depth)s, %(settings)s::pgrecall.recall_settings
) q
CROSS JOIN LATERAL _pgrecall.lexical_leg(%(namespace_id)s, q, NULL::pgrecall.recall_filter, %(leg_depth)s) l
