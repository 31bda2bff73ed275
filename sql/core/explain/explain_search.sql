-- Returns the plan of a search whose statement keeps one generic plan per session, run with these arguments.
--
-- It runs with the planner's settings of the function that searches, or else those of rank_granted(), below which it does.
-- EXPLAIN shows a kept plan of a prepared statement only, and arguments of EXECUTE cannot be parameters. A text with the values in
-- it would stand in the log after an error, so they travel in a setting. Only a superuser may create a function with a SET clause
-- for it, so it is emptied by hand, and by an error with the transaction.
--
-- search     the function that searches: the types of the arguments, and the settings
-- statement  its statement, or one that calls it
-- arguments  one per argument of the function
CREATE OR REPLACE FUNCTION _pgrecall.explain_search(search regproc, statement text, arguments text[])
RETURNS SETOF text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    types text[];
    names text[];
    settings text[];
    settings_before text[];
BEGIN
    SELECT ARRAY(SELECT format_type(a.type, NULL) FROM unnest(p.proargtypes) WITH ORDINALITY a (type, place) ORDER BY a.place),
           ARRAY(SELECT split_part(c.setting, '=', 1) FROM unnest(s.proconfig) WITH ORDINALITY c (setting, place) ORDER BY c.place),
           ARRAY(SELECT substr(c.setting, strpos(c.setting, '=') + 1)
                 FROM unnest(s.proconfig) WITH ORDINALITY c (setting, place) ORDER BY c.place)
    INTO types, names, settings
    FROM pg_proc p
    JOIN pg_proc s ON s.oid = CASE WHEN p.proconfig IS NULL THEN '_pgrecall.rank_granted'::regproc ELSE p.oid END
    WHERE p.oid = search;
    settings_before := ARRAY(SELECT current_setting(n.name) FROM unnest(names) WITH ORDINALITY n (name, place) ORDER BY n.place);
    PERFORM set_config(n.name, n.setting, true) FROM unnest(names, settings) n (name, setting);
    PERFORM set_config('pgrecall_plan.arguments', arguments::text, true);
    -- One is left if an earlier call failed.
    IF EXISTS (SELECT FROM pg_prepared_statements s WHERE s.name = 'pgrecall_plan') THEN
        DEALLOCATE pgrecall_plan;
    END IF;
    EXECUTE format('PREPARE pgrecall_plan (%s) AS %s', array_to_string(types, ', '), statement);
    RETURN QUERY EXECUTE (
        SELECT format('EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) EXECUTE pgrecall_plan (%s)', string_agg(
            format('(current_setting(''pgrecall_plan.arguments'')::text[])[%s]::%s', t.place, t.type), ', ' ORDER BY t.place
        ))
        FROM unnest(types) WITH ORDINALITY t (type, place)
    );
    DEALLOCATE pgrecall_plan;
    PERFORM set_config('pgrecall_plan.arguments', '', true);
    PERFORM set_config(n.name, n.setting, true) FROM unnest(names, settings_before) n (name, setting);
END
$function$;
