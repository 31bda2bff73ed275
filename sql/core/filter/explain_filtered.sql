-- Returns the first condition of a filter that excludes a memory; NULL if none does.
--
-- It calls matches_filter() with one condition after the other, in the order of recall_conditions, so the filters are defined in
-- one place only. The text reveals nothing about the memory except its successor.
CREATE OR REPLACE FUNCTION _pgrecall.explain_filtered(memory pgrecall.memories, filter pgrecall.recall_filter)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    tested pgrecall.recall_filter;
    unlimited pgrecall.memories := memory;
BEGIN
    -- The end of its validity is tested last, with the time that is asked for.
    unlimited.valid_to := NULL;
    unlimited.expires_at := NULL;
    tested.include_superseded := true;
    IF _pgrecall.matches_filter(unlimited, tested) IS NOT TRUE THEN
        RETURN 'forgotten';
    ELSIF memory.expires_at <= now() THEN
        RETURN 'expired at ' || memory.expires_at;
    END IF;
    -- Set as_of first: it decides whether the memory counts as superseded.
    tested.as_of := filter.as_of;
    IF _pgrecall.matches_filter(unlimited, tested) IS NOT TRUE THEN
        RETURN 'filtered by as_of: recorded later';
    END IF;
    tested.include_superseded := filter.include_superseded;
    IF _pgrecall.matches_filter(unlimited, tested) IS NOT TRUE THEN
        RETURN 'superseded by ' || memory.superseded_by;
    END IF;
    -- The memory passes all conditions before this point, so each remaining one can be tested without the others.
    RETURN COALESCE((
        WITH condition AS MATERIALIZED (
            SELECT a.attname AS name, a.attnum AS place
            FROM pg_catalog.pg_attribute a
            WHERE a.attrelid = 'pgrecall.recall_conditions'::regclass
        )
        SELECT 'filtered by ' || c.name
        FROM condition c
        CROSS JOIN LATERAL (
            SELECT jsonb_object_agg(o.name, NULL) AS names FROM condition o
            WHERE o.name NOT IN (c.name, 'as_of', 'include_superseded')
        ) others
        WHERE _pgrecall.matches_filter(unlimited, jsonb_populate_record(filter, others.names)) IS NOT TRUE
        ORDER BY c.place
        LIMIT 1
    ), CASE WHEN _pgrecall.matches_filter(memory, filter) IS NOT TRUE THEN 'valid until ' || memory.valid_to END);
END
$function$;
