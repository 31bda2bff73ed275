-- Returns signs that belong to a word and are neither letters nor digits to every locale, for a regular expression's brackets: what is in
-- syllabic_class(), and the virama and nukta of Devanagari, Bengali, Gurmukhi, Gujarati, Odia, Tamil, Telugu, Kannada, Malayalam, Sinhala.
CREATE OR REPLACE FUNCTION _pgrecall.word_signs()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN _pgrecall.syllabic_class()
    || '\u093c\u094d\u09bc\u09cd\u0a3c\u0a4d\u0abc\u0acd\u0b3c\u0b4d\u0bcd\u0c4d\u0cbc\u0ccd\u0d4d\u0dca';
