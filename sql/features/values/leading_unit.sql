-- Returns the unit at the beginning of a word of Chinese, Japanese or Korean, which write no space after it: 公斤 of 公斤左右.
-- Other words, and those that begin with none, are returned unchanged.
--
-- units  unit_names()
CREATE OR REPLACE FUNCTION _pgrecall.leading_unit(word text, units jsonb)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN word ~ '^[\u3041-\u9fff\uac00-\ud7a3]{2}'
        THEN COALESCE((
            SELECT left(word, n.length) FROM generate_series(7, 1, -1) n (length) WHERE units ? left(word, n.length) LIMIT 1
        ), word)
    ELSE word
END;
