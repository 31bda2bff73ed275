-- The words of any text; pgrecall.words calls it for what is not plain English prose or the like of it.
--
-- Accents: each word is indexed as it is stemmed without them and, in languages that read them, at the same place as it
-- is stemmed with them: French takes développée for développé only then, and whoever writes developpee wants it too.
CREATE OR REPLACE FUNCTION pgrecall.odd_words(language regconfig, content text)
RETURNS tsvector
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT
AS $function$
DECLARE
    spelling text := pgrecall.spelled(content);
    plain text := pgrecall.without_accents(spelling);
    prose text := pgrecall.separated(plain);
    vector tsvector;
BEGIN
    IF language = 'pg_catalog.english'::regconfig THEN
        prose := pgrecall.marked_pronouns(prose);
    END IF;
    vector := to_tsvector(language, concat_ws(E'\n', prose, pgrecall.extra_words(plain)));
    IF plain <> spelling AND pgrecall.reads_accents(language) THEN
        vector := concat_ws(
            ' ', vector, pgrecall.without_accents(to_tsvector(language, pgrecall.separated(spelling))::text)
        )::tsvector;
    END IF;
    RETURN vector;
END
$function$;

COMMENT ON FUNCTION pgrecall.odd_words IS
    'The words of any text: accents, Chinese, Japanese and Korean, identifiers; called by pgrecall.words.';
