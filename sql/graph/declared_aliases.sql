-- The names that a memory says by itself, its tags and expanded keywords, as they are written and normalised.
--
-- Names of more than 200 characters, and those of which nothing is left, are none.
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
    -- OFFSET 0: normalised once, not wherever the result is used.
    CROSS JOIN LATERAL (SELECT pgrecall.normalize_name(word.name) AS alias WHERE length(word.name) <= 200 OFFSET 0) normal
    WHERE length(normal.alias) BETWEEN 1 AND 200;
END;

COMMENT ON FUNCTION _pgrecall.declared_aliases IS 'The names that a memory says by its tags and expanded keywords, also normalised.';
