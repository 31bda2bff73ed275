-- Writes the years of other eras as common ones, and Thai months in full: 令和8年 becomes 2026年, 民國115年 2026年, 9 ธ.ค. 2569
-- 9 ธันวาคม 2026, and in Thai 9/12/2569 9.12.2026.
--
-- Chinese numerals are read before (read_numerals); only 元年, the first year, has none.
CREATE OR REPLACE FUNCTION _pgrecall.common_dates(content text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    short CONSTANT text[] := '{ม.ค.,ก.พ.,มี.ค.,เม.ย.,พ.ค.,มิ.ย.,ก.ค.,ส.ค.,ก.ย.,ต.ค.,พ.ย.,ธ.ค.}'::text[];
    months CONSTANT text[] := '{มกราคม,กุมภาพันธ์,มีนาคม,เมษายน,พฤษภาคม,มิถุนายน,กรกฎาคม,สิงหาคม,กันยายน,ตุลาคม,พฤศจิกายน,ธันวาคม}'::text[];
    plain text := content;
    era text;
    year text;
BEGIN
    IF octet_length(plain) = length(plain) THEN
        RETURN plain;
    END IF;
    IF plain LIKE ANY ('{%令和%,%平成%,%昭和%,%民國%,%民国%}'::text[]) THEN
        FOR era, year IN
            SELECT DISTINCT m.part[1], m.part[2]
            FROM regexp_matches(plain, '(令和|平成|昭和|民國|民国) ?(\d{1,3}|元)(?=年)', 'g') AS m (part)
        LOOP
            plain := regexp_replace(
                plain, era || ' ?' || year || '(?=年)',
                (CASE WHEN year = '元' THEN 1 ELSE year::integer END
                 + CASE era WHEN '令和' THEN 2018 WHEN '平成' THEN 1988 WHEN '昭和' THEN 1925 ELSE 1911 END)::text, 'g'
            );
        END LOOP;
    END IF;
    IF plain ~ '[\u0e01-\u0e2e]' THEN
        IF strpos(plain, '.') > 0 THEN
            FOR place IN 1 .. 12 LOOP
                plain := replace(plain, short[place], months[place]);
            END LOOP;
        END IF;
        -- The Buddhist era is 543 years older. No lookbehind: of many matches, each would read the text from its beginning. Only the
        -- first thirty years are read, each of which goes through the text.
        FOR year IN
            SELECT m.part[1]
            FROM regexp_matches(' ' || plain, '\D(2[4-6]\d\d)(?!\d)', 'g') WITH ORDINALITY AS m (part, place)
            GROUP BY m.part[1]
            ORDER BY min(m.place)
            LIMIT 30
        LOOP
            plain := regexp_replace(
                plain, '(?:พ\.ศ\. ?|(ยน ?|คม ?|พันธ์ ?|ปี ?))' || year || '(?!\d)', '\1' || (year::integer - 543), 'g'
            );
            plain := regexp_replace(
                plain, '(^|[^\d/.-])(\d{1,2})[/.-](\d{1,2})[/.-]' || year || '(?!\d)', '\1\2.\3.' || (year::integer - 543), 'g'
            );
        END LOOP;
    END IF;
    RETURN plain;
END
$function$;
