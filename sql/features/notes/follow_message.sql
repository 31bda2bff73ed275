-- Trigger on memories: withdraws the notes of a message that is edited, forgotten or becomes sensitive.
--
-- A note may say what its messages say only together, so it does not outlive any of them: it is forgotten at once, and is
-- sensitive if the message is. The other messages are read again, and bring it back if they state it without this one. An
-- edited or restored message is read again too.
--
-- A note that a user has forgotten stays as it is, so that reading its messages again does not bring it back. So does one that a
-- user let expire before its message; one that expired with the message is withdrawn with it.
CREATE OR REPLACE FUNCTION _pgrecall.follow_message()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
SET enable_seqscan = 'off'
AS $function$
DECLARE
    notes bigint[];
BEGIN
    SELECT array_agg(e.note_id) INTO notes
    FROM pgrecall.note_evidence e
    WHERE e.memory_id = NEW.id AND (e.is_stated OR NEW.is_sensitive);
    IF notes IS NULL THEN
        RETURN NULL;
    END IF;
    IF pgrecall.stored_setting('extract_notes') = 'on' THEN
        -- A row that complete_notes() holds is skipped: what it stores leaves out notes of this message.
        INSERT INTO pgrecall.jobs AS j (memory_id, kind, namespace_id)
        SELECT q.memory_id, 'notes', q.namespace_id
        FROM (
            SELECT x.memory_id, NEW.namespace_id AS namespace_id
            FROM pgrecall.extractions x
            WHERE x.enricher = 'notes' AND x.memory_id = ANY (ARRAY(
                SELECT o.memory_id
                FROM pgrecall.note_evidence o
                JOIN pgrecall.memories n ON n.id = o.note_id AND n.deleted_at IS NULL
                WHERE o.note_id = ANY (notes) AND o.memory_id <> NEW.id AND o.is_stated
            ))
            ORDER BY x.memory_id
            FOR UPDATE SKIP LOCKED
        ) q
        ON CONFLICT DO NOTHING;
    END IF;
    -- Two messages of one note wait for each other here: the second sees what the first has withdrawn.
    PERFORM FROM pgrecall.memories n WHERE n.id = ANY (notes) ORDER BY n.id FOR NO KEY UPDATE;
    UPDATE pgrecall.note_evidence e
    SET is_stated = false
    FROM pgrecall.memories n
    WHERE e.note_id = ANY (notes) AND e.is_stated AND n.id = e.note_id
      -- expire_memories() forgets both, in any order. What it forgets has expired by then.
      AND (n.deleted_at IS NULL OR n.expires_at <= n.deleted_at AND n.expires_at >= NEW.expires_at AND NEW.deleted_at IS NOT NULL);
    UPDATE pgrecall.memories n
    SET deleted_at = COALESCE(n.deleted_at, now()), updated_at = now(), is_sensitive = n.is_sensitive OR NEW.is_sensitive
    WHERE n.id = ANY (notes) AND (n.deleted_at IS NULL OR NEW.is_sensitive AND NOT n.is_sensitive);
    RETURN NULL;
END
$function$;

CREATE OR REPLACE TRIGGER memories_82_notes
    AFTER UPDATE OF content, title, category, tags, expanded_keywords, metadata, source, speaker, is_sensitive,
        deleted_at
    ON pgrecall.memories
    FOR EACH ROW
    WHEN ((OLD.content, OLD.speaker) IS DISTINCT FROM (NEW.content, NEW.speaker) OR (NEW.is_sensitive AND NOT OLD.is_sensitive)
          OR (NEW.deleted_at IS NOT NULL AND OLD.deleted_at IS NULL))
    EXECUTE FUNCTION _pgrecall.follow_message();
