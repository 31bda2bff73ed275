-- Returns a pattern of a Chinese numeral (1) with what is counted after it (2), or of minutes (3, 4) after an hour: 三点, 五公斤.
--
-- Only before a unit, a scale or a part of a date: 一 alone is often no number, and 十分 means "very".
CREATE OR REPLACE FUNCTION _pgrecall.numerals()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '([一二两兩三四五六七八九十百千〇零]{1,9})'
    '([月日号號点點时時秒年万萬億亿斤円]|公斤|千克|公里|千米|厘米|毫米|米(?!国)|毫升|升|[个個]?小[时時]|分[钟鐘間]|[美欧日港]?元(?![素旦首])'
    '|块钱|塊錢|人民[币幣]|ドル|ユーロ|キロ|平方?米)'
    '|(?<=[点點时時])([一二三四五六七八九十]{1,3})(分)';
