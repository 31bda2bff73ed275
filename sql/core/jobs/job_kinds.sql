-- Every kind of job, as its feature declares it in a function jobs_of_….
--
-- Claims and the status know a kind by its declaration alone. Keys, none required:
--
-- of_generation  true: the queue is the column of a generation, NULL in a memory that waits; a row of jobs exists while it is
--                leased, waits for another attempt or has failed. Without it, the row is the queue
-- oldest_first   true: in the order of ids; the newest first without it
-- ready          condition on the memory o that a job can be claimed; %1$I is the active generation's column, $1 its id
--
-- Errors  22023 a wrong declaration
CREATE OR REPLACE FUNCTION _pgrecall.job_kinds()
RETURNS TABLE (kind text, of_generation boolean, oldest_first boolean, ready text)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 5
SET search_path FROM CURRENT
AS $function$
DECLARE
    found jsonb;
    wrong text;
BEGIN
    EXECUTE (
        SELECT format('SELECT jsonb_agg(jsonb_build_object(''kind'', t.key, ''said'', t.value)) FROM (%s) t', string_agg(
            format('SELECT * FROM jsonb_each(_pgrecall.%I())', p.proname), ' UNION ALL ' ORDER BY p.proname
        ))
        FROM pg_proc p
        -- A range, which the index finds: every claim asks.
        WHERE p.pronamespace = '_pgrecall'::regnamespace AND p.proname >= 'jobs_of_' AND p.proname < 'jobs_of`'
    ) INTO found;
    SELECT k.kind INTO wrong
    FROM jsonb_to_recordset(found) k (kind text, said jsonb)
    WHERE k.said - '{of_generation,oldest_first,ready}'::text[] <> '{}'
    LIMIT 1;
    IF wrong IS NOT NULL THEN
        RAISE EXCEPTION 'the declaration of jobs of kind "%" has an unknown key', wrong
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Correct the function jobs_of_… of its feature.';
    END IF;
    RETURN QUERY
    SELECT k.kind, COALESCE((k.said ->> 'of_generation')::boolean, false), COALESCE((k.said ->> 'oldest_first')::boolean, false),
           k.said ->> 'ready'
    FROM jsonb_to_recordset(found) k (kind text, said jsonb);
END
$function$;
