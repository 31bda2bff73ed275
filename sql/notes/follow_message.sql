-- Trigger on memories: withdraws the notes of a message that is edited, forgotten or becomes sensitive.
--
-- An edited or restored message is read again, which brings back the notes that it states.
CREATE OR REPLACE FUNCTION _pgrecall.follow_message()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
BEGIN
    PERFORM _pgrecall.withdraw_notes(NEW.id, sensitive => NEW.is_sensitive);
    RETURN NULL;
END
$function$;

COMMENT ON FUNCTION _pgrecall.follow_message IS
    'Trigger: withdraws the notes of a message that is edited, forgotten or becomes sensitive.';

CREATE OR REPLACE TRIGGER memories_82_notes
    AFTER UPDATE OF content, speaker, is_sensitive, deleted_at ON pgrecall.memories
    FOR EACH ROW
    WHEN ((OLD.content, OLD.speaker) IS DISTINCT FROM (NEW.content, NEW.speaker) OR (NEW.is_sensitive AND NOT OLD.is_sensitive)
          OR (NEW.deleted_at IS NOT NULL AND OLD.deleted_at IS NULL))
    EXECUTE FUNCTION _pgrecall.follow_message();
