-- Returns the length of a unit of time_words(); a weekend recurs once a week.
CREATE OR REPLACE FUNCTION _pgrecall.unit_length(unit text)
RETURNS interval
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE unit
    WHEN 'quarter' THEN interval '3 months'
    WHEN 'decade' THEN interval '10 years'
    WHEN 'weekend' THEN interval '1 week'
    ELSE ('1 ' || unit)::interval
END;
