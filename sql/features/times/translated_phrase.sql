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
    known CONSTANT jsonb := _pgrecall.translated_time_words();
    english CONSTANT jsonb := _pgrecall.time_words();
    seen text := lower(text);
    found record;
BEGIN
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
            CASE WHEN is_whole THEN seen ELSE substring(seen FROM '(' || found.pattern || ')') END, found.pattern, found.template
        );
    ELSIF NOT is_whole THEN
        RETURN NULL;
    END IF;
    RETURN (
        SELECT string_agg(t.word, ' ' ORDER BY w.number)
        FROM regexp_split_to_table(seen, E'[ \t\n,\'\u2019]+') WITH ORDINALITY w (word, number)
        CROSS JOIN LATERAL (SELECT _pgrecall.strip_accents(w.word)) p (plain)
        CROSS JOIN LATERAL (
            SELECT COALESCE(
                known ->> w.word,
                CASE WHEN NOT english ? w.word AND p.plain <> ALL (_pgrecall.ordinary_names()) THEN COALESCE(
                    to_char(make_date(2001, (_pgrecall.month_names() ->> p.plain)::integer, 1), 'fmmonth'),
                    -- The first of January 2001 was a Monday.
                    to_char(make_date(2001, 1, (_pgrecall.weekday_names() ->> p.plain)::integer), 'fmday')
                ) END,
                w.word
            )
        ) t (word)
        WHERE t.word <> ''
    );
END
$function$;
