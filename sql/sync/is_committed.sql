-- is_committed: whether what sync_push() did is there; NULL while its transaction runs or if nobody knows any more.
--
-- A server that crashed may have given the number of a transaction it lost to another one. So the memory must show it too:
-- false of what changed nothing, or is gone since, and may be pushed once more.
--
-- transaction, memory_id, written_at  as sync_push() returned them
-- namespace                           where it wrote
--
-- known  whether the server can tell at all: not of a number it has not given out yet, as after the restore of an older backup
CREATE OR REPLACE FUNCTION pgrecall.is_committed(
    transaction text, memory_id bigint, written_at timestamptz, namespace text DEFAULT NULL
)
RETURNS TABLE (committed boolean, known boolean)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    state text;
BEGIN
    state := pg_xact_status(transaction::xid8);
    RETURN QUERY
        SELECT CASE state
                   WHEN 'aborted' THEN false
                   WHEN 'committed' THEN EXISTS (
                       SELECT FROM pgrecall.memories m
                       WHERE m.id = is_committed.memory_id AND m.updated_at >= is_committed.written_at
                         AND m.namespace_id = pgrecall.namespace_id(is_committed.namespace)
                   )
               END,
               state IS NOT NULL;
EXCEPTION WHEN invalid_parameter_value OR invalid_text_representation THEN
    RETURN QUERY SELECT NULL::boolean, false;
END
$function$;

COMMENT ON FUNCTION pgrecall.is_committed IS
    'Whether what pgrecall.sync_push() did is there; NULL while its transaction runs or if nobody knows any more.';

ALTER FUNCTION pgrecall.is_committed OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.is_committed TO pgrecall_reader;
