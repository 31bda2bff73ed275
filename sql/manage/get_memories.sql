-- get_memories: returns memories by id, in the order of the ids.
--
-- An id that is unknown, of a namespace that the role may not read, forgotten or expired gives no row. Superseded memories
-- are returned.
--
-- ids                at most 1000
-- include_forgotten  return forgotten memories too, until they are erased, and expired ones
--
-- Errors  54000 too many ids
CREATE OR REPLACE FUNCTION public.get_memories(ids bigint[], include_forgotten boolean DEFAULT false)
RETURNS SETOF pgrecall.stored_memories
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 10
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF cardinality(ids) > 1000 THEN
        RAISE EXCEPTION '% ids are too many; 1000 is the limit', cardinality(ids)
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Ask for them in several calls, or with list_memories().';
    END IF;
    RETURN QUERY
        SELECT s.*
        FROM unnest(ids) WITH ORDINALITY w (id, place)
        JOIN pgrecall.stored_memories s ON s.id = w.id
        WHERE include_forgotten OR (s.forgotten_at IS NULL AND NOT s.is_expired)
        ORDER BY w.place;
END
$function$;

COMMENT ON FUNCTION public.get_memories IS
    'Returns memories by id, in the order of the ids; unknown, forgotten and expired ones give no row.';

ALTER FUNCTION public.get_memories OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.get_memories FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.get_memories TO pgrecall_reader;
