-- Returns the year before, of or after the anchor's: "last year", "this year", "next year".
--
-- which  of time_words()
CREATE OR REPLACE FUNCTION _pgrecall.year_of(which text, anchor timestamptz, zone text)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN date_part('year', anchor AT TIME ZONE zone)::integer
     + CASE which WHEN 'this' THEN 0 WHEN 'next' THEN 1 ELSE -1 END;
