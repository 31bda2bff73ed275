-- Writes Chinese numerals before units and in dates as numbers: 下午三点半 becomes 下午3点半, 二〇二六年五月 2026年5月, 三百元 300元.
CREATE OR REPLACE FUNCTION _pgrecall.read_numerals(content text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    -- 星期三十点 is Wednesday at ten.
    plain text := regexp_replace(content, '(星期|[周週]|[礼禮]拜|[这這上下]周)([一二三四五六日天])', '\1\2 ', 'g');
    numeral text;
    counted text;
    letter text;
    digit integer;
    total integer;
BEGIN
    FOR numeral, counted IN
        SELECT f.numeral, f.counted
        FROM (
            SELECT DISTINCT COALESCE(m.part[1], m.part[3]) AS numeral, COALESCE(m.part[2], m.part[4]) AS counted
            FROM regexp_matches(plain, _pgrecall.numerals(), 'g') AS m (part)
        ) f
        ORDER BY length(f.numeral) DESC  -- 十二点 before 二点
    LOOP
        IF numeral ~ '^[一二三四五六七八九〇零]{2,}$' THEN
            -- 二〇二六年 is a year, 三四年 three or four.
            IF length(numeral) = 4 AND counted = '年' THEN
                plain := replace(plain, numeral || counted, translate(numeral, '〇零一二三四五六七八九', '00123456789') || counted);
            END IF;
            CONTINUE;
        END IF;
        digit := 0;
        total := 0;
        FOREACH letter IN ARRAY string_to_array(numeral, NULL) LOOP
            IF letter IN ('十', '百', '千') THEN
                total := total + greatest(digit, 1) * CASE letter WHEN '十' THEN 10 WHEN '百' THEN 100 ELSE 1000 END;
                digit := 0;
            ELSE
                digit := translate(letter, '〇零一二两兩三四五六七八九', '0012223456789')::integer;
            END IF;
        END LOOP;
        plain := replace(plain, numeral || counted, (total + digit)::text || counted);
    END LOOP;
    RETURN plain;
END
$function$;
