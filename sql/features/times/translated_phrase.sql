-- Returns the English of a time phrase in another language, word by word, after the first of time_phrases() that it contains. NULL if
-- it contains none, unless it is whole.
--
-- text      in any case
-- is_whole  the text is the phrase: what stands beside the pattern stays, and unknown words do too, which phrase_range() refuses.
--           Otherwise the text is a question, and the result is the phrase in it
CREATE OR REPLACE FUNCTION _pgrecall.translated_phrase(text text, is_whole boolean)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    seen text := lower(_pgrecall.fold_digits(text));
    found record;
BEGIN
    IF seen LIKE ANY ('{%月%,%日%,%号%,%號%,%年%}'::text[]) THEN
        seen := _pgrecall.read_numerals(seen);
    END IF;
    seen := _pgrecall.common_dates(seen);
    IF NOT is_whole AND NOT ' ' || seen LIKE ANY (_pgrecall.translated_time_hints()) THEN
        RETURN NULL;
    END IF;
    SELECT p.pattern, p.template INTO found
    FROM _pgrecall.time_phrases() p
    WHERE CASE WHEN ' ' || seen LIKE ANY (p.hints) THEN seen ~ p.pattern ELSE false END
    ORDER BY p.place
    LIMIT 1;
    IF found.pattern IS NOT NULL THEN
        seen := regexp_replace(
            CASE WHEN is_whole THEN seen ELSE regexp_substr(seen, found.pattern) END, found.pattern, found.template
        );
    ELSIF NOT is_whole THEN
        RETURN NULL;
    END IF;
    RETURN _pgrecall.translated_words(seen);
END
$function$;
