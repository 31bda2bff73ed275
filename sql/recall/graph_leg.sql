-- The graph leg: memories that share concepts with the query or with the best hits of the other legs (graph_walk).
--
-- Every fan-out of the walk is capped, so that one plan serves all arguments. They come from a row, so that every plan
-- expects the same of them and one is kept: planning the walk anew would cost as much as running it.
--
-- concepts                what the query names (named_concepts)
-- seed_ids, seed_weights  where to start, best first
-- also                    memories that come with their score, without a rank, if the list reaches them after depth
-- df_max                  concepts with more memories are hubs and link nothing
CREATE OR REPLACE FUNCTION pgrecall.graph_leg(
    namespace_id integer, concepts bigint[], seed_ids bigint[], seed_weights double precision[],
    filter pgrecall.recall_filter, also bigint[], depth integer, df_max integer, settings pgrecall.recall_settings
)
RETURNS TABLE (id bigint, rank integer, score double precision)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 50
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN QUERY
        SELECT w.*
        FROM (
            SELECT concepts AS named, seed_ids[:settings.graph_seeds] AS ids, seed_weights[:settings.graph_seeds] AS weights,
                   also AS listed, depth AS rows, settings.graph_seeds AS frontier, settings.graph_neighbours AS neighbours,
                   settings.graph_hops AS hops, settings.graph_decay AS decay, settings.graph_df_min AS df_min, df_max AS df_most
            OFFSET 0
        ) a
        CROSS JOIN LATERAL pgrecall.graph_walk(
            namespace_id, a.named, a.ids, a.weights, filter, a.listed, a.rows, a.frontier, a.neighbours, a.hops, a.decay,
            a.df_min, a.df_most
        ) w;
END
$function$;

COMMENT ON FUNCTION pgrecall.graph_leg IS
    'Memories that share concepts with the query or with the best hits of the other legs: a capped walk of one or two hops.';
