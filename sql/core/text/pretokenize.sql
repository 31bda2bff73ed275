-- Splits a normalised text into words with spaces between them, for PostgreSQL's text-search parser.
--
-- Signs between words or before a word become spaces. The parser would read and/or as a file, split 2024-05-17 into
-- 2024, -05 and -17, and skip everything between a < and the next >. The v of a version is removed too: v1.2 becomes
-- 1.2.
--
-- content  from normalize_text()
CREATE OR REPLACE FUNCTION _pgrecall.pretokenize(content text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN octet_length(content) > length(content) AND content ~ ('[' || _pgrecall.unspaced_class() || ']')
    THEN _pgrecall.ngrams(regexp_replace(
        content, '<|[-_/.@:\\>&#~%+=]+(?=[A-Za-z0-9\u0080-\U0010ffff])|\m[vV](?=[0-9]+\.[0-9])', ' ', 'g'
    ))
    ELSE regexp_replace(
        content, '<|[-_/.@:\\>&#~%+=]+(?=[A-Za-z0-9\u0080-\U0010ffff])|\m[vV](?=[0-9]+\.[0-9])', ' ', 'g'
    )
END;
