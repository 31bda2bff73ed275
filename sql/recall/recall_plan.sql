-- The plans of a recall, as EXPLAIN (ANALYZE) shows them: the whole statement, then the dense leg's own.
--
-- Volatile, since EXPLAIN is allowed in no other. EXPLAIN SELECT * FROM recall(…) shows a function scan and no more. This runs the very statements, read from the
-- functions' bodies, with the settings in force.
CREATE OR REPLACE FUNCTION pgrecall.recall_plan(
    query text, query_vec halfvec DEFAULT NULL, k integer DEFAULT 10, namespace text DEFAULT NULL
)
RETURNS TABLE (plan text)
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    namespace_id integer := pgrecall.namespace_id(namespace);
    settings pgrecall.recall_settings := pgrecall.effective_settings();
    filter pgrecall.recall_filter;
    whole text;
    dense text[];
BEGIN
    PERFORM pgrecall.check_query(query, query_vec, k);
    SELECT split_part(p.prosrc, '$statement$', 2) INTO whole
    FROM pg_proc p WHERE p.proname = 'recall' AND p.pronamespace = 'public'::regnamespace;
    SELECT ARRAY[split_part(p.prosrc, '$statement$', 2), split_part(p.prosrc, '$statement$', 4)] INTO dense
    FROM pg_proc p WHERE p.proname = 'dense_leg' AND p.pronamespace = 'pgrecall'::regnamespace;

    RETURN QUERY EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) ' || whole
        USING namespace_id, query, pgrecall.query_language(namespace), query_vec, k, filter, settings,
              pgrecall.hub_threshold(namespace_id, settings);
    IF query_vec IS NOT NULL THEN
        plan := '';
        RETURN NEXT;
        plan := CASE
            WHEN pgrecall.namespace_size(namespace_id, settings.dense_exact_rows + 1)
                 > settings.dense_exact_rows
            THEN 'dense_leg, as the planner sees fit:' ELSE 'dense_leg, exactly (a small namespace):'
        END;
        RETURN NEXT;
        RETURN QUERY EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) '
            || dense[CASE WHEN plan LIKE '%exactly%' THEN 2 ELSE 1 END]
            USING namespace_id, query_vec, filter, greatest(settings.leg_depth, k);
    END IF;
END
$function$;

COMMENT ON FUNCTION pgrecall.recall_plan IS
    'EXPLAIN (ANALYZE, BUFFERS) of the statements a recall runs, the dense leg''s included: which index each leg uses.';
