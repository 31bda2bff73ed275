-- Builds the tsquery that matches one token of a query, a word or a phrase, in any language.
--
-- NULL if the token has only stop words of the query's own language.
--
-- language  the query's own language
-- token     from normalize_text()
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
            -- phraseto_tsquery raises a NOTICE for stop words only.
            SELECT _pgrecall.strip_accents(phraseto_tsquery(l.language, spelling)::text)
            WHERE _pgrecall.keeps_accents(l.language) AND to_tsvector(l.language, spelling) <> ''
            UNION ALL
            SELECT phraseto_tsquery(l.language, plain)::text WHERE to_tsvector(l.language, plain) <> ''
        ) q (phrase)
    );
END
$function$;
