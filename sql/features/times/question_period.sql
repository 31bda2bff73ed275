-- Returns the time that a query names, relative to the anchor, such as "last week" in "what did we note about the parser
-- last week?"; NULL if it names none.
--
-- English phrases by phrase_range(), and by timeframe_range() only if they have two ends: its regular expressions are more than a
-- session keeps compiled. In the session's time zone. Simple phrases of other languages are translated first. Of several times, the
-- smallest period that holds all of them.
--
-- query   only the first 2,000 characters are read: their questions, if there are any
-- anchor  when it is asked; NULL: no time
CREATE OR REPLACE FUNCTION _pgrecall.question_period(query text, anchor timestamptz)
RETURNS tstzrange
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    -- In a message, what is asked counts, not what somebody tells of their day.
    questions CONSTANT text := (
        SELECT string_agg(s.sentence, ' ') FROM unnest(_pgrecall.sentences(left(query, 2000))) s (sentence)
        WHERE _pgrecall.ends_with_question(s.sentence)
    );
    seen text := replace(translate(lower(_pgrecall.fold_digits(COALESCE(questions, left(query, 2000)))), E'\n\t', '  '), ' the ', ' ');
    stretches text[];
    span text;
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
    seen := _pgrecall.whole_dates(seen);
    -- Most questions have no "from": its pattern goes apart, and what it matches has no other time.
    IF seen LIKE '%between %' OR seen LIKE '%from %' THEN
        span := substring(seen FROM _pgrecall.question_span_pattern());
        found := _pgrecall.timeframe_range(span, anchor, home);
        IF found IS NOT NULL THEN
            seen := replace(seen, span, '');
        END IF;
    END IF;
    stretches := ARRAY(SELECT m[1] FROM regexp_matches(seen, '(' || _pgrecall.question_time_pattern() || ')', 'g') m LIMIT 8);
    FOR attempt IN 1 .. 2 LOOP
        -- German first, if it joins two times: some months have the same name, and the English pattern would find one end.
        IF attempt = 2 OR seen LIKE ANY ('{% und %,% bis %}'::text[]) THEN
            stretch := _pgrecall.translated_phrase(seen, false);
            IF attempt = 2 OR stretch LIKE 'between %' THEN
                stretches := ARRAY[stretch];
            END IF;
        END IF;
        FOREACH stretch IN ARRAY stretches LOOP
            CONTINUE WHEN stretch IS NULL OR split_part(stretch, ' ', 1) IN ('before', 'until', 'till');
            -- "known today": nowadays, unless somebody asks about their own day.
            CONTINUE WHEN attempt = 1 AND stretch LIKE 'today%' AND seen !~ '\m(?:i|we|my|our|us|did|happened)\M';
            IF stretch LIKE 'between %' THEN
                found := _pgrecall.timeframe_range(stretch, anchor, home);
                CONTINUE;
            END IF;
            is_open := stretch LIKE 'since %';
            stretch := replace(replace(stretch, 'since ', ''), ',', '');
            stretch := replace(replace(stretch, 'week beginning ', 'week of '), 'week starting ', 'week of ');
            stretch := replace(replace(stretch, 'weekend of ', 'weekend-of '), 'week of ', 'week-of ');
            stretch := replace(replace(replace(stretch, ' of ', ' '), '. ', ' '), 'this past', 'last');
            stretch := replace(replace(replace(stretch, 'a few', 'few'), 'a couple', 'couple'), '  ', ' ');
            stretch := replace(replace(replace(stretch, 'early-', 'early '), 'late-', 'late '), 'mid-', 'mid ');
            one := _pgrecall.phrase_range(
                CASE
                    WHEN stretch LIKE '% weekend' AND split_part(stretch, ' ', 1) IN ('over', 'at', 'on', 'during') THEN 'weekend'
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
        EXIT WHEN found IS NOT NULL;
    END LOOP;
    RETURN CASE WHEN lower(found) IS NOT NULL THEN found END;
END
$function$;
