-- Ranks memories with rank_granted(), and again with longer lists if collapsed near-duplicates leave fewer than k.
--
-- A list has at most 5,000 memories.
CREATE OR REPLACE FUNCTION _pgrecall.rank_distinct(
    request pgrecall.recall_request, filter pgrecall.recall_filter, reference_time timestamptz, extra_ids bigint[] DEFAULT NULL
)
RETURNS SETOF pgrecall.ranked
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 10
SET search_path FROM CURRENT
AS $function$
DECLARE
    settings pgrecall.recall_settings := request.settings;
    wider pgrecall.recall_request := request;
    best pgrecall.ranked[];
    places bigint;
    seen bigint;
    seen_before bigint := (-1)::bigint;
BEGIN
    IF NOT settings.collapse_duplicates THEN
        RETURN QUERY SELECT r.* FROM _pgrecall.rank_granted(request, filter, reference_time, extra_ids) r;
        RETURN;
    END IF;
    LOOP
        SELECT array_agg(r), count(r.place), count(r.place) + COALESCE(sum(cardinality(r.duplicates)), 0)
        INTO best, places, seen
        FROM _pgrecall.rank_granted(wider, filter, reference_time, extra_ids) r;
        EXIT WHEN places >= settings.k OR seen = seen_before OR settings.leg_depth >= 5000;
        seen_before := seen;
        settings.leg_depth := least(4 * greatest(settings.leg_depth, settings.k), 5000);
        wider.settings := settings;
    END LOOP;
    RETURN QUERY SELECT r.* FROM unnest(best) r;
END
$function$;
