-- Returns the settings that namespaces have learned, newest first, with the gain that was measured.
--
-- namespace  NULL: all that the role may read
CREATE OR REPLACE FUNCTION pgrecall.list_learned(namespace text DEFAULT NULL)
RETURNS TABLE (
    namespace_name text, settings jsonb, queries integer, ndcg_before double precision, ndcg_after double precision,
    gain_low double precision, gain_high double precision, learned_at timestamptz, ended_at timestamptz, end_reason text
)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 10
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
BEGIN
    RETURN QUERY
        SELECT n.name, l.settings, l.queries, l.ndcg_before, l.ndcg_after, l.gain_low, l.gain_high, l.learned_at,
               l.ended_at, l.end_reason
        FROM pgrecall.learned_settings l
        JOIN pgrecall.namespaces n ON n.id = l.namespace_id
        WHERE list_learned.namespace IS NULL OR n.name = list_learned.namespace
        ORDER BY l.learned_at DESC, l.id DESC;
END
$function$;

ALTER FUNCTION pgrecall.list_learned OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.list_learned TO pgrecall_reader;
