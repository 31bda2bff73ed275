-- A number as an explanation writes it: with up to eight decimal places, so that what is written still adds up.
CREATE OR REPLACE FUNCTION _pgrecall.format_score(number double precision)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN trim_scale(round(number::numeric, 8))::text;

COMMENT ON FUNCTION _pgrecall.format_score IS 'A number with up to eight decimal places.';
