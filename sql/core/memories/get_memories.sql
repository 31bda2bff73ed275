-- Returns memories by id, or by external_ids in a namespace, in their order; unknown, forgotten and expired ones give no
-- row. Read-only.
--
-- An id that is unknown, of a namespace that the role may not read, forgotten or expired gives no row. Superseded memories
-- are returned.
--
-- ids                at most 1000
-- external_ids       instead of ids; at most 1000
-- namespace          that of the external_ids
-- include_forgotten  return forgotten memories too, until they are erased, and expired ones
--
-- Errors  22023 both ids and external_ids, or neither;  54000 too many ids
CREATE OR REPLACE FUNCTION public.get_memories(
    ids bigint[] DEFAULT NULL,
    external_ids text[] DEFAULT NULL,
    namespace text DEFAULT NULL,
    include_forgotten boolean DEFAULT false
)
RETURNS SETOF pgrecall.stored_memories
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 10
SET search_path FROM CURRENT
AS $function$
DECLARE
    wanted CONSTANT integer := cardinality(COALESCE(ids::text[], external_ids));
    home integer;
    seen bigint[];
BEGIN
    IF num_nonnulls(ids, external_ids) <> 1 THEN
        RAISE EXCEPTION 'get_memories takes either ids or external_ids'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Write get_memories(ARRAY[1, 2]) or get_memories(external_ids => ARRAY[''a'']).';
    ELSIF wanted > 1000 THEN
        RAISE EXCEPTION '% ids are too many; 1000 is the limit', wanted
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Ask for them in several calls, or with list_memories().';
    END IF;
    IF external_ids IS NOT NULL THEN
        home := pgrecall.namespace_id(get_memories.namespace);
        ids := ARRAY(
            SELECT m.id
            FROM unnest(external_ids) WITH ORDINALITY w (external_id, place)
            JOIN pgrecall.memories m ON m.namespace_id = home AND m.external_id = w.external_id
            ORDER BY w.place
        );
        seen := ids;
    ELSE
        seen := _pgrecall.seen_ids('memory', ids);
    END IF;
    RETURN QUERY
        SELECT s.*
        FROM (SELECT o.* FROM unnest(ids) WITH ORDINALITY o (id, place) WHERE o.id = ANY (seen)) w
        JOIN pgrecall.stored_memories s ON s.id = w.id
        WHERE include_forgotten OR (s.forgotten_at IS NULL AND NOT s.is_expired)
        ORDER BY w.place;
END
$function$;

ALTER FUNCTION public.get_memories OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.get_memories FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.get_memories TO pgrecall_reader;
