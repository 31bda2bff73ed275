-- The runs of three characters in the words of a text, each word with two spaces before it and one after.
--
-- Those that the extension pg_trgm has, which is not needed for it.
CREATE OR REPLACE FUNCTION _pgrecall.trigrams(content text)
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN ARRAY(
    SELECT DISTINCT substr('  ' || w.word || ' ', place, 3)
    FROM regexp_split_to_table(lower(content), '[^[:alnum:]]+') w (word)
    CROSS JOIN generate_series(1, length(w.word) + 1) place
    WHERE w.word <> ''
);

COMMENT ON FUNCTION _pgrecall.trigrams IS 'The runs of three characters in the words of a text, as pg_trgm has them.';
