-- Refreshes the planner's statistics of pgrecall's tables. Call it after a large import.
CREATE OR REPLACE FUNCTION pgrecall.analyze()
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    found record;
BEGIN
    FOR found IN SELECT t.tablename AS name FROM pg_tables t WHERE t.schemaname = 'pgrecall' ORDER BY t.tablename LOOP
        EXECUTE format('ANALYZE pgrecall.%I', found.name);
    END LOOP;
END
$function$;
