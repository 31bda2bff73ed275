-- Returns the lexemes of a quantity or a sum of money, in the unit it is measured in: =q6000g for 6kg, 6 kilos and 6,000 grams.
--
-- A sum from a thousand on has one without its currency too, for people say 120k and 12万: =q120000USD and =q120000.
--
-- unit   an entry of unit_names()
-- scale  what the number is multiplied with
CREATE OR REPLACE FUNCTION _pgrecall.quantity_terms(digits text, unit jsonb, scale numeric)
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT array_agg('=q' || trim_scale(n.value * scale * (unit ->> p.place)::numeric)::text || CASE WHEN b.is_bare THEN '' ELSE u.name END)
    FROM unnest(_pgrecall.read_number(digits)) n (value)
    CROSS JOIN generate_series(1, jsonb_array_length(unit) - 1, 2) p (place)
    CROSS JOIN LATERAL (SELECT unit ->> (p.place - 1)) u (name)
    CROSS JOIN (VALUES (false), (true)) b (is_bare)
    WHERE NOT b.is_bare OR ((u.name = 'kr' OR (length(u.name) = 3 AND upper(u.name) = u.name)) AND n.value * scale >= 1000);
END;
