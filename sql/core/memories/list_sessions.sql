-- Returns the sessions of a namespace with their number of memories, times and speakers, the most recent first. Read-only.
--
-- Forgotten, expired and superseded memories do not count. It reads every memory of the namespace that has a session.
--
-- max_results      1 to 10000
-- first_at, last_at  coalesce(occurred_at, created_at) of its first and last memory
-- speakers         who speaks in it, in alphabetical order
--
-- Errors  22023 max_results out of range
CREATE OR REPLACE FUNCTION public.list_sessions(namespace text DEFAULT NULL, max_results integer DEFAULT 100)
RETURNS TABLE (session text, memories bigint, first_at timestamptz, last_at timestamptz, speakers text[])
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 100
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    home CONSTANT integer := pgrecall.namespace_id(list_sessions.namespace);
BEGIN
    IF max_results IS NULL OR max_results NOT BETWEEN 1 AND 10000 THEN
        RAISE EXCEPTION 'max_results must be between 1 and 10000, not %', COALESCE(max_results::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'The default is 100.';
    END IF;
    RETURN QUERY
        SELECT m.session, count(*), min(COALESCE(m.occurred_at, m.created_at)), max(COALESCE(m.occurred_at, m.created_at)) AS last_at,
               COALESCE(array_agg(DISTINCT m.speaker) FILTER (WHERE m.speaker IS NOT NULL), '{}')
        FROM pgrecall.memories m
        WHERE m.namespace_id = home AND m.session IS NOT NULL AND _pgrecall.matches_filter(m, NULL)
        GROUP BY m.session
        ORDER BY last_at DESC, m.session
        LIMIT max_results;
END
$function$;

ALTER FUNCTION public.list_sessions OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.list_sessions FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.list_sessions TO pgrecall_reader;
