-- The graph leg alone, as recall calls it: the memories that the query's concepts lead to, and those that the seeds do which
-- the other legs gave.
SELECT n.id, n.share, 1 AS level
FROM _pgrecall.concept_candidates(
    %(namespace_id)s, _pgrecall.named_concepts(%(namespace_id)s, %(text)s, %(hub_max_mentions)s), NULL::pgrecall.recall_filter,
    _pgrecall.leg_depth(%(graph_weight)s, %(graph_pool)s, %(leg_depth)s, %(k)s), %(graph_decay)s, %(hub_max_mentions)s,
    %(graph_weight)s, %(graph_mention)s
) n
UNION ALL
SELECT g.id, g.share, g.level
FROM _pgrecall.graph_leg(
    %(namespace_id)s, %(seed_ids)s, %(seed_levels)s, NULL::pgrecall.recall_filter, NULL,
    _pgrecall.leg_depth(%(graph_weight)s, %(graph_pool)s, %(leg_depth)s, %(k)s), %(settings)s::pgrecall.recall_settings
) g
