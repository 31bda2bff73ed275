-- forget: a memory is recalled no more. Returns whether there was one to forget.
--
-- A tombstone: the row stays, what was derived for the concept graph goes. To bring it back, remember it again under
-- its external_id with on_conflict => 'revise'.
--
-- Errors  42501 it may only be read
CREATE OR REPLACE FUNCTION public.forget(id bigint)
RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
BEGIN
    UPDATE pgrecall.memories m SET deleted_at = now(), updated_at = now()
    WHERE m.id = forget.id AND m.deleted_at IS NULL;
    IF NOT FOUND THEN
        PERFORM _pgrecall.raise_read_only(forget.id);
        RETURN false;
    END IF;
    RETURN true;
END
$function$;

COMMENT ON FUNCTION public.forget IS 'A memory is recalled no more; the row stays as a tombstone. Returns whether there was one to forget.';

ALTER FUNCTION public.forget OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.forget FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.forget TO pgrecall_writer;
