-- Why a memory may not be recalled under a filter: the first of its conditions that leaves it out; NULL if none does.
--
-- It asks matches() for one condition after the other, so that there is one meaning of every filter. Nothing of the
-- memory is told but the successor.
CREATE OR REPLACE FUNCTION _pgrecall.explain_filtered(memory pgrecall.memories, filter pgrecall.recall_filter)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    given jsonb := to_jsonb(filter);
    asked pgrecall.recall_filter;
BEGIN
    asked.include_superseded := true;
    IF _pgrecall.matches_filter(memory, asked) IS NOT TRUE THEN
        RETURN 'forgotten';
    END IF;
    -- What counts as superseded depends on the moment.
    asked.as_of := filter.as_of;
    IF _pgrecall.matches_filter(memory, asked) IS NOT TRUE THEN
        RETURN 'filtered by as_of: recorded later';
    END IF;
    asked.include_superseded := filter.include_superseded;
    IF _pgrecall.matches_filter(memory, asked) IS NOT TRUE THEN
        RETURN 'superseded by ' || memory.superseded_by;
    END IF;
    -- Each alone says the same as all up to it, since those before it let the memory through.
    RETURN (
        SELECT 'filtered by ' || f.name
        FROM unnest(ARRAY[
            'include_sensitive', 'categories', 'tags_any', 'tags_all', 'metadata_contains', 'since', 'until', 'timeframe'
        ]) WITH ORDINALITY f (name, place)
        WHERE _pgrecall.matches_filter(memory, jsonb_populate_record(
            asked, jsonb_build_object(f.name, given -> f.name, 'referring', given -> 'referring')
        )) IS NOT TRUE
        ORDER BY f.place
        LIMIT 1
    );
END
$function$;

COMMENT ON FUNCTION _pgrecall.explain_filtered IS
    'Why a memory may not be recalled under a filter: its first condition that leaves the memory out; NULL if none does.';
