-- Explains why the graph leg did not find a memory that matches the filter. NULL: the leg takes no part.
CREATE OR REPLACE FUNCTION _pgrecall.graph_not_found(settings pgrecall.recall_settings)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN settings.graph_weight > 0 AND settings.graph_hops > 0 THEN 'no concept links to it' END;
