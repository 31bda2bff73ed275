-- Returns the names that a memory declares in its tags and expanded keywords, as written and normalised.
--
-- Skips names of more than 200 characters and names that are empty after normalising. Skips single letters and digits
-- too: nearly every text has a word "a" or "i", so such a concept would connect memories that have nothing in common.
-- "C" and "R" are no exception, because a letter does not tell a programming language from a vitamin, a grade or an
-- initial. They stay tags to filter by, "C++" and "R language" are concepts, and a rule makes one of a lone letter
-- (pgrecall.set_entity_rules). A single character of Chinese, Japanese or Korean is a word.
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
    WHERE length(normal.alias) BETWEEN 2 AND 200
       OR (length(normal.alias) = 1 AND normal.alias ~ ('[' || _pgrecall.cjk_class() || ']'));
END;
