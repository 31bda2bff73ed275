-- Builds the filter of a request from the arguments of recall().
--
-- The only place that decides what an empty value means: {}, an empty list and '' are no condition, as NULL. A reader has asked
-- for everything then. Who deletes has not: an empty value is more likely the result of a mistake.
--
-- deleting  the function that deletes what passes; it refuses a condition that every memory meets, and needs one. NULL: none
--
-- Errors  22023 deleting, and no condition or one that every memory meets;  those of _pgrecall.metadata_path and
--         _pgrecall.to_half_open
CREATE OR REPLACE FUNCTION _pgrecall.memory_filter(
    categories text[], tags_any text[], tags_all text[], metadata_contains jsonb, metadata_where jsonb, sessions text[],
    speakers text[], sources text[], external_id_prefix text, since timestamptz, until timestamptz,
    include_superseded boolean, include_sensitive boolean, timeframe tstzrange DEFAULT NULL, as_of timestamptz DEFAULT NULL,
    deleting text DEFAULT NULL
)
RETURNS pgrecall.recall_filter
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    -- As the constraints of pgrecall.memories.
    first_time CONSTANT timestamptz := '0001-01-02 00:00:00+00'::timestamptz;
    last_time CONSTANT timestamptz := '9999-12-31 00:00:00+00'::timestamptz;
    filter pgrecall.recall_filter;
    unmet text;
BEGIN
    filter.categories := NULLIF(memory_filter.categories, '{}');
    filter.tags_any := NULLIF(memory_filter.tags_any, '{}');
    filter.tags_all := NULLIF(memory_filter.tags_all, '{}');
    filter.metadata_contains := NULLIF(memory_filter.metadata_contains, '{}');
    filter.sessions := NULLIF(memory_filter.sessions, '{}');
    filter.speakers := NULLIF(memory_filter.speakers, '{}');
    filter.sources := NULLIF(memory_filter.sources, '{}');
    filter.category_hashes := _pgrecall.text_hashes(filter.categories);
    filter.speaker_hashes := _pgrecall.text_hashes(filter.speakers);
    filter.source_hashes := _pgrecall.text_hashes(filter.sources);
    filter.external_id_prefix := NULLIF(memory_filter.external_id_prefix, '');
    filter.since := memory_filter.since;
    filter.until := memory_filter.until;
    filter.include_superseded := memory_filter.include_superseded;
    filter.include_sensitive := memory_filter.include_sensitive;
    filter.as_of := memory_filter.as_of;
    IF metadata_where IS NOT NULL THEN
        filter.metadata_where := _pgrecall.metadata_path(metadata_where, deleting IS NOT NULL);
        filter.metadata_conditions := metadata_where;
    END IF;
    IF timeframe IS NOT NULL THEN
        filter.timeframe := _pgrecall.to_half_open(timeframe);
    END IF;
    IF deleting IS NULL THEN
        RETURN filter;
    END IF;

    SELECT string_agg(c.name, ', ') INTO unmet
    FROM (VALUES
        ('categories', memory_filter.categories = '{}'), ('tags_any', memory_filter.tags_any = '{}'),
        ('tags_all', memory_filter.tags_all = '{}'), ('metadata_contains', memory_filter.metadata_contains = '{}'),
        ('sessions', memory_filter.sessions = '{}'), ('speakers', memory_filter.speakers = '{}'),
        ('sources', memory_filter.sources = '{}'), ('external_id_prefix', memory_filter.external_id_prefix = ''),
        ('since', memory_filter.since <= first_time), ('until', memory_filter.until > last_time),
        ('timeframe', COALESCE(lower(filter.timeframe), first_time) <= first_time
                      AND COALESCE(upper(filter.timeframe), 'infinity') > last_time AND NOT isempty(filter.timeframe)),
        ('as_of', memory_filter.as_of > last_time)
    ) c (name, is_empty)
    WHERE c.is_empty;
    IF unmet IS NOT NULL THEN
        RAISE EXCEPTION '%: % is empty and would fit every memory', deleting, unmet
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Where memories are deleted every condition must say which. Leave it out.';
    ELSIF num_nonnulls(
        filter.categories, filter.tags_any, filter.tags_all, filter.metadata_contains, filter.metadata_where, filter.sessions,
        filter.speakers, filter.sources, filter.external_id_prefix, filter.since, filter.until, filter.timeframe
    ) = 0 THEN
        RAISE EXCEPTION '% needs a filter', deleting
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'erase_namespace() removes everything; until => now() takes everything up to now.';
    END IF;
    RETURN filter;
END
$function$;

COMMENT ON FUNCTION _pgrecall.memory_filter IS 'Builds the filter of a request from the arguments of recall().';
