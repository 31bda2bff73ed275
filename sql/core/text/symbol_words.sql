-- Returns the symbols and emoji of a text as words: 🎂 becomes u1f382, and the flag 🇨🇿 u1f1e8u1f1ff. NULL if there are none.
--
-- PostgreSQL's parser takes them for blanks. Only the first 8,192 characters are read. Skin tones, box drawing and block
-- elements are no words; of a joined emoji, each part is one.
CREATE OR REPLACE FUNCTION _pgrecall.symbol_words(content text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(content) > length(content) THEN (
    SELECT string_agg(
        'u' || to_hex(ascii(s.symbol[1]))
        || CASE WHEN length(s.symbol[1]) = 2 THEN 'u' || to_hex(ascii(substr(s.symbol[1], 2))) ELSE '' END, ' '
    )
    FROM regexp_matches(
        left(content, 8192),
        '[\U0001f1e6-\U0001f1ff]{2}|[\u2190-\u245f\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\u3297\u3299\U0001f000-\U0001f0ff'
        '\U0001f170-\U0001f3fa\U0001f400-\U0001faff]', 'g'
    ) s (symbol)
) END;
