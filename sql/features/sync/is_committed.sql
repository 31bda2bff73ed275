-- Tells whether a pgrecall.sync_push() was committed; NULL while its transaction runs or if the server no longer knows.
--
-- After a crash the server may reuse the number of a lost transaction, so the memory must show the write too. Returns false
-- for a push that changed nothing or whose memory is gone; it may be repeated.
--
-- transaction, memory_id, written_at  as returned by sync_push()
-- namespace                           namespace of the push
--
-- known  false for a number that the server has not assigned yet, as after the restore of an older backup
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
                       WHERE m.id = (SELECT _pgrecall.seen_id('memory', is_committed.memory_id)) AND m.updated_at >= is_committed.written_at
                         AND m.namespace_id = pgrecall.namespace_id(is_committed.namespace)
                   )
               END,
               state IS NOT NULL;
EXCEPTION WHEN invalid_parameter_value OR invalid_text_representation OR numeric_value_out_of_range THEN
    RETURN QUERY SELECT NULL::boolean, false;
END
$function$;

ALTER FUNCTION pgrecall.is_committed OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.is_committed TO pgrecall_reader;
