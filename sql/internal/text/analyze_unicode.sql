-- The words of any text; _pgrecall.analyze_text calls it for what is not plain English prose or the like of it.
--
-- Accents: each word is indexed as it is stemmed without them and, in languages that read them, at the same place as it
-- is stemmed with them: French takes développée for développé only then, and whoever writes developpee wants it too.
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
    vector := to_tsvector(language, concat_ws(E'\n', prose, _pgrecall.subtokens(plain)));
    IF plain <> spelling AND _pgrecall.keeps_accents(language) THEN
        vector := concat_ws(
            ' ', vector, _pgrecall.strip_accents(to_tsvector(language, _pgrecall.pretokenize(spelling))::text)
        )::tsvector;
    END IF;
    RETURN vector;
END
$function$;

COMMENT ON FUNCTION _pgrecall.analyze_unicode IS
    'The words of any text: accents, Chinese, Japanese and Korean, identifiers; called by _pgrecall.analyze_text.';
