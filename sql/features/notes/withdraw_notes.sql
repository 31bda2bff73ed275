-- Withdraws the notes that a message, read again, no longer states. A note that no other message states is forgotten.
--
-- A note that a user has forgotten stays as it is, so that reading its messages again does not bring it back.
--
-- memory_id  the message
-- kept       notes that it still states
CREATE OR REPLACE FUNCTION _pgrecall.withdraw_notes(memory_id bigint, kept bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
SET enable_seqscan = 'off'
AS $function$
DECLARE
    ids bigint[];
BEGIN
    SELECT array_agg(e.note_id) INTO ids
    FROM pgrecall.note_evidence e
    WHERE e.memory_id = withdraw_notes.memory_id AND e.note_id <> ALL (kept) AND e.is_stated;
    IF ids IS NULL THEN
        RETURN;
    END IF;
    -- Two messages of one note wait for each other here: the second sees what the first has withdrawn.
    PERFORM FROM pgrecall.memories n WHERE n.id = ANY (ids) ORDER BY n.id FOR NO KEY UPDATE;
    UPDATE pgrecall.note_evidence e
    SET is_stated = false
    FROM pgrecall.memories n
    WHERE e.memory_id = withdraw_notes.memory_id AND e.note_id = ANY (ids) AND e.is_stated AND n.id = e.note_id
      AND n.deleted_at IS NULL;
    UPDATE pgrecall.memories n
    SET deleted_at = now(), updated_at = now()
    WHERE n.id = ANY (ids) AND n.deleted_at IS NULL
      AND NOT EXISTS (
          SELECT FROM pgrecall.note_evidence e
          WHERE e.note_id = n.id AND e.is_stated AND e.memory_id <> withdraw_notes.memory_id
      );
END
$function$;
