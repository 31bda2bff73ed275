-- Builds the tsquery that matches a text word for word, in any language; NULL if it has fewer than two words.
--
-- NULL also for some 500 words and more: the server's stack is too small for them. Accents, signs and word endings are ignored.
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
            -- phraseto_tsquery raises a NOTICE for stop words only.
            SELECT CASE WHEN to_tsvector(l.language, plain) <> '' THEN phraseto_tsquery(l.language, plain) END AS phrase
            FROM unnest(languages) AS l (language)
        ) p
        WHERE numnode(p.phrase) BETWEEN 2 AND 1000
    );
END
$function$;
