-- Returns the trigrams of the words of a text, each padded with two spaces before and one after, as in pg_trgm.
--
-- The extension pg_trgm itself is not needed.
CREATE OR REPLACE FUNCTION _pgrecall.trigrams(content text)
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN ARRAY(
    SELECT DISTINCT substr('  ' || w.word || ' ', place, 3)
    FROM regexp_split_to_table(lower(content), '[^[:alnum:]]+') w (word)
    CROSS JOIN generate_series(1, length(w.word) + 1) place
    WHERE w.word <> ''
);
