-- Sends a notification, unless too much of the server's queue is in use (pgrecall.sends_notifications).
--
-- Call it as late as possible: the queue may fill until the transaction commits.
CREATE OR REPLACE FUNCTION _pgrecall.send_notification(channel text, payload text DEFAULT '')
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF pgrecall.sends_notifications() THEN
        PERFORM pg_notify(channel, payload);
    END IF;
END
$function$;
