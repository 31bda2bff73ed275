-- Brings a forgotten or expired memory back. Returns whether it was forgotten or expired.
--
-- It is embedded and its names are read again if they are gone. An expiry that has passed is removed. A retention rule that
-- has forgotten it does so again, unless the rule changes (set_retention). An erased memory cannot be restored.
--
-- Errors  P0002 no such memory;  42501 read-only for this role
CREATE OR REPLACE FUNCTION public.restore(id bigint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    seen CONSTANT bigint := _pgrecall.seen_id('memory', restore.id);
    was_hidden boolean;
BEGIN
    SELECT m.deleted_at IS NOT NULL OR m.expires_at <= now() INTO was_hidden
    FROM pgrecall.memories m WHERE m.id = seen AND _pgrecall.may_write(m.namespace_id);
    IF NOT FOUND THEN
        PERFORM _pgrecall.raise_unknown_memory(restore.id);
    ELSIF was_hidden IS NOT TRUE THEN
        RETURN false;
    END IF;
    RETURN _pgrecall.change_memory(restore.id, '{}', revive => true);
END
$function$;

ALTER FUNCTION public.restore OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.restore FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.restore TO pgrecall_writer;
