-- Returns the range of a phrase from the kinds of its words and their values. NULL for an unknown shape.
--
-- "Two weeks ago" is as precise as its unit: the calendar week two before this one. "The last two weeks" and "the past
-- week" count back from the anchor; "last week" is a calendar week.
--
-- v       the value of each word
-- months  length of the stretch among them
CREATE OR REPLACE FUNCTION _pgrecall.shape_range(shape text, v text[], months integer, anchor timestamptz, zone text)
RETURNS tstzrange
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    place integer := CASE shape WHEN 'number unit ago' THEN 1 WHEN 'in number unit' THEN 2 WHEN 'which number unit' THEN 2 END;
    direction integer;
BEGIN
    -- At most a thousand years, so that no timestamp is out of range.
    IF place IS NOT NULL AND v[place]::integer * _pgrecall.unit_length(v[place + 1]) > interval '1000 years' THEN
        RETURN NULL;
    END IF;
    direction := CASE WHEN v[1] IN ('last', 'past') THEN -1 WHEN v[1] = 'next' THEN 1 ELSE 0 END;
    CASE shape
        WHEN 'now' THEN
            RETURN tstzrange(anchor, anchor + interval '1 minute');
        WHEN 'tonight' THEN
            RETURN _pgrecall.day_part_range('night', _pgrecall.unit_range('day', 0, anchor, zone), zone);
        WHEN 'day' THEN
            RETURN _pgrecall.unit_range('day', v[1]::integer, anchor, zone);
        WHEN 'unit before day', 'unit after day' THEN  -- the day before yesterday
            RETURN CASE WHEN v[1] = 'day' THEN _pgrecall.unit_range(
                'day', v[3]::integer + CASE shape WHEN 'unit after day' THEN 1 ELSE -1 END, anchor, zone
            ) END;
        WHEN 'number unit ago' THEN
            RETURN _pgrecall.unit_range(v[2], -v[1]::integer, anchor, zone);
        WHEN 'in number unit' THEN
            RETURN _pgrecall.unit_range(v[3], v[2]::integer, anchor, zone);
        WHEN 'which number unit' THEN
            RETURN _pgrecall.rolling_range(v[3], direction * v[2]::integer, anchor, zone);
        WHEN 'which unit' THEN
            IF direction <> 0 AND v[2] <> 'weekend' AND (v[1] = 'past' OR v[2] IN ('second', 'minute', 'hour', 'day')) THEN
                RETURN _pgrecall.rolling_range(v[2], direction, anchor, zone);
            END IF;
            RETURN _pgrecall.unit_range(v[2], direction, anchor, zone);
        WHEN 'unit' THEN  -- the weekend: the most recent
            RETURN CASE WHEN v[1] = 'weekend' THEN _pgrecall.unit_range(
                'weekend', CASE WHEN date_part('isodow', anchor AT TIME ZONE zone) > 5 THEN 0 ELSE -1 END, anchor, zone
            ) END;
        WHEN 'unit number' THEN
            RETURN CASE WHEN v[1] = 'week' THEN _pgrecall.week_range(NULL, v[2]::integer, anchor, zone) END;
        WHEN 'unit number year' THEN
            RETURN CASE WHEN v[1] = 'week' THEN _pgrecall.week_range(v[3]::integer, v[2]::integer, anchor, zone) END;
        WHEN 'weekday' THEN
            RETURN _pgrecall.weekday_range(NULL, v[1]::integer, anchor, zone);
        WHEN 'which weekday' THEN
            RETURN _pgrecall.weekday_range(v[1], v[2]::integer, anchor, zone);
        WHEN 'number weekday ago', 'number weekdays ago' THEN
            RETURN CASE WHEN v[1]::integer BETWEEN 1 AND 99 THEN _pgrecall.weekday_range(
                'last', v[2]::integer, anchor - make_interval(weeks => v[1]::integer - 1), zone
            ) END;
        WHEN 'weekday which unit' THEN  -- Monday last week
            RETURN CASE WHEN v[3] = 'week' THEN _pgrecall.weekday_range(
                'this', v[1]::integer, anchor + make_interval(
                    weeks => CASE WHEN v[2] IN ('last', 'past') THEN -1 WHEN v[2] = 'next' THEN 1 ELSE 0 END
                ), zone
            ) END;
        WHEN 'stretch' THEN
            RETURN _pgrecall.recurring_range(NULL, v[1]::integer, NULL, months, anchor, zone);
        WHEN 'which stretch' THEN
            RETURN _pgrecall.recurring_range(v[1], v[2]::integer, NULL, months, anchor, zone);
        WHEN 'stretch year' THEN
            RETURN _pgrecall.dated_range(v[2]::integer, v[1]::integer, NULL, months, zone);
        WHEN 'stretch which unit' THEN  -- March last year
            RETURN CASE WHEN v[3] = 'year' THEN _pgrecall.dated_range(
                _pgrecall.year_of(v[2], anchor, zone), v[1]::integer, NULL, months, zone
            ) END;
        WHEN 'year stretch' THEN
            RETURN _pgrecall.dated_range(v[1]::integer, v[2]::integer, NULL, months, zone);
        WHEN 'year' THEN
            RETURN _pgrecall.dated_range(v[1]::integer, 1, NULL, 12, zone);
        WHEN 'decade' THEN
            RETURN _pgrecall.dated_range(v[1]::integer, 1, NULL, 120, zone);
        ELSE
            IF months IS DISTINCT FROM 1 THEN
                RETURN NULL;  -- only a month has numbered days
            END IF;
    END CASE;
    CASE shape
        WHEN 'stretch number' THEN
            RETURN _pgrecall.recurring_range(NULL, v[1]::integer, v[2]::integer, 1, anchor, zone);
        WHEN 'number stretch' THEN
            RETURN _pgrecall.recurring_range(NULL, v[2]::integer, v[1]::integer, 1, anchor, zone);
        WHEN 'stretch number year' THEN
            RETURN _pgrecall.dated_range(v[3]::integer, v[1]::integer, v[2]::integer, 1, zone);
        WHEN 'number stretch year' THEN
            RETURN _pgrecall.dated_range(v[3]::integer, v[2]::integer, v[1]::integer, 1, zone);
        WHEN 'stretch number which unit' THEN
            RETURN CASE WHEN v[4] = 'year' THEN _pgrecall.dated_range(
                _pgrecall.year_of(v[3], anchor, zone), v[1]::integer, v[2]::integer, 1, zone
            ) END;
        WHEN 'number stretch which unit' THEN
            RETURN CASE WHEN v[4] = 'year' THEN _pgrecall.dated_range(
                _pgrecall.year_of(v[3], anchor, zone), v[2]::integer, v[1]::integer, 1, zone
            ) END;
        ELSE
            RETURN NULL;
    END CASE;
END
$function$;
