-- Trigger on pending_postings that folds a namespace's changes into its postings when there are enough of them.
--
-- One note in 32 looks, at commit: then it holds its locks for a moment only, and never waits for another's. 512 at a
-- time keep that commit short; embedders fold more, so that where one runs there is seldom anything left to do. Once a
-- transaction has found nothing left to do, the rest of its notes do not look any more (pgrecall.folded): each would
-- pass by all the notes that it has just folded.
CREATE OR REPLACE FUNCTION _pgrecall.flush_pending_on_commit()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    enough CONSTANT integer := 64;
    most CONSTANT integer := 512;
    many CONSTANT integer := 10000;
    here CONSTANT text := NEW.namespace_id::text;
    noted bigint;
BEGIN
    IF current_setting('pgrecall.folded', true) = here THEN
        RETURN NULL;
    END IF;
    SELECT count(*) INTO noted
    FROM (SELECT FROM pgrecall.pending_postings u WHERE u.namespace_id = NEW.namespace_id LIMIT many) u;
    IF noted < enough OR _pgrecall.flush_pending(NEW.namespace_id, CASE WHEN noted < many THEN most ELSE many END) = 0 THEN
        PERFORM set_config('pgrecall.folded', here, true);
    END IF;
    RETURN NULL;
END
$function$;

COMMENT ON FUNCTION _pgrecall.flush_pending_on_commit IS
    'Trigger: folds a namespace''s changes into its postings when there are enough of them.';

ALTER FUNCTION _pgrecall.flush_pending_on_commit OWNER TO pgrecall_engine;

DROP TRIGGER IF EXISTS flush_pending_on_commit ON pgrecall.pending_postings;
CREATE CONSTRAINT TRIGGER flush_pending_on_commit
    AFTER INSERT ON pgrecall.pending_postings
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW
    WHEN (NEW.memory_id % 32 = 0)
    EXECUTE FUNCTION _pgrecall.flush_pending_on_commit();
