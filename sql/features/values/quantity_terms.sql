-- Returns the lexemes of a quantity or a sum of money, in the unit it is measured in: =q6000g for 6kg, 6 kilos and 6,000 grams.
--
-- unit   an entry of unit_names()
-- scale  what the number is multiplied with
CREATE OR REPLACE FUNCTION _pgrecall.quantity_terms(digits text, unit jsonb, scale numeric)
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT array_agg('=q' || trim_scale(n.value * scale * (unit ->> p.place)::numeric)::text || (unit ->> (p.place - 1)))
    FROM unnest(_pgrecall.read_number(digits)) n (value)
    CROSS JOIN generate_series(1, jsonb_array_length(unit) - 1, 2) p (place);
END;
