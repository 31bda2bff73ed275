-- The graph leg: returns memories that share concepts with the best hits of the other legs (graph_search), with the level
-- and share of each boost.
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
        SELECT s.* FROM _pgrecall.graph_search(namespace_id, seed_ids, seed_levels, filter, known, depth, settings) s;
END
$function$;
