-- Tells whether a filter has no condition of the caller: it leaves out what is forgotten, superseded or over, nothing else.
CREATE OR REPLACE FUNCTION _pgrecall.is_unfiltered(filter pgrecall.recall_filter)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN NOT COALESCE((filter).include_superseded, false) AND COALESCE((filter).include_sensitive, true)
   AND num_nonnulls(
       (filter).categories, (filter).tags_any, (filter).tags_all, (filter).metadata_contains, (filter).metadata_where,
       (filter).sessions, (filter).speakers, (filter).sources, (filter).external_id_prefix, (filter).since, (filter).until,
       (filter).timeframe, (filter).as_of
   ) = 0;

COMMENT ON FUNCTION _pgrecall.is_unfiltered IS 'Tells whether a filter has no condition of the caller.';
