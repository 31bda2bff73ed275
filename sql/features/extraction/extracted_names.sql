-- Returns the normalised names of extracted mentions and facts, except names of over 200 characters.
--
-- items see complete_extractions, with a namespace_id in each item
CREATE OR REPLACE FUNCTION _pgrecall.extracted_names(items jsonb)
RETURNS TABLE (namespace_id integer, alias text, name text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT (r.item ->> 'namespace_id')::integer, normal.alias, n.name
    FROM jsonb_array_elements(items) r (item)
    CROSS JOIN LATERAL (
        SELECT m.item ->> 'name' FROM jsonb_array_elements(r.item -> 'mentions') m (item)
        UNION ALL
        SELECT e.name
        FROM jsonb_array_elements(r.item -> 'facts') f (item)
        CROSS JOIN LATERAL (VALUES (f.item ->> 'subject'), (f.item ->> 'object')) e (name)
    ) n (name)
    -- OFFSET 0: normalises each name once, not at each use.
    CROSS JOIN LATERAL (SELECT pgrecall.normalize_name(n.name) AS alias WHERE length(n.name) <= 200 OFFSET 0) normal
    WHERE length(normal.alias) BETWEEN 1 AND 200;
END;
