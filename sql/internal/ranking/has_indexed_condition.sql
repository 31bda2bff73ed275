-- Tells whether an index serves one of the caller's conditions, such as a session or a tag.
CREATE OR REPLACE FUNCTION _pgrecall.has_indexed_condition(filter pgrecall.recall_filter)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN num_nonnulls(
    (filter).categories, (filter).all_keys, (filter).tag_keys, (filter).value_keys, (filter).sessions, (filter).speakers,
    (filter).sources, (filter).external_id_prefix, (filter).since, (filter).until,
    (filter).timeframe
) > 0;

COMMENT ON FUNCTION _pgrecall.has_indexed_condition IS 'Tells whether an index serves one of the caller''s conditions.';
