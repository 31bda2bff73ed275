-- Normalises a concept name for comparison: NFKC without № and ™, lower case, separators folded to one space.
--
-- Keeps + # . inside words, for names like c++, c# and node.js, and the signs that make another word of the same letters: the tones of
-- Thai, Lao and Burmese, the virama and nukta of India's scripts. Returns an empty text if nothing remains.
CREATE OR REPLACE FUNCTION pgrecall.normalize_name(name text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN btrim(regexp_replace(
    regexp_replace(
        lower(normalize(translate(name, '№℠™', '   '), NFKC)),
        '[^[:alnum:]+#.' || _pgrecall.word_signs() || ']+|\.+(?![[:alnum:]])|(?<![[:alnum:]+#' || _pgrecall.word_signs() || '])[+#]+',
        ' ', 'g'
    ),
    ' +', ' ', 'g'
));

GRANT EXECUTE ON FUNCTION pgrecall.normalize_name TO pgrecall_reader;
-- The planner writes it into the statements that call it, so it does not run as pgrecall_gate. It needs these two, which nobody can
-- call by name.
GRANT EXECUTE ON FUNCTION _pgrecall.word_signs, _pgrecall.syllabic_class TO pgrecall_reader;
