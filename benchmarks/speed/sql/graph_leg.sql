-- The graph leg alone, as recall calls it, from the seeds that the other legs gave.
SELECT g.id, g.rank, g.score
FROM pgrecall.graph_leg(
    %(namespace_id)s, %(text)s, %(seed_ids)s, %(seed_weights)s,
    ROW (NULL, NULL, NULL, NULL, NULL, NULL, false)::pgrecall.recall_filter,
    %(leg_depth)s, %(graph_seeds)s, %(graph_neighbours)s, %(graph_hops)s, %(graph_decay)s,
    %(graph_df_min)s, %(df_max)s
) g
