-- Builds the filter of a request from the arguments of recall().
--
-- Errors  those of _pgrecall.metadata_path and _pgrecall.to_half_open
CREATE OR REPLACE FUNCTION _pgrecall.memory_filter(
    categories text[], tags_any text[], tags_all text[], metadata_contains jsonb, metadata_where jsonb, sessions text[],
    speakers text[], sources text[], external_id_prefix text, since timestamptz, until timestamptz,
    include_superseded boolean, include_sensitive boolean, timeframe tstzrange DEFAULT NULL, as_of timestamptz DEFAULT NULL
)
RETURNS pgrecall.recall_filter
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    filter pgrecall.recall_filter;
BEGIN
    filter.categories := memory_filter.categories;
    filter.tags_any := memory_filter.tags_any;
    filter.tags_all := memory_filter.tags_all;
    filter.metadata_contains := memory_filter.metadata_contains;
    filter.sessions := memory_filter.sessions;
    filter.speakers := memory_filter.speakers;
    filter.sources := memory_filter.sources;
    filter.category_hashes := _pgrecall.text_hashes(categories);
    filter.speaker_hashes := _pgrecall.text_hashes(speakers);
    filter.source_hashes := _pgrecall.text_hashes(sources);
    filter.external_id_prefix := memory_filter.external_id_prefix;
    filter.since := memory_filter.since;
    filter.until := memory_filter.until;
    filter.include_superseded := memory_filter.include_superseded;
    filter.include_sensitive := memory_filter.include_sensitive;
    filter.as_of := memory_filter.as_of;
    IF metadata_where IS NOT NULL THEN
        filter.metadata_where := _pgrecall.metadata_path(metadata_where);
        filter.metadata_conditions := metadata_where;
    END IF;
    IF timeframe IS NOT NULL THEN
        filter.timeframe := _pgrecall.to_half_open(timeframe);
    END IF;
    RETURN filter;
END
$function$;

COMMENT ON FUNCTION _pgrecall.memory_filter IS 'Builds the filter of a request from the arguments of recall().';
