-- Returns the tokens that distinguish a normalised name from similar ones: numbers, Roman numerals, single letters.
CREATE OR REPLACE FUNCTION _pgrecall.discriminating_tokens(alias text)
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN ARRAY(
    SELECT w.word FROM unnest(string_to_array(alias, ' ')) w (word)
    WHERE w.word ~ '[0-9]' OR w.word ~ '^([ivx]+|.)$'
    ORDER BY w.word
);
