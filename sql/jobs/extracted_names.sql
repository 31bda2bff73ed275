-- The names in what was read from memories, of mentions and of facts, normalised; those of over 200 characters are left out.
--
-- read  see complete_extractions, with a namespace_id in each item
CREATE OR REPLACE FUNCTION _pgrecall.extracted_names(read jsonb)
RETURNS TABLE (namespace_id integer, alias text, name text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT (r.item ->> 'namespace_id')::integer, normal.alias, n.name
    FROM jsonb_array_elements(read) r (item)
    CROSS JOIN LATERAL (
        SELECT m.item ->> 'name' FROM jsonb_array_elements(r.item -> 'mentions') m (item)
        UNION ALL
        SELECT e.name
        FROM jsonb_array_elements(r.item -> 'facts') f (item)
        CROSS JOIN LATERAL (VALUES (f.item ->> 'subject'), (f.item ->> 'object')) e (name)
    ) n (name)
    -- OFFSET 0: normalised once, not wherever the result is used.
    CROSS JOIN LATERAL (SELECT pgrecall.normalize_name(n.name) AS alias WHERE length(n.name) <= 200 OFFSET 0) normal
    WHERE length(normal.alias) BETWEEN 1 AND 200;
END;

COMMENT ON FUNCTION _pgrecall.extracted_names IS 'The names in what was read from memories, normalised.';
