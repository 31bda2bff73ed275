-- The lexical leg alone, as recall calls it.
SELECT l.id, l.rank, l.score
FROM pgrecall.lexical_leg(
    %(namespace_id)s, %(text)s, %(languages)s::regconfig[],
    ROW (NULL, NULL, NULL, NULL, NULL, NULL, false)::pgrecall.recall_filter,
    %(leg_depth)s, %(settings)s::pgrecall.recall_settings
) l
