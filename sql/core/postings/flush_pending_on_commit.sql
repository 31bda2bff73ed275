-- Trigger on pending_postings that flushes a namespace's pending changes once there are enough of them.
--
-- One insert in 32 checks, at commit: locks are then held only briefly, and it never waits for another transaction's. A
-- multiplicative hash of the id picks it (Knuth, The Art of Computer Programming 3, 6.4): where clients write to several
-- namespaces in turn, the ids of one can all be odd. A batch of 512 keeps that commit short. Embedders flush larger
-- batches, so little is left where one runs. Once a transaction has found nothing left to flush, its remaining inserts skip
-- the check (pgrecall.flushed_postings): each would scan past the rows that were just flushed.
CREATE OR REPLACE FUNCTION _pgrecall.flush_pending_on_commit()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
DECLARE
    enough CONSTANT integer := 64;
    most CONSTANT integer := 512;
    many CONSTANT integer := 10000;
    here CONSTANT text := NEW.namespace_id::text;
    noted bigint;
BEGIN
    IF current_setting('pgrecall.flushed_postings', true) = here THEN
        RETURN NULL;
    END IF;
    SELECT count(*) INTO noted
    FROM (SELECT FROM pgrecall.pending_postings u WHERE u.namespace_id = NEW.namespace_id LIMIT many) u;
    IF noted < enough OR _pgrecall.flush_pending(NEW.namespace_id, CASE WHEN noted < many THEN most ELSE many END) = 0 THEN
        PERFORM set_config('pgrecall.flushed_postings', here, true);
    END IF;
    RETURN NULL;
END
$function$;

ALTER FUNCTION _pgrecall.flush_pending_on_commit OWNER TO pgrecall_engine;

DROP TRIGGER IF EXISTS flush_pending_on_commit ON pgrecall.pending_postings;
CREATE CONSTRAINT TRIGGER flush_pending_on_commit
    AFTER INSERT ON pgrecall.pending_postings
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW
    WHEN (NEW.memory_id % 65536 * 40503 % 65536 < 2048)
    EXECUTE FUNCTION _pgrecall.flush_pending_on_commit();
