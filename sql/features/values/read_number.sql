-- Returns what a number with points or commas may mean: 1,500 is fifteen hundred or one and a half. NULL if it is none.
--
-- A sign that occurs twice, or before another one, separates thousands, in India also lakhs and crores: 12,50,000. With three
-- digits after it, it may be either.
CREATE OR REPLACE FUNCTION _pgrecall.read_number(digits text)
RETURNS numeric[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN ltrim(digits, '0123456789') = '' AND length(digits) BETWEEN 1 AND 15 THEN ARRAY[digits::numeric]
    WHEN translate(digits, '0123456789', '') IN ('.', ',') THEN CASE
        WHEN digits ~ '^\d{1,3}[.,]\d{3}$' THEN array_cat(
            ARRAY[translate(digits, '.,', '')::numeric], CASE WHEN digits NOT LIKE '0%' THEN ARRAY[replace(digits, ',', '.')::numeric] END
        )
        WHEN digits ~ '^\d{1,15}[.,]\d{1,9}$' THEN ARRAY[replace(digits, ',', '.')::numeric]
    END
    WHEN digits ~ '^\d{1,3}(?:[., ]\d{3})+$|^\d{1,2}(?:,\d{2})+,\d{3}$' THEN ARRAY[translate(digits, '., ', '')::numeric]
    WHEN digits ~ '^\d{1,3}(?:[., ]\d{3})+[.,]\d{1,6}$|^\d{1,2}(?:,\d{2})+,\d{3}\.\d{1,6}$'
        THEN ARRAY[(translate(regexp_replace(digits, '[.,]\d+$', ''), '., ', '') || '.' || substring(digits, '\d+$'))::numeric]
END;
