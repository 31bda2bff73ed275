-- One step of the graph leg: returns memories that share a concept with one memory, each with its link strength.
--
-- concepts  how many of the memory's concepts to follow: those it is about first, then the newest, often rarer
-- hub_max_mentions    a concept with more mentions is a hub and leads only to memories about it
-- weight, mention  see link_weight
CREATE OR REPLACE FUNCTION _pgrecall.graph_step(
    memory_id bigint, concepts integer, hub_max_mentions integer, weight double precision, mention double precision
)
RETURNS TABLE (neighbour_id bigint, share double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 20
BEGIN ATOMIC
    SELECT n.memory_id, max(_pgrecall.link_weight(weight, c.df, n.is_about, mention))
    FROM (
        SELECT o.concept_id
        FROM pgrecall.mentions o
        WHERE o.memory_id = graph_step.memory_id
        GROUP BY o.concept_id
        ORDER BY bool_or(o.is_about) DESC, o.concept_id DESC
        LIMIT concepts
    ) own
    CROSS JOIN LATERAL _pgrecall.concept_memories(own.concept_id, hub_max_mentions) c
    CROSS JOIN LATERAL unnest(c.memory_ids, c.are_about) n (memory_id, is_about)
    WHERE c.df >= 2 AND (c.df <= hub_max_mentions OR n.is_about) AND n.memory_id <> graph_step.memory_id
    GROUP BY n.memory_id;
END;
