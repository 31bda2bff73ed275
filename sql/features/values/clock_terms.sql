-- Returns the lexemes of a time of day: =t10:30; both halves of the day if it does not tell. Empty if there is no such time.
--
-- half  a, p, or NULL: not told; an hour above 12 or with a zero before it tells
CREATE OR REPLACE FUNCTION _pgrecall.clock_terms(hour text, minute text, half text)
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN hour::integer > 24 OR minute::integer > 59 OR length(minute) <> 2
         OR (half IS NOT NULL AND hour::integer NOT BETWEEN 1 AND 12) THEN '{}'
    WHEN half IS NOT NULL
        THEN ARRAY['=t' || lpad((hour::integer % 12 + CASE half WHEN 'p' THEN 12 ELSE 0 END)::text, 2, '0') || ':' || minute]
    WHEN hour::integer BETWEEN 1 AND 12 AND hour NOT LIKE '0%'
        THEN ARRAY['=t' || lpad(hour, 2, '0') || ':' || minute, '=t' || ((hour::integer + 12) % 24)::text || ':' || minute]
    ELSE ARRAY['=t' || lpad((hour::integer % 24)::text, 2, '0') || ':' || minute]
END;
