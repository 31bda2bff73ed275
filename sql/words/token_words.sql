-- The tsquery that wants a part of a query as one, a word or words one after the other, in any language.
--
-- NULL if there is none: stop words of the query's own language.
--
-- language  the query's own
-- token     spelled()
CREATE OR REPLACE FUNCTION pgrecall.token_words(languages regconfig[], language regconfig, token text)
RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    spelling text := pgrecall.separated(token);
    plain text := pgrecall.without_accents(spelling);
BEGIN
    IF to_tsvector(token_words.language, spelling) = '' THEN
        RETURN NULL;
    END IF;
    RETURN (
        SELECT string_agg(DISTINCT '(' || q.phrase || ')', ' | ')::tsquery
        FROM unnest(languages) AS l (language)
        CROSS JOIN LATERAL (
            -- Of stop words alone phraseto_tsquery would make a NOTICE.
            SELECT pgrecall.without_accents(phraseto_tsquery(l.language, spelling)::text)
            WHERE pgrecall.reads_accents(l.language) AND to_tsvector(l.language, spelling) <> ''
            UNION ALL
            SELECT phraseto_tsquery(l.language, plain)::text WHERE to_tsvector(l.language, plain) <> ''
        ) q (phrase)
    );
END
$function$;

COMMENT ON FUNCTION pgrecall.token_words IS
    'The tsquery that wants a part of a query as one, a word or words one after the other, in any language.';
