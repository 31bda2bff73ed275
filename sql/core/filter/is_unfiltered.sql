-- Tells whether a filter has no condition of the caller: it leaves out what is forgotten, superseded or over, nothing else.
--
-- Whatever else a filter holds is a condition, or derived from one. A timeframe is looked at first: referring may be long.
CREATE OR REPLACE FUNCTION _pgrecall.is_unfiltered(filter pgrecall.recall_filter)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN (filter).timeframe IS NOT NULL THEN false
    -- NULL is no filter at all.
    ELSE COALESCE(jsonb_strip_nulls(to_jsonb(filter)) <@ '{"include_superseded": false, "include_sensitive": true}', true)
END;
