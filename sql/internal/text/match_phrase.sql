-- The tsquery that wants a text word for word, in any language; NULL if it has fewer than two words to look for.
--
-- Accents, signs and the ends of words do not count.
CREATE OR REPLACE FUNCTION _pgrecall.match_phrase(languages regconfig[], query text)
RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    plain text := _pgrecall.pretokenize(_pgrecall.strip_accents(_pgrecall.normalize_text(query)));
BEGIN
    RETURN (
        SELECT string_agg(DISTINCT '(' || p.phrase::text || ')', ' | ')::tsquery
        FROM (
            -- Of stop words alone it would make a NOTICE.
            SELECT CASE WHEN to_tsvector(l.language, plain) <> '' THEN phraseto_tsquery(l.language, plain) END AS phrase
            FROM unnest(languages) AS l (language)
        ) p
        WHERE numnode(p.phrase) > 1
    );
END
$function$;

COMMENT ON FUNCTION _pgrecall.match_phrase IS
    'The tsquery that wants a text word for word; NULL if it has fewer than two words to look for.';
