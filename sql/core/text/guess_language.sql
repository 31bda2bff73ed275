-- Guesses the language of a query: the one in which most of its words, but not all, are stop words.
--
-- A language in which every word is a stop word does not count: German war is a stop word and English war is not, and a
-- query for war alone means the English word. The first language wins a tie.
--
-- spelling  the query after normalize_text() and pretokenize()
CREATE OR REPLACE FUNCTION _pgrecall.guess_language(languages regconfig[], spelling text)
RETURNS regconfig
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN cardinality(languages) = 1 THEN languages[1] ELSE (
    SELECT l.language
    FROM unnest(languages) WITH ORDINALITY AS l (language, place)
    ORDER BY (SELECT sum(cardinality(e.positions)) FROM unnest(to_tsvector(l.language, spelling)) e) NULLS LAST, l.place
    LIMIT 1
) END;
