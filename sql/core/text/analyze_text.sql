-- Returns the lexemes of a text in a language: to_tsvector, accents folded, n-grams of scripts without spaces, emoji,
-- identifiers whole and in part. Memories and queries are analysed the same way.
--
-- It adds to to_tsvector: accents of Latin letters are ignored; scripts without spaces are found by any word, and
-- emoji; identifiers, versions, paths and addresses are found whole and in part. Most texts are plain ASCII prose and go
-- straight to to_tsvector. Keep this a single expression, so that the planner inlines it.
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
