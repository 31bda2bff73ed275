-- Returns a time phrase with its words in English, as translated_time_words() has them, and the names of months and weekdays.
--
-- phrase  in lower case
CREATE OR REPLACE FUNCTION _pgrecall.translated_words(phrase text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    known CONSTANT jsonb := _pgrecall.translated_time_words();
    english CONSTANT jsonb := _pgrecall.time_words();
    months CONSTANT jsonb := _pgrecall.dated_months();
BEGIN
    RETURN (
        SELECT string_agg(t.word, ' ' ORDER BY w.number)
        FROM regexp_split_to_table(phrase, E'[ \t\n,\'\u2019]+') WITH ORDINALITY w (word, number)
        CROSS JOIN LATERAL (SELECT _pgrecall.strip_accents(w.word)) p (plain)
        CROSS JOIN LATERAL (
            SELECT COALESCE(
                known ->> w.word,
                CASE WHEN NOT english ? w.word AND p.plain <> ALL (_pgrecall.ordinary_names()) THEN COALESCE(
                    to_char(make_date(2001, (months ->> p.plain)::integer, 1), 'fmmonth'),
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
