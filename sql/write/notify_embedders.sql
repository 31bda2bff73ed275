-- Trigger on memories: wakes the embedders with one notification per transaction, without content.
--
-- The notification is a hint: the table is the queue, and embedders also poll. It is sent when the transaction commits, because
-- a queue of notifications that others have filled meanwhile would make the commit fail.
CREATE OR REPLACE FUNCTION _pgrecall.notify_embedders()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF current_setting('pgrecall.notified', true) IS DISTINCT FROM 'on' THEN
        PERFORM set_config('pgrecall.notified', 'on', true);
        PERFORM _pgrecall.send_notification('pgrecall_embed');
    END IF;
    RETURN NULL;
END
$function$;

COMMENT ON FUNCTION _pgrecall.notify_embedders IS 'Trigger: notifies the embedders that there may be work.';

ALTER FUNCTION _pgrecall.notify_embedders OWNER TO pgrecall_gate;

DROP TRIGGER IF EXISTS memories_50_notify ON pgrecall.memories;
CREATE CONSTRAINT TRIGGER memories_50_notify
    AFTER INSERT OR UPDATE OF title, content, expanded_keywords, is_sensitive, deleted_at ON pgrecall.memories
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW
    WHEN (NEW.deleted_at IS NULL AND NOT NEW.is_sensitive)
    EXECUTE FUNCTION _pgrecall.notify_embedders();
