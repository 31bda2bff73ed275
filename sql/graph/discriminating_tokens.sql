-- The words of a normalised name that tell it from others of its kind: numbers, Roman ones too, and single letters.
CREATE OR REPLACE FUNCTION _pgrecall.discriminating_tokens(alias text)
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN ARRAY(
    SELECT w.word FROM unnest(string_to_array(alias, ' ')) w (word)
    WHERE w.word ~ '[0-9]' OR w.word ~ '^([ivx]+|.)$'
    ORDER BY w.word
);

COMMENT ON FUNCTION _pgrecall.discriminating_tokens IS 'The words of a normalised name that tell it from others of its kind, such as numbers.';
