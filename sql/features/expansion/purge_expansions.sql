-- Deletes expired expansions, and each role's oldest ones beyond a limit. Returns how many.
--
-- The settings expansion_cache_age and expansion_cache_size give both limits.
CREATE OR REPLACE FUNCTION _pgrecall.purge_expansions()
RETURNS bigint
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    oldest timestamptz := clock_timestamp() - pgrecall.stored_setting('expansion_cache_age')::interval;
    most integer := pgrecall.stored_setting('expansion_cache_size')::integer;
    gone bigint;
BEGIN
    WITH ranked AS (
        SELECT e.role, e.query_hash, e.language,
               e.made_at <= oldest OR row_number() OVER (PARTITION BY e.role ORDER BY e.made_at DESC) > most AS is_over
        FROM pgrecall.query_expansions e
    ), over AS MATERIALIZED (
        -- Concurrent purges delete other rows.
        SELECT x.ctid FROM pgrecall.query_expansions x
        JOIN ranked r ON (r.role, r.query_hash, r.language) = (x.role, x.query_hash, x.language)
        WHERE r.is_over
        FOR UPDATE OF x SKIP LOCKED
    )
    DELETE FROM pgrecall.query_expansions d USING over o WHERE d.ctid = o.ctid;
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END
$function$;
