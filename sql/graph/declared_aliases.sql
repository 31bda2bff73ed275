-- Returns the names that a memory declares in its tags and expanded keywords, as written and normalised.
--
-- Skips names of more than 200 characters and names that are empty after normalising.
CREATE OR REPLACE FUNCTION _pgrecall.declared_aliases(tags text[], expanded_keywords text[])
RETURNS TABLE (source text, name text, alias text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 5
BEGIN ATOMIC
    SELECT word.source, word.name, normal.alias
    FROM (
        SELECT 'tag'::text, tag FROM unnest(tags) tag
        UNION ALL
        SELECT 'keyword'::text, keyword FROM unnest(expanded_keywords) keyword
    ) word (source, name)
    -- OFFSET 0: normalise once, not at every use of the result.
    CROSS JOIN LATERAL (SELECT pgrecall.normalize_name(word.name) AS alias WHERE length(word.name) <= 200 OFFSET 0) normal
    WHERE length(normal.alias) BETWEEN 1 AND 200;
END;

COMMENT ON FUNCTION _pgrecall.declared_aliases IS
    'Returns the names that a memory declares in its tags and expanded keywords, as written and normalised.';
