-- Tells whether a field is too long for a memory with markers in place of its secrets.
--
-- The limits are those of _pgrecall.check_memory(): the table's constraints would print the row.
--
-- clean  fields as find_secrets() returns them
CREATE OR REPLACE FUNCTION _pgrecall.exceeds_limits(clean jsonb)
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN COALESCE(
    octet_length(clean ->> 'content') > 262144 OR octet_length(clean ->> 'title') > 4096
    OR octet_length((clean -> 'metadata')::text) > 262144
    OR greatest(octet_length(clean ->> 'category'), octet_length(clean ->> 'source'), octet_length(clean ->> 'speaker')) > 1024
    OR greatest(octet_length((clean -> 'tags')::text), octet_length((clean -> 'expanded_keywords')::text)) > 12288
    OR EXISTS (
        SELECT FROM jsonb_path_query(
            jsonb_build_array(clean -> 'tags', clean -> 'expanded_keywords'), 'lax $[*][*] ? (@.type() == "string")'
        ) i (item)
        WHERE octet_length(i.item #>> '{}') > 1024
    ), false
);
