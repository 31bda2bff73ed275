-- Builds the filter of a request: from the named arguments of recall() and the others, and from their argument filter.
--
-- The only place that decides what an empty value means: {}, an empty list and '' are no condition, as NULL. A reader has asked
-- for everything then. Who deletes has not: an empty value is more likely the result of a mistake.
--
-- categories … as_of  the conditions that have an argument of their own
-- filter    conditions by name (recall_conditions); one that is NULL or null is not given
-- deleting  the function that deletes what passes; it refuses a condition that every memory meets, and needs one. NULL: none
--
-- Errors  22023 a condition is given twice, or is a null of JSON; deleting, and no condition or one that every memory meets;  those of
--         _pgrecall.check_conditions, _pgrecall.metadata_path and _pgrecall.to_half_open
CREATE OR REPLACE FUNCTION _pgrecall.memory_filter(
    categories text[] DEFAULT NULL, tags_any text[] DEFAULT NULL, tags_all text[] DEFAULT NULL,
    metadata_contains jsonb DEFAULT NULL, metadata_where jsonb DEFAULT NULL, sessions text[] DEFAULT NULL,
    speakers text[] DEFAULT NULL, sources text[] DEFAULT NULL, external_id_prefix text DEFAULT NULL,
    since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL, include_superseded boolean DEFAULT NULL,
    include_sensitive boolean DEFAULT NULL, timeframe tstzrange DEFAULT NULL, as_of timestamptz DEFAULT NULL,
    filter jsonb DEFAULT NULL, deleting text DEFAULT NULL
)
RETURNS pgrecall.recall_filter
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    -- As the constraints of pgrecall.memories.
    first_time CONSTANT timestamptz := '0001-01-02 00:00:00+00'::timestamptz;
    last_time CONSTANT timestamptz := '9999-12-31 00:00:00+00'::timestamptz;
    built pgrecall.recall_filter;
    given jsonb;
    twice text;
    emptied jsonb;
    unmet text[];
BEGIN
    built.categories := memory_filter.categories;
    built.tags_any := memory_filter.tags_any;
    built.tags_all := memory_filter.tags_all;
    built.metadata_contains := memory_filter.metadata_contains;
    built.metadata_where := memory_filter.metadata_where;
    built.sessions := memory_filter.sessions;
    built.speakers := memory_filter.speakers;
    built.sources := memory_filter.sources;
    built.external_id_prefix := memory_filter.external_id_prefix;
    built.since := memory_filter.since;
    built.until := memory_filter.until;
    built.include_superseded := memory_filter.include_superseded;
    built.include_sensitive := memory_filter.include_sensitive;
    built.timeframe := memory_filter.timeframe;
    built.as_of := memory_filter.as_of;
    IF metadata_contains = 'null' THEN
        RAISE EXCEPTION 'metadata_contains must be an object, not null'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Leave it out for no condition.';
    END IF;
    IF filter IS NOT NULL THEN
        PERFORM _pgrecall.check_conditions(filter);
        SELECT jsonb_object_agg(e.key, e.value), string_agg(e.key, ', ') FILTER (WHERE jsonb_typeof(b.value) NOT IN ('null', 'boolean'))
        INTO given, twice
        FROM jsonb_each(filter) e
        JOIN jsonb_each(to_jsonb(built)) b ON b.key = e.key
        WHERE e.value <> 'null';
        IF twice IS NOT NULL THEN
            RAISE EXCEPTION '% is given twice', twice
                USING ERRCODE = 'invalid_parameter_value', HINT = 'Give a condition as an argument or in filter, not both.';
        END IF;
        built := jsonb_populate_record(built, COALESCE(given, '{}'));
    END IF;

    -- Few filters have an empty value, and to look for one in the text takes a tenth of the time.
    IF built::text LIKE ANY (ARRAY['%{}%', '%[]%', '%""%']) THEN
        SELECT jsonb_object_agg(e.key, NULL), array_agg(e.key) INTO emptied, unmet
        FROM jsonb_each(to_jsonb(built)) e
        WHERE e.value IN ('[]', '{}', '""')
          -- The empty value of its own type: metadata is an object.
          AND e.value = (
              SELECT CASE a.atttypid WHEN 'jsonb'::regtype THEN '{}'::jsonb WHEN 'text'::regtype THEN '""' ELSE '[]' END
              FROM pg_catalog.pg_attribute a
              WHERE a.attrelid = 'pgrecall.recall_conditions'::regclass AND a.attname = e.key
          );
        built := jsonb_populate_record(built, COALESCE(emptied, '{}'));
    END IF;
    built.category_hashes := _pgrecall.text_hashes(built.categories);
    built.speaker_hashes := _pgrecall.text_hashes(built.speakers);
    built.source_hashes := _pgrecall.text_hashes(built.sources);
    built.timeframe := _pgrecall.to_half_open(built.timeframe);
    IF built.metadata_where IS NOT NULL THEN
        built.metadata_path := _pgrecall.metadata_path(built.metadata_where, deleting IS NOT NULL);
        built.metadata_where := CASE WHEN built.metadata_path IS NOT NULL THEN built.metadata_where END;
    END IF;
    IF deleting IS NULL THEN
        RETURN built;
    END IF;

    SELECT array_agg(c.name) || unmet INTO unmet
    FROM (VALUES
        ('filter', memory_filter.filter = '{}'), ('since', built.since <= first_time), ('until', built.until > last_time),
        ('timeframe', COALESCE(lower(built.timeframe), first_time) <= first_time
                      AND COALESCE(upper(built.timeframe), 'infinity') > last_time AND NOT isempty(built.timeframe)),
        ('as_of', built.as_of > last_time), ('min_trust', built.min_trust = 'web')
    ) c (name, is_met)
    WHERE c.is_met;
    IF unmet IS NOT NULL THEN
        RAISE EXCEPTION '%: % is empty and would fit every memory', deleting, array_to_string(unmet, ', ')
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Where memories are deleted every condition must say which. Leave it out.';
    ELSIF NOT EXISTS (
        -- In which state a memory may be says not which.
        SELECT FROM jsonb_each(to_jsonb(built)) e WHERE jsonb_typeof(e.value) NOT IN ('null', 'boolean') AND e.key <> 'as_of'
    ) THEN
        RAISE EXCEPTION '% needs a filter', deleting
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'erase_namespace() removes everything; until => now() takes everything up to now.';
    END IF;
    RETURN built;
END
$function$;
