-- One step of the graph leg: the memories that share concepts with one, each with the share of its level that it passes on.
--
-- concepts  how many of the memory's concepts are followed, what it is about first, then the newest: those that came into
--           the world with it or after it are rarer than those that were there before
-- df_max    concepts that more memories mention are hubs, and lead to those only that are about them
-- weight, mention  see link_weight
CREATE OR REPLACE FUNCTION _pgrecall.graph_step(
    memory_id bigint, concepts integer, df_max integer, weight double precision, mention double precision
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
    CROSS JOIN LATERAL _pgrecall.concept_memories(own.concept_id, df_max) c
    CROSS JOIN LATERAL unnest(c.memory_ids, c.are_about) n (memory_id, is_about)
    WHERE c.df >= 2 AND (c.df <= df_max OR n.is_about) AND n.memory_id <> graph_step.memory_id
    GROUP BY n.memory_id;
END;

COMMENT ON FUNCTION _pgrecall.graph_step IS
    'The memories that share concepts with one, each with the share of its score that it passes on: one step of the graph leg.';
