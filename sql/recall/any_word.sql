-- The tsquery that wants any word of a text; NULL if the text has no word to look for.
--
-- Made from the lexemes, quoted: the operators of tsquery in a text are words like any other.
CREATE OR REPLACE FUNCTION pgrecall.any_word(language regconfig, query text)
RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
    SELECT string_agg('''' || replace(replace(l.lexeme, '\', '\\'), '''', '''''') || '''', ' | ')::tsquery
    FROM unnest(to_tsvector(language, query)) l
);

COMMENT ON FUNCTION pgrecall.any_word IS 'The tsquery that wants any word of a text; NULL for stop words only.';
