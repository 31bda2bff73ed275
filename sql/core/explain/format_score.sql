-- Formats a number for an explanation, with up to eight decimal places, so that the parts still add up.
CREATE OR REPLACE FUNCTION _pgrecall.format_score(number double precision)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN trim_scale(round(number::numeric, 8))::text;
