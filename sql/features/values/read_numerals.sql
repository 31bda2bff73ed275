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
    last integer;  -- what a digit at the end counts: 八千五 is 8,500, 八千零五 8,005
    is_rest boolean;
BEGIN
    FOR numeral, counted, is_rest IN
        SELECT f.numeral, f.counted, f.is_rest
        FROM (
            SELECT DISTINCT COALESCE(m.part[1], m.part[3], m.part[5]) AS numeral, COALESCE(m.part[2], m.part[4], '') AS counted,
                   m.part[5] IS NOT NULL AS is_rest
            FROM regexp_matches(plain, _pgrecall.numerals(), 'g') AS m (part)
        ) f
        ORDER BY length(f.numeral) DESC  -- 十二点 before 二点
    LOOP
        IF numeral ~ '^[一二三四五六七八九〇零]{2,}$' AND NOT (is_rest AND numeral ~ '^[〇零].$') THEN
            -- 二〇二六年 is a year, 三四年 three or four.
            IF length(numeral) = 4 AND counted = '年' THEN
                plain := replace(plain, numeral || counted, translate(numeral, '〇零一二三四五六七八九', '00123456789') || counted);
            END IF;
            CONTINUE;
        END IF;
        digit := 0;
        total := 0;
        last := 1;
        FOREACH letter IN ARRAY string_to_array(numeral, NULL) LOOP
            IF letter IN ('十', '百', '千') THEN
                last := CASE letter WHEN '十' THEN 1 WHEN '百' THEN 10 ELSE 100 END;
                total := total + greatest(digit, 1) * CASE letter WHEN '十' THEN 10 WHEN '百' THEN 100 ELSE 1000 END;
                digit := 0;
            ELSE
                digit := translate(letter, '〇零一二两兩三四五六七八九', '0012223456789')::integer;
                last := CASE WHEN digit > 0 THEN last ELSE 1 END;
            END IF;
        END LOOP;
        IF is_rest THEN
            -- 一万二千 is 1万2000 and 一万零五 1万0005, but 一万二 1万2 and 八千五 8千5: spell_values() goes on from there.
            plain := regexp_replace(
                plain, CASE WHEN numeral !~ '^.千.$' THEN '(?<=[万萬億亿])' ELSE '' END
                    || numeral || '(?![一二两兩三四五六七八九十百千万萬億亿零〇])',
                CASE WHEN numeral ~ '^.千.$' THEN total / 1000 || '千' || digit
                     WHEN total > 0 OR numeral ~ '^[零〇]' THEN lpad((total + digit * last)::text, 4, '0')
                     ELSE digit::text END, 'g'
            );
        ELSE
            plain := replace(plain, numeral || counted, (total + digit * last)::text || counted);
        END IF;
    END LOOP;
    RETURN plain;
END
$function$;
