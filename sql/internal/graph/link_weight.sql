-- How close a concept brings a memory to what is known of the concept: 1, as good as that; 0, nothing.
--
-- The fewer memories mention the concept, the more: with graph_weight 1.4, a concept that only two memories mention takes
-- the one that is about it all the way, and one that eight mention half of it.
--
-- weight    graph_weight
-- df        how many memories mention the concept
-- is_about  the memory is about it;  mention  what a mere mention counts (graph_mention)
CREATE OR REPLACE FUNCTION _pgrecall.link_weight(
    weight double precision, df integer, is_about boolean, mention double precision
)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN least(1, weight / sqrt(df) * CASE WHEN is_about THEN 1 ELSE mention END);

COMMENT ON FUNCTION _pgrecall.link_weight IS
    'How close a concept brings a memory to what is known of the concept, 0 to 1: the closer, the fewer memories mention it.';
