-- Tells whether an index serves one of the caller's conditions, such as a session or a tag.
--
-- Tags and metadata have one only by their keys (with_keys).
CREATE OR REPLACE FUNCTION _pgrecall.has_indexed_condition(filter pgrecall.recall_filter)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN _pgrecall.has_time_condition(filter) OR num_nonnulls(
    (filter).categories, (filter).sessions, (filter).speakers, (filter).sources, (filter).external_id_prefix, (filter).all_keys,
    (filter).tag_keys, (filter).value_keys
) > 0;
