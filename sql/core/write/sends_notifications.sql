-- Whether pgrecall sends notifications: while less than half of the server's queue of them is in use.
--
-- A notification is a hint, but a transaction that sends one fails to commit if the queue is full, and any session that listens
-- with a transaction open can fill it. Daemons that get no notifications poll more often.
CREATE OR REPLACE FUNCTION pgrecall.sends_notifications()
RETURNS boolean
LANGUAGE sql VOLATILE
RETURN pg_notification_queue_usage() < 0.5;

GRANT EXECUTE ON FUNCTION pgrecall.sends_notifications TO pgrecall_reader, pgrecall_embedder;
