-- Returns the lexemes of any text with accents, scripts without spaces, emoji or identifiers: analyze_text() calls it for
-- texts other than plain ASCII prose.
--
-- Each word is stemmed without its accents. In languages whose stems depend on accents it is also stemmed with them, at
-- the same position: French reduces développée to développé only with its accents, and a query for developpee should
-- find it too.
CREATE OR REPLACE FUNCTION _pgrecall.analyze_unicode(language regconfig, content text)
RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT
AS $function$
DECLARE
    spelling text := _pgrecall.normalize_text(content);
    plain text := _pgrecall.strip_accents(spelling);
    prose text := _pgrecall.pretokenize(plain);
    vector tsvector;
BEGIN
    IF language = 'pg_catalog.english'::regconfig THEN
        prose := _pgrecall.mark_pronouns(prose);
    END IF;
    vector := to_tsvector(language, concat_ws(E'\n', prose, _pgrecall.subtokens(plain), _pgrecall.symbol_words(content)));
    IF plain <> spelling AND _pgrecall.keeps_accents(language) THEN
        vector := concat_ws(
            ' ', vector, _pgrecall.strip_accents(to_tsvector(language, _pgrecall.pretokenize(spelling))::text)
        )::tsvector;
    END IF;
    RETURN vector;
END
$function$;
