-- Returns the range of one phrase such as "last week", "two days ago" or "March 3rd 2024". NULL if it cannot be parsed.
--
-- time_words() gives each word a kind and a value. The sequence of kinds, the phrase's shape, selects how shape_range()
-- reads the values. There is no other grammar, and no pattern with unbounded matching time.
--
-- phrase  in lower case, single spaces, without articles
CREATE OR REPLACE FUNCTION _pgrecall.phrase_range(phrase text, anchor timestamptz, zone text)
RETURNS tstzrange
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    known CONSTANT jsonb := _pgrecall.time_words();
    words text[] := string_to_array(phrase, ' ');
    kinds text[] := '{}'::text[];
    v text[] := '{}'::text[];
    months integer;
    size integer;
    entry jsonb;
    shape text;  -- of a number, with d for each digit
    day tstzrange;
BEGIN
    IF COALESCE(cardinality(words), 0) NOT BETWEEN 1 AND 8 THEN
        RETURN NULL;
    END IF;
    FOR place IN 1 .. cardinality(words) LOOP
        entry := known -> words[place];
        IF entry IS NULL AND words[place] ~ '^\d{1,4}(st|nd|rd|th|s)?$' THEN
            shape := translate(words[place], '0123456789', 'dddddddddd');
            entry := CASE
                WHEN shape = 'dddd' AND left(words[place], 1) IN ('1', '2') THEN jsonb_build_array('year', words[place])
                WHEN shape = 'dddds' AND words[place] LIKE ANY ('{1__0s,2__0s}'::text[]) 
                    THEN jsonb_build_array('decade', left(words[place], 4))
                WHEN words[place] IN ('50s', '60s', '70s', '80s', '90s')
                    THEN jsonb_build_array('decade', '19' || left(words[place], 2))
                WHEN shape NOT LIKE '%ds' THEN jsonb_build_array('number', rtrim(words[place], 'stndrh'))
            END;
        ELSIF entry ->> 0 = 'stretch' THEN
            months := (entry ->> 2)::integer;
        END IF;
        kinds[place] := COALESCE(entry ->> 0, 'other');
        v[place] := entry ->> 1;
    END LOOP;
    -- Drop a leading "in" or similar, except in "in two days".
    WHILE kinds[1] = 'lead' OR (kinds[1] = 'in' AND array_to_string(kinds, ' ') <> 'in number unit') LOOP
        words := words[2:];
        kinds := kinds[2:];
        v := v[2:];
    END LOOP;

    size := cardinality(kinds);
    IF size > 1 AND kinds[1] = 'third' THEN
        RETURN _pgrecall.third_range(v[1]::integer, CASE
            WHEN kinds[2:] IN ('{unit}', '{in,unit}') THEN _pgrecall.unit_range(v[size], 0, anchor, zone)  -- the end of the month
            ELSE _pgrecall.phrase_range(array_to_string(words[2:], ' '), anchor, zone)
        END, zone);
    ELSIF size > 1 AND kinds[1] = 'around' THEN
        day := _pgrecall.phrase_range(array_to_string(words[2:], ' '), anchor, zone);
        RETURN CASE
            WHEN upper(day) - lower(day) BETWEEN interval '20 hours' AND interval '28 hours'
                THEN _pgrecall.unit_range(v[1], 0, lower(day), zone)
        END;
    ELSIF size > 1 AND kinds[size] = 'part' THEN
        day := CASE
            WHEN size = 2 AND kinds[1] = 'which'
                THEN _pgrecall.unit_range('day', CASE v[1] WHEN 'this' THEN 0 WHEN 'next' THEN 1 ELSE -1 END, anchor, zone)
            ELSE _pgrecall.phrase_range(array_to_string(words[:size - 1], ' '), anchor, zone)
        END;
        RETURN _pgrecall.day_part_range(words[size], day, zone);
    ELSIF 'other' = ANY (kinds) THEN
        RETURN _pgrecall.iso_range(array_to_string(words, ' '), anchor, zone);
    ELSIF size > 2 AND kinds[1] = 'weekday' AND kinds[2] IN ('stretch', 'number') THEN  -- "Monday, March 3rd"
        kinds := kinds[2:];
        v := v[2:];
    END IF;
    RETURN _pgrecall.shape_range(array_to_string(kinds, ' '), v, months, anchor, zone);
END
$function$;
