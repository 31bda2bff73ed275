-- Why a memory may not be recalled under a filter: the first of its conditions that leaves it out; NULL if none does.
--
-- It asks matches() with one condition more each time, so that there is one meaning of every filter. Nothing of the
-- memory is told but the successor.
CREATE OR REPLACE FUNCTION pgrecall.filtered_by(memory pgrecall.memories, filter pgrecall.recall_filter)
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    asked pgrecall.recall_filter;
BEGIN
    asked.include_superseded := true;
    IF pgrecall.matches(memory, asked) IS NOT TRUE THEN
        RETURN 'forgotten';
    END IF;
    -- What counts as superseded depends on the moment.
    asked.as_of := filter.as_of;
    IF pgrecall.matches(memory, asked) IS NOT TRUE THEN
        RETURN 'filtered by as_of: recorded later';
    END IF;
    asked.include_superseded := filter.include_superseded;
    IF pgrecall.matches(memory, asked) IS NOT TRUE THEN
        RETURN 'superseded by ' || memory.superseded_by;
    END IF;
    asked.include_sensitive := filter.include_sensitive;
    IF pgrecall.matches(memory, asked) IS NOT TRUE THEN
        RETURN 'filtered by include_sensitive';
    END IF;
    asked.categories := filter.categories;
    IF pgrecall.matches(memory, asked) IS NOT TRUE THEN
        RETURN 'filtered by categories';
    END IF;
    asked.tags_any := filter.tags_any;
    IF pgrecall.matches(memory, asked) IS NOT TRUE THEN
        RETURN 'filtered by tags_any';
    END IF;
    asked.tags_all := filter.tags_all;
    IF pgrecall.matches(memory, asked) IS NOT TRUE THEN
        RETURN 'filtered by tags_all';
    END IF;
    asked.metadata_contains := filter.metadata_contains;
    IF pgrecall.matches(memory, asked) IS NOT TRUE THEN
        RETURN 'filtered by metadata_contains';
    END IF;
    asked.since := filter.since;
    IF pgrecall.matches(memory, asked) IS NOT TRUE THEN
        RETURN 'filtered by since';
    END IF;
    asked.until := filter.until;
    IF pgrecall.matches(memory, asked) IS NOT TRUE THEN
        RETURN 'filtered by until';
    END IF;
    asked.timeframe := filter.timeframe;
    asked.referring := filter.referring;
    IF pgrecall.matches(memory, asked) IS NOT TRUE THEN
        RETURN 'filtered by timeframe';
    END IF;
    RETURN NULL;
END
$function$;

COMMENT ON FUNCTION pgrecall.filtered_by IS
    'Why a memory may not be recalled under a filter: its first condition that leaves the memory out; NULL if none does.';
