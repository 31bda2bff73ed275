-- Returns a regular expression for days in numbers that do not begin with the year, and for 2024/3/5.
--
-- Of 3/5/2024 a country decides the month: iso_range() reads it only if one reading is a date. With two parts or a short year points make
-- a version as well, and a German word before tells.
CREATE OR REPLACE FUNCTION _pgrecall.numeric_date_pattern()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN '(?<![\d.,/-])\m(?:\d{1,2}(?:\.\d{1,2}\.|/\d{1,2}/|-\d{1,2}-)(?:19|20)\d\d|(?:19|20)\d\d/\d{1,2}/\d{1,2}'
       '|\d{1,2}/\d{1,2}/\d\d)(?![./-]?\d)'
       '|(?<=\m(?:am|vom|bis|zum|den|dem|der|ab|seit) )\d{1,2}\.\d{1,2}(?:\.\d\d(?!\.?\d)|(?=\.(?:\D|$)))';
