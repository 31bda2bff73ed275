-- Builds the tsquery that matches a text word for word, in any language; NULL if it has fewer than two words.
--
-- NULL also for some 500 words and more: the server's stack is too small for them. Accents, signs and word endings are ignored.
CREATE OR REPLACE FUNCTION _pgrecall.match_phrase(languages regconfig[], query text)
RETURNS tsquery
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    language regconfig;
    phrase tsquery;
    seen tsquery[] := '{}'::tsquery[];
    phrases tsquery;
    plain text := _pgrecall.pretokenize(_pgrecall.strip_accents(_pgrecall.normalize_text(query)));
BEGIN
    FOREACH language IN ARRAY languages LOOP
        -- phraseto_tsquery raises a NOTICE for stop words only.
        CONTINUE WHEN to_tsvector(language, plain) = '';
        phrase := phraseto_tsquery(language, plain);
        IF numnode(phrase) BETWEEN 2 AND 1000 AND phrase <> ALL (seen) THEN
            seen := seen || phrase;
            phrases := COALESCE(phrases || phrase, phrase);
        END IF;
    END LOOP;
    RETURN phrases;
END
$function$;
