-- A text, spelled(), as the parser of PostgreSQL shall see it: words with spaces between them.
--
-- Signs that join words, or stand before one, become spaces: that parser reads and/or as a file, 2024-05-17 as 2024,
-- -05 and -17, and what is between a < and the next > not at all. So does the v of a version: v1.2 is 1.2.
CREATE OR REPLACE FUNCTION _pgrecall.pretokenize(content text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN octet_length(content) > length(content) AND content ~ ('[' || _pgrecall.cjk_class() || ']')
    THEN _pgrecall.bigrams(regexp_replace(
        content, '<|[-_/.@:\\>&#~%+=]+(?=[A-Za-z0-9\u0080-\U0010ffff])|\m[vV](?=[0-9]+\.[0-9])', ' ', 'g'
    ))
    ELSE regexp_replace(
        content, '<|[-_/.@:\\>&#~%+=]+(?=[A-Za-z0-9\u0080-\U0010ffff])|\m[vV](?=[0-9]+\.[0-9])', ' ', 'g'
    )
END;

COMMENT ON FUNCTION _pgrecall.pretokenize IS
    'A text as the parser of PostgreSQL shall see it: words with spaces between them.';
