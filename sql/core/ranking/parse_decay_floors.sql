-- Parses the setting decay_floors ('person=0.3, place=0.3') into a JSON object of floors by category.
CREATE OR REPLACE FUNCTION _pgrecall.parse_decay_floors(decay_floors text)
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN COALESCE((
    SELECT jsonb_object_agg(btrim(split_part(item, '=', 1)), split_part(item, '=', 2)::double precision)
    FROM string_to_table(decay_floors, ',') item
), '{}');
