-- Returns what a number with points or commas may mean: 1,500 is fifteen hundred or one and a half. NULL if it is none.
--
-- A sign that occurs twice, or before another one, separates thousands, in India also lakhs and crores: 12,50,000. With three
-- digits after it, it may be either.
CREATE OR REPLACE FUNCTION _pgrecall.read_number(digits text)
RETURNS numeric[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN digits ~ '^\d{1,15}$' THEN ARRAY[digits::numeric]
    WHEN digits ~ '^[1-9]\d?\d?[.,]\d{3}$' THEN ARRAY[translate(digits, '.,', '')::numeric, replace(digits, ',', '.')::numeric]
    WHEN digits ~ '^\d{1,3}(?:[., ]\d{3})+$|^\d{1,2}(?:,\d{2})+,\d{3}$' THEN ARRAY[translate(digits, '., ', '')::numeric]
    WHEN digits ~ '^\d{1,3}(?:[., ]\d{3})+[.,]\d{1,6}$|^\d{1,2}(?:,\d{2})+,\d{3}\.\d{1,6}$'
        THEN ARRAY[(translate(regexp_replace(digits, '[.,]\d+$', ''), '., ', '') || '.' || substring(digits, '\d+$'))::numeric]
    WHEN digits ~ '^\d{1,15}[.,]\d{1,9}$' THEN ARRAY[replace(digits, ',', '.')::numeric]
END;
