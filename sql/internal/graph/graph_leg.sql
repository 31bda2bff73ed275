-- The graph leg: returns memories that share concepts with the best hits of the other legs (graph_walk).
--
-- Every fan-out of the walk is capped, so one plan serves all arguments. The arguments come from a row: the planner
-- then estimates every call alike and keeps a generic plan. Planning the walk costs as much as running it.
--
-- seed_ids, seed_levels  the start memories, best first, and their scores
-- known                  ids of memories that are already candidates
CREATE OR REPLACE FUNCTION _pgrecall.graph_leg(
    namespace_id integer, seed_ids bigint[], seed_levels double precision[], filter pgrecall.recall_filter,
    known bigint[], depth integer, settings pgrecall.recall_settings
)
RETURNS TABLE (id bigint, share double precision, level double precision)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 100
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN QUERY
        SELECT w.*
        FROM (
            SELECT seed_ids[:settings.graph_seeds] AS ids, seed_levels[:settings.graph_seeds] AS levels, known AS candidates,
                   depth AS rows, settings.graph_concepts AS concepts, settings.graph_hops AS hops,
                   settings.graph_decay AS decay, settings.hub_max_mentions AS hub_max_mentions, settings.graph_weight AS weight,
                   settings.graph_mention AS mention
            OFFSET 0
        ) a
        CROSS JOIN LATERAL _pgrecall.graph_walk(
            namespace_id, a.ids, a.levels, filter, a.candidates, a.rows, a.concepts, a.hops, a.decay, a.hub_max_mentions, a.weight,
            a.mention
        ) w;
END
$function$;

COMMENT ON FUNCTION _pgrecall.graph_leg IS
    'Returns memories that share concepts with the best hits, with the level and share of each boost.';
