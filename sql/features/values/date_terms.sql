-- Returns the lexemes of a date: of its day, its month if a year is known, and the day alone; empty if there is no such day.
--
--   =12-09  9 December;  =2026-12  December 2026;  =m12  December, written as a number;  =o9  the 9th
--
-- year        two digits are of this century; NULL: unknown
-- day         NULL: a month
-- is_numeric  the month was written as a number, so no word of the text names it
CREATE OR REPLACE FUNCTION _pgrecall.date_terms(year text, month text, day text, is_numeric boolean)
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN month::integer NOT BETWEEN 1 AND 12 OR (length(year) = 4 AND year NOT BETWEEN '1800' AND '2199')
         OR day::integer NOT BETWEEN 1 AND CASE WHEN month::integer = 2 THEN 29 WHEN month::integer IN (4, 6, 9, 11) THEN 30 ELSE 31 END
    THEN '{}'
    ELSE array_remove(ARRAY[
        '=' || lpad(month, 2, '0') || '-' || lpad(day, 2, '0'),
        '=' || CASE WHEN length(year) = 2 THEN '20' ELSE '' END || year || '-' || lpad(month, 2, '0'),
        CASE WHEN is_numeric THEN '=m' || ltrim(month, '0') END,
        '=o' || ltrim(day, '0')
    ], NULL)
END;
