-- Returns a pattern of a month (1) with a year of two digits (2) behind an apostrophe: dec '26.
CREATE OR REPLACE FUNCTION _pgrecall.short_years()
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT '\m((?:' || string_agg(n.name, '|' ORDER BY n.name) || ')\.?) ?[''’](\d\d)\M'
    FROM jsonb_object_keys(_pgrecall.month_names()) n (name);
END;
