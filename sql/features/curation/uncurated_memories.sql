-- Lists the memories of a namespace that have no curation decision yet, oldest first.
--
-- namespace  NULL: the setting pgrecall.namespace
-- since      only memories stored from then on
--
-- Errors  42704 no such namespace;  22023 max_memories is negative
CREATE OR REPLACE FUNCTION pgrecall.uncurated_memories(
    namespace text DEFAULT NULL, since timestamptz DEFAULT NULL, max_memories integer DEFAULT 1000
)
RETURNS SETOF bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 1000
SET search_path FROM CURRENT
AS $function$
DECLARE
    home integer := _pgrecall.known_namespace(pgrecall.namespace_name(uncurated_memories.namespace));
BEGIN
    RETURN QUERY
        SELECT m.id
        FROM pgrecall.memories m
        WHERE m.namespace_id = home AND NOT m.is_sensitive AND m.deleted_at IS NULL AND m.superseded_by IS NULL
          AND (uncurated_memories.since IS NULL OR m.created_at >= uncurated_memories.since)
          AND NOT EXISTS (SELECT FROM pgrecall.curations c WHERE c.memory_id = m.id)
        ORDER BY m.id
        LIMIT _pgrecall.parse_row_limit(max_memories);
END
$function$;

ALTER FUNCTION pgrecall.uncurated_memories OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.uncurated_memories TO pgrecall_reader;
