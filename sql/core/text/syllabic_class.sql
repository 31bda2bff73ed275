-- Returns the letters and signs of scripts such as Thai, written without spaces, for a regular expression's brackets.
--
-- Thai, Lao, Burmese, Khmer, Javanese, Balinese and others, without their digits and punctuation: the scripts whose
-- letters have Unicode's Line_Break SA, AK, AP, AS, VF or VI.
CREATE OR REPLACE FUNCTION _pgrecall.syllabic_class()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109d\u1780-\u17d3\u17d7\u17dc\u17dd'
    '\u1950-\u19c9\u1a20-\u1a7f\u1aa7\u1b00-\u1b4c\u1b6b-\u1b73\u1bc0-\u1bf3\ua980-\ua9c0\ua9cf\ua9e0-\ua9ef\ua9fa-\uaa4d\uaa60-\uaa76'
    '\uaa7a-\uaadd\U00011000-\U00011046\U00011070-\U0001107f\U00011300-\U00011339\U0001133c-\U00011363\U00011700-\U0001172b'
    '\U00011740-\U00011746\U00011900-\U00011943\U00011ee0-\U00011ef6';
