-- Hides a memory from recall and keeps the row as a tombstone. Returns whether it existed and was not forgotten yet.
--
-- The row stays as a tombstone for restore(); rows derived for the concept graph are deleted.
--
-- Errors  42501 read-only for this role
CREATE OR REPLACE FUNCTION public.forget(id bigint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    seen CONSTANT bigint := _pgrecall.seen_id('memory', forget.id);
BEGIN
    PERFORM _pgrecall.lock_with_notes(ARRAY[seen]);
    UPDATE pgrecall.memories m SET deleted_at = now(), updated_at = now()
    WHERE m.id = seen AND m.deleted_at IS NULL;
    IF NOT FOUND THEN
        PERFORM _pgrecall.raise_read_only(forget.id);
        RETURN false;
    END IF;
    RETURN true;
END
$function$;

ALTER FUNCTION public.forget OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.forget FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.forget TO pgrecall_writer;
