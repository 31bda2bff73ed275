-- Fields of a memory without their long values, of which only the names are left.
CREATE OR REPLACE FUNCTION _pgrecall.without_texts(fields jsonb)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT jsonb_object_agg(f.key, CASE WHEN octet_length(f.value::text) <= 256 THEN f.value ELSE 'null' END)
    FROM jsonb_each(fields) f
);
