-- The language a query is most likely written in, of those a namespace has: where the most of its words are stop words.
--
-- But not all of them: German war is a stop word and English war is not, and who asks for war alone wants that. The
-- first language wins a tie.
--
-- spelling  the query, spelled() and separated()
CREATE OR REPLACE FUNCTION _pgrecall.guess_language(languages regconfig[], spelling text)
RETURNS regconfig
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN cardinality(languages) = 1 THEN languages[1] ELSE (
    SELECT l.language
    FROM unnest(languages) WITH ORDINALITY AS l (language, place)
    ORDER BY (SELECT sum(cardinality(e.positions)) FROM unnest(to_tsvector(l.language, spelling)) e) NULLS LAST, l.place
    LIMIT 1
) END;

COMMENT ON FUNCTION _pgrecall.guess_language IS
    'The language a query is most likely written in: where the most of its words, but not all, are stop words.';
