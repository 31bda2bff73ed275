-- The dense leg alone, as recall calls it: with the look at the namespace's size, and its own sorting.
SELECT d.id, d.rank, d.score
FROM _pgrecall.dense_leg(
    %(namespace_id)s, %(vector)s,
    NULL::pgrecall.recall_filter,
    %(leg_depth)s, %(dense_exact_rows)s
) d
