-- Returns the other notations of the names and numbers in a query, as words: Monday is also Mon and Montag, volume V volume 5.
--
-- Only queries are expanded: a memory that has the query's own word gains nothing, and memories without digits need no
-- lexemes of their own.
--
-- query  in small letters, without accents; a name that is also another word has an opener before it
CREATE OR REPLACE FUNCTION _pgrecall.value_synonyms(query text)
RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    months CONSTANT jsonb := _pgrecall.month_names();
    weekdays CONSTANT jsonb := _pgrecall.weekday_names();
    numbers CONSTANT jsonb := _pgrecall.number_names();
    words CONSTANT text[] := regexp_split_to_array(query, '[^[:alnum:]_]+');
    found text[] := '{}'::text[];
    part text[];
    value text;
BEGIN
    -- A session keeps 32 patterns compiled, and a recall needs most of them: each of these waits for a cheaper sign.
    FOR part IN
        SELECT m.part FROM regexp_matches(
            CASE WHEN EXISTS (
                SELECT FROM unnest(words) w (word) WHERE left(ltrim(w.word, '0123456789_'), 3) = ANY (_pgrecall.value_starts())
            ) THEN query END,
            '(\m(?:in|on|of|by|every|each|next|last|this|since|until|till|from|to'
            '|early|mid|late|im|am|en|em|el|le|il|op|na|в|во|\d\d?(?:st|nd|rd|th)?)[ ,-]+)?'
            '(?<![[:alpha:]])([[:alpha:]]{3,}(?:-feira)?)\M(\.?,? \d)?', 'g'
        ) AS m (part)
    LOOP
        CONTINUE WHEN part[1] IS NULL AND part[3] IS NULL AND part[2] = ANY (_pgrecall.ambiguous_names());
        IF right(part[2], 1) = 's' AND NOT (months ? part[2] OR weekdays ? part[2]) THEN
            part[2] := left(part[2], -1);
        END IF;
        value := months ->> part[2];
        IF value IS NOT NULL THEN
            found := found || ('=m' || value) || ARRAY(
                SELECT n.name FROM jsonb_each_text(months) n (name, number)
                WHERE n.number = value AND n.name <> part[2] AND n.name <> ALL (_pgrecall.ordinary_names())
            );
        ELSE
            value := weekdays ->> part[2];
            found := found || ARRAY(
                SELECT n.name FROM jsonb_each_text(weekdays) n (name, number)
                WHERE n.number = value AND n.name <> part[2] AND n.name <> ALL (_pgrecall.ordinary_names())
            );
        END IF;
    END LOOP;
    -- fifth, 5th
    found := found || ARRAY(
        SELECT unnest(ARRAY[n.number || CASE n.number WHEN '1' THEN 'st' WHEN '2' THEN 'nd' WHEN '3' THEN 'rd' ELSE 'th' END, n.names ->> 0]
                      || CASE WHEN n.number::integer > 3 THEN ARRAY[n.number] END)
        FROM jsonb_each(numbers) n (number, names)
        WHERE words && ARRAY[n.names ->> 0, n.number || 'st', n.number || 'nd', n.number || 'rd', n.number || 'th']
          AND (n.number <> '2' OR NOT words && '{second,seconds}'::text[])
    );
    -- volume V, chapter five, part 2
    FOR part IN
        SELECT m.part FROM regexp_matches(
            CASE WHEN words && _pgrecall.numbered_nouns() THEN query END,
            '\m(?:' || array_to_string(_pgrecall.numbered_nouns(), '|') || ')\.? ([ivx]{1,5}|\d\d?|[a-z]{3,9})\M', 'g'
        ) AS m (part)
    LOOP
        found := found || ARRAY(
            SELECT unnest(ARRAY[n.number, n.names ->> 1, n.names ->> 2])
            FROM jsonb_each(numbers) n (number, names)
            WHERE part[1] IN (n.number, n.names ->> 1, n.names ->> 2)
        );
    END LOOP;
    -- 3.4, 3.40
    found := found || ARRAY(
        SELECT unnest(ARRAY[trim_scale(d.value)::text, round(d.value, greatest(2, min_scale(d.value)))::text])
        FROM regexp_matches(
            CASE WHEN translate(query, '0123456789,', 'dddddddddd.') LIKE '%d.d%' THEN query END,
            '(?<![\d.,])(\d{1,9}[.,]\d\d?)(?!\d|[.,]\d)', 'g'
        ) AS m (part)
        CROSS JOIN LATERAL (SELECT replace(m.part[1], ',', '.')::numeric AS value) d
    );
    RETURN found;
END
$function$;
