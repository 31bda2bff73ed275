-- Returns an English text with each of its days written as a number beside its own month: "the fourth of July" becomes "4 july",
-- "between 1 and 5 November" becomes "between 1 november and 5 november".
--
-- Alone, the second of two days would pass for the whole period.
--
-- text  in lower case
CREATE OR REPLACE FUNCTION _pgrecall.whole_dates(text text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    month CONSTANT text := _pgrecall.month_pattern();
    day CONSTANT text := '(\d{1,2})(?:st|nd|rd|th|\.)?';
    joined CONSTANT text := ' ?(and|to|until|till|through|[-\u2013]) ?(?:the )?';
    year CONSTANT text := '((?:,? (?:of )?(?:19|20)\d\d)?)\M';
    names CONSTANT text[] := '{
        first,second,third,fourth,fifth,sixth,seventh,eighth,ninth,tenth,eleventh,twelfth,thirteenth,fourteenth,fifteenth,sixteenth,
        seventeenth,eighteenth,nineteenth,twentieth,twenty-first,twenty-second,twenty-third,twenty-fourth,twenty-fifth,twenty-sixth,
        twenty-seventh,twenty-eighth,twenty-ninth,thirtieth,thirty-first}'::text[];
    dated text := text;
    name text;
BEGIN
    IF dated LIKE ANY ('{%first%,%second%,%third%,%fourth%,%fifth%,%sixth%,%enth%,%eighth%,%ninth%,%elfth%,%tieth%}'::text[]) THEN
        -- The longer names end with the shorter ones. A "first March meeting" and what somebody "may second" are no days.
        FOR place IN REVERSE 31 .. 1 LOOP
            name := replace(names[place], '-', '[- ]');
            CONTINUE WHEN dated !~ name;
            dated := regexp_replace(dated, '\m' || name || ' of (?=' || month || '\M)', place || ' ', 'g');
            dated := regexp_replace(
                dated,
                '(^(?=\S+ \S+$)|\m(?:on|since|until|till|by|before|after|from|to|and|between) |(?!may|march)(?=' || month || '))(' || month
                || ') (?:the )?' || name || '\M(?! (?:quarter|half|week|month|day|time|place|edition|version|part))',
                '\1\2 ' || place, 'g'
            );
        END LOOP;
    END IF;
    IF dated LIKE ANY ('{% to %,% and %,% until %,% till %,% through %,%-%,%–%}'::text[])
       AND dated LIKE ANY ('{%jan%,%feb%,%mar%,%apr%,%may%,%jun%,%jul%,%aug%,%sep%,%oct%,%nov%,%dec%}'::text[]) THEN
        dated := regexp_replace(
            dated, '(?<![\w.,/:-])' || day || joined || day || ' (?:of )?(' || month || ')' || year, '\1 \4\5 \2 \3 \4\5', 'g'
        );
        -- After the month, "and 5" may count something else.
        dated := regexp_replace(
            dated,
            '(?:(?<=\mbetween )(?=\S+ \S+ and )|(?!\S+ \S+ and ))\m(' || month || ') ' || day || joined || day
            || '(?![\d/:.-]*\d| ?[ap]\.?m\M| (?:of )?' || month || '\M)' || year,
            '\1 \2\5 \3 \1 \4\5', 'g'
        );
        dated := regexp_replace(dated, '(?<=\d) [-\u2013] (?=' || month || ' \d|\d{1,2} ' || month || ')', ' to ', 'g');
    END IF;
    RETURN dated;
END
$function$;
