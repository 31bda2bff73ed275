-- Returns the expansion of a query that this role has cached (cache_expansion); no row if there is none or it has expired.
--
-- A standby has none: the table is unlogged.
--
-- languages  languages of the query (query_languages); the first counts
CREATE OR REPLACE FUNCTION _pgrecall.cached_expansion(languages regconfig[], query text)
RETURNS TABLE (terms text[], entities text[], intent text)
-- Restricted: a parallel worker does not see SET ROLE in the setting.
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED ROWS 1
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
BEGIN
    IF pg_is_in_recovery() THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT e.terms, e.entities, e.intent
        FROM pgrecall.query_expansions e
        WHERE e.role = pgrecall.session_role() AND e.query_hash = _pgrecall.expansion_key(cached_expansion.query)
          AND e.language = _pgrecall.expansion_language(cached_expansion.languages, cached_expansion.query)
          AND _pgrecall.is_recent(e.made_at, pgrecall.stored_setting('expansion_cache_age')::interval);
END
$function$;
