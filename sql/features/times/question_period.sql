-- Returns the time that a query names, relative to the anchor, such as "last week" in "what did we note about the parser
-- last week?"; NULL if it names none.
--
-- English phrases by phrase_range(), not parse_timeframe(): its regular expressions are more than a session keeps
-- compiled. In the session's time zone; simple phrases of other languages by
-- time_phrases(). Of several times, the smallest period that holds all of them.
--
-- query   only the first 2,000 characters are read
-- anchor  when it is asked; NULL: no time
CREATE OR REPLACE FUNCTION _pgrecall.question_period(query text, anchor timestamptz)
RETURNS tstzrange
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    seen CONSTANT text := replace(translate(lower(left(query, 2000)), E'\n\t', '  '), ' the ', ' ');
    known CONSTANT jsonb := _pgrecall.translated_time_words();
    stretch text;
    found tstzrange;
    one tstzrange;
    is_open boolean;
    home CONSTANT text := current_setting('TimeZone');
BEGIN
    -- Relative to a distant anchor, a time may be outside PostgreSQL's range.
    IF anchor IS NULL OR anchor NOT BETWEEN '0012-01-01 00:00+00' AND '9900-01-01 00:00+00' THEN
        RETURN NULL;
    END IF;
    FOR stretch IN SELECT m[1] FROM regexp_matches(seen, '(' || _pgrecall.question_time_pattern() || ')', 'g') m LIMIT 8 LOOP
        CONTINUE WHEN split_part(stretch, ' ', 1) IN ('before', 'until', 'till');
        -- "known today": nowadays, unless somebody asks about their own day.
        CONTINUE WHEN stretch LIKE 'today%' AND seen !~ '\m(?:i|we|my|our|us|did|happened)\M';
        is_open := stretch LIKE 'since %';
        stretch := replace(replace(replace(replace(replace(stretch, 'since ', ''), ',', ''), ' of ', ' '), '. ', ' '), 'this past', 'last');
        stretch := replace(replace(replace(stretch, 'a few', 'few'), 'a couple', 'couple'), '  ', ' ');
        stretch := replace(replace(replace(stretch, ' early ', ' '), ' late ', ' '), ' mid ', ' ');
        one := _pgrecall.phrase_range(
            CASE
                WHEN stretch LIKE '% weekend' AND split_part(stretch, ' ', 1) IN ('over', 'at', 'on', 'during') THEN 'last weekend'
                WHEN stretch LIKE '% christmas' THEN 'december 25'
                WHEN stretch LIKE '% before last' THEN '2 ' || split_part(stretch, ' ', 1) || 's ago'
                ELSE stretch
            END,
            anchor, home
        );
        IF is_open THEN
            one := tstzrange(lower(one), NULL);
        END IF;
        found := CASE WHEN found IS NULL OR one IS NULL THEN COALESCE(found, one) ELSE range_merge(found, one) END;
    END LOOP;
    -- Their patterns would push others out of the session's compiled ones, so one test goes first.
    IF found IS NULL AND seen ~ _pgrecall.other_time_hint() THEN
        SELECT string_agg(COALESCE(known ->> w.word, w.word), ' ' ORDER BY w.number)
        INTO stretch
        FROM (
            SELECT regexp_replace(substring(seen FROM '(' || t.pattern || ')'), t.pattern, t.template) AS phrase
            FROM _pgrecall.time_phrases() t
            WHERE seen ~ t.pattern
            ORDER BY t.place
            LIMIT 1
        ) p
        CROSS JOIN LATERAL regexp_split_to_table(p.phrase, ' ') WITH ORDINALITY w (word, number);
        found := _pgrecall.phrase_range(stretch, anchor, home);
    END IF;
    RETURN CASE WHEN lower(found) IS NOT NULL THEN found END;
END
$function$;
