-- Returns what a link of the graph leg contributes to a memory's relevance: the share of the gap between it and the level.
--
-- Never past the level (share_of_gap), so a memory does not outrank the one it is linked with.
--
-- relevance  what the other legs contribute
-- share      the strength of the link (link_weight);  NULL: there is none
CREATE OR REPLACE FUNCTION _pgrecall.graph_part(relevance double precision, share double precision, level double precision)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN _pgrecall.share_of_gap(relevance, share, level);
