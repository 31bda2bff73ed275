-- Returns the strength of a link through a concept, 0 to 1: the share of the gap by which it raises a score. Rarer concepts
-- link more strongly.
--
-- It falls with the number of memories that mention the concept. With graph_weight 1.4, a concept that two memories
-- mention gives 1 to the memory about it, and a concept that eight mention gives one half.
--
-- weight    graph_weight
-- df        number of memories that mention the concept
-- is_about  the memory is about it;  mention  factor for a mere mention (graph_mention)
CREATE OR REPLACE FUNCTION _pgrecall.link_weight(
    weight double precision, df integer, is_about boolean, mention double precision
)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN least(1, weight / sqrt(df) * CASE WHEN is_about THEN 1 ELSE mention END);
