-- The largest document frequency with which a concept still links memories: a share of the namespace, within limits.
CREATE OR REPLACE FUNCTION pgrecall.hub_threshold(namespace_id integer, settings pgrecall.recall_settings)
RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE
RETURN least(
    (settings).graph_df_max,
    greatest(
        (settings).graph_df_floor,
        -- No need to count past the size whose share reaches graph_df_max.
        ceil((settings).graph_df_share * pgrecall.namespace_size(
            namespace_id,
            least(ceil((settings).graph_df_max / NULLIF((settings).graph_df_share, 0)), 100000)::integer
        ))::integer
    )
);

COMMENT ON FUNCTION pgrecall.hub_threshold IS
    'The largest document frequency with which a concept still links memories: a share of the namespace, within limits.';
