-- The graph leg alone, as recall calls it, from the seeds that the other legs gave, with the concepts of the query.
SELECT g.id, g.rank, g.score
FROM pgrecall.graph_leg(
    %(namespace_id)s, pgrecall.named_concepts(%(namespace_id)s, %(text)s, %(df_max)s), %(seed_ids)s, %(seed_weights)s,
    NULL::pgrecall.recall_filter, NULL, %(leg_depth)s, %(df_max)s, %(settings)s::pgrecall.recall_settings
) g
