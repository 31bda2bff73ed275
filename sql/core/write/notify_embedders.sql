-- Triggers on memories: wake the embedders with one notification per statement, without content.
--
-- The notification is a hint: the table is the queue, and embedders also poll. None is sent while half of the server's queue is in
-- use. A transaction that stays open while others fill the other half fails at its commit, once: tried again, it sends none.
CREATE OR REPLACE FUNCTION _pgrecall.notify_embedders()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
BEGIN
    PERFORM _pgrecall.send_notification('pgrecall_embed');
    RETURN NULL;
END
$function$;

ALTER FUNCTION _pgrecall.notify_embedders OWNER TO pgrecall_gate;

CREATE OR REPLACE TRIGGER memories_50_notify_insert
    AFTER INSERT ON pgrecall.memories
    FOR EACH STATEMENT EXECUTE FUNCTION _pgrecall.notify_embedders();

CREATE OR REPLACE TRIGGER memories_50_notify_update
    AFTER UPDATE OF content, title, category, tags, expanded_keywords, metadata, source, speaker, is_sensitive,
        deleted_at
    ON pgrecall.memories
    FOR EACH STATEMENT EXECUTE FUNCTION _pgrecall.notify_embedders();
