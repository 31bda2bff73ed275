-- Returns a pattern of a Chinese numeral (1) with what is counted after it (2), of minutes (3, 4) after an hour, or of what follows
-- ten thousands or stands alone from a thousand on (5): 三点, 五公斤, the 二千 of 一万二千.
--
-- Only before a unit, a scale or a part of a date: 一 alone is often no number, 十分 means "very", 一卡 a card. In 5千克 a digit
-- counts the thousands.
CREATE OR REPLACE FUNCTION _pgrecall.numerals()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT '((?:[一二两兩三四五六七八九〇零]|(?<![0-9] ?)[十百千])[一二两兩三四五六七八九十百千〇零]{0,8})'
        || '([月日号號点點时時年万萬億亿]|'
        || string_agg(u.name || CASE u.name WHEN '米' THEN '(?!国)' WHEN '元' THEN '(?![素旦首化论論次])' ELSE '' END, '|' ORDER BY u.name)
        || ')|(?<=[点點时時])([一二三四五六七八九十]{1,3})(分)'
        -- Alone a last digit counts the tenth of what is before it (一万二 is 12,000), but in 三万五个人 five are counted.
        || '|((?<=[0-9一二两兩三四五六七八九十百千][万萬億亿])[一二两兩三四五六七八九零〇][一二三四五六七八九十百千零〇]+'
        || '|(?:(?<=[0-9一二两兩三四五六七八九十百千][万萬億亿])|[一二两兩三四五六七八九]千)[二三四五六七八九](?=[块塊]|[^\u3041-\u9fff]|$))'
    FROM jsonb_object_keys(_pgrecall.unit_names()) u (name)
    WHERE u.name ~ '^[\u3041-\u9fff]+$' AND u.name NOT IN ('分', '卡');
END;
