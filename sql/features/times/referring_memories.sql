-- Returns the memories of a namespace that mention a time overlapping a period. NULL if the period is NULL.
--
-- recall() calls it once and passes the ids to every leg (recall_filter.referring). As a constant they fit an index
-- condition (a BitmapOr with the memories' own time), and a plan made with them hashes them. A subquery in matches()
-- would keep that function from being inlined.
--
-- period  half-open, see to_half_open()
CREATE OR REPLACE FUNCTION _pgrecall.referring_memories(namespace_id integer, period tstzrange)
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    -- Most calls name no period. In plpgsql they start no plan.
    IF period IS NULL THEN
        RETURN NULL;
    END IF;
    RETURN ARRAY(
        SELECT DISTINCT r.memory_id
        FROM pgrecall.temporal_refs r
        WHERE r.namespace_id = referring_memories.namespace_id AND NOT isempty(period)
          AND r.to_at > COALESCE(lower(period), '-infinity') AND r.from_at < COALESCE(upper(period), 'infinity')
    );
END
$function$;
