-- Walks from the best hits with the settings of a recall (graph_walk). A function that calls it keeps its plan.
--
-- Every fan-out of the walk is capped, so one plan serves all arguments. The arguments come from a row: the planner
-- then estimates every call alike and keeps a generic plan. Planning the walk costs as much as running it.
--
-- The arguments are those of graph_leg().
CREATE OR REPLACE FUNCTION _pgrecall.graph_search(
    namespace_id integer, seed_ids bigint[], seed_levels double precision[], filter pgrecall.recall_filter,
    known bigint[], depth integer, settings pgrecall.recall_settings
)
RETURNS TABLE (id bigint, share double precision, level double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100
BEGIN ATOMIC
    SELECT w.id, w.share, w.level
    FROM (
        SELECT seed_ids[:(settings).graph_seeds] AS ids, seed_levels[:(settings).graph_seeds] AS levels, known AS candidates,
               depth AS rows, (settings).graph_concepts AS concepts, (settings).graph_hops AS hops,
               (settings).graph_decay AS decay, (settings).hub_max_mentions AS hub_max_mentions, (settings).graph_weight AS weight,
               (settings).graph_mention AS mention
        OFFSET 0
    ) a
    CROSS JOIN LATERAL _pgrecall.graph_walk(
        namespace_id, a.ids, a.levels, filter, a.candidates, a.rows, a.concepts, a.hops, a.decay, a.hub_max_mentions, a.weight,
        a.mention
    ) w;
END;
