-- Lists the curation decisions in a namespace, newest first; undo_curation() reverts one.
--
-- namespace  NULL: the setting pgrecall.namespace
-- changes    only decisions that changed something: no ADD
-- k          maximum number of decisions
--
-- Errors  42704 no such namespace;  22023 k is negative
CREATE OR REPLACE FUNCTION pgrecall.curation_log(
    namespace text DEFAULT NULL, changes boolean DEFAULT true, k integer DEFAULT 100
)
RETURNS TABLE (
    id bigint, memory_id bigint, other_id bigint, decision text, decider text, decided_at timestamptz, undone_at timestamptz,
    content text, other_content text, evidence jsonb
)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 100
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    home integer := _pgrecall.known_namespace(pgrecall.namespace_name(curation_log.namespace));
BEGIN
    RETURN QUERY
        SELECT c.id, c.memory_id, c.other_id, c.decision, c.decider, c.decided_at, c.undone_at, m.content, o.content, c.evidence
        FROM pgrecall.curations c
        JOIN pgrecall.memories m ON m.id = c.memory_id
        LEFT JOIN pgrecall.memories o ON o.id = c.other_id
        WHERE c.namespace_id = home AND (NOT changes OR c.decision <> 'ADD')
        ORDER BY c.id DESC
        LIMIT _pgrecall.parse_row_limit(k);
END
$function$;

ALTER FUNCTION pgrecall.curation_log OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.curation_log TO pgrecall_reader;
