-- The tsquery that wants a part of a query as one, a word or words one after the other, in any language.
--
-- NULL if there is none: stop words of the query's own language.
--
-- language  the query's own
-- token     spelled()
CREATE OR REPLACE FUNCTION _pgrecall.match_tokens(languages regconfig[], language regconfig, token text)
RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    spelling text := _pgrecall.pretokenize(token);
    plain text := _pgrecall.strip_accents(spelling);
BEGIN
    IF to_tsvector(match_tokens.language, spelling) = '' THEN
        RETURN NULL;
    END IF;
    RETURN (
        SELECT string_agg(DISTINCT '(' || q.phrase || ')', ' | ')::tsquery
        FROM unnest(languages) AS l (language)
        CROSS JOIN LATERAL (
            -- Of stop words alone phraseto_tsquery would make a NOTICE.
            SELECT _pgrecall.strip_accents(phraseto_tsquery(l.language, spelling)::text)
            WHERE _pgrecall.keeps_accents(l.language) AND to_tsvector(l.language, spelling) <> ''
            UNION ALL
            SELECT phraseto_tsquery(l.language, plain)::text WHERE to_tsvector(l.language, plain) <> ''
        ) q (phrase)
    );
END
$function$;

COMMENT ON FUNCTION _pgrecall.match_tokens IS
    'The tsquery that wants a part of a query as one, a word or words one after the other, in any language.';
