-- words: a text as it is searched, in its language. The same for memories and for queries.
--
-- to_tsvector, and beside it: accents of Latin letters do not count; Chinese, Japanese and Korean are found by any
-- word; identifiers, versions, paths and addresses are found whole and by part. Plain prose in ASCII, which most texts
-- are, goes straight to to_tsvector; this expression is written into the query, so keep it one.
--
-- language  text-search configuration
CREATE OR REPLACE FUNCTION _pgrecall.analyze_text(language regconfig, content text)
RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN content ~ ('[^\u0001-\u007f]|[-_/.@:\\>&#~%+=][A-Za-z0-9]|<|[a-z][0-9]*[A-Z]|[A-Z]{2}[a-z]{2}|[0-9],[0-9]{3}'
                    '|[A-Za-z](#|\+\+)')
         OR octet_length(content) > 2047
    THEN _pgrecall.analyze_unicode(language, content)
    WHEN language = 'pg_catalog.english'::regconfig THEN to_tsvector(language, _pgrecall.mark_pronouns(content))
    ELSE to_tsvector(language, content)
END;

COMMENT ON FUNCTION _pgrecall.analyze_text IS
    'A text as it is searched, in its language: to_tsvector, accents folded, n-grams of Chinese, Japanese and Korean, '
    'identifiers whole and by part.';
