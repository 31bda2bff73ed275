-- Trigger on memories: lowers the origin of the notes that a less trusted message states. It never raises one.
CREATE OR REPLACE FUNCTION _pgrecall.follow_note_origin()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
SET enable_seqscan = 'off'
AS $function$
DECLARE
    notes bigint[];
BEGIN
    SELECT array_agg(e.note_id) INTO notes FROM pgrecall.note_evidence e WHERE e.memory_id = NEW.id AND e.is_stated;
    IF notes IS NULL THEN
        RETURN NULL;
    END IF;
    -- In the order of all who write notes.
    PERFORM FROM pgrecall.memories n WHERE n.id = ANY (notes) ORDER BY n.id FOR NO KEY UPDATE;
    UPDATE pgrecall.memories n SET origin = NEW.origin, updated_at = now() WHERE n.id = ANY (notes) AND n.origin > NEW.origin;
    RETURN NULL;
END
$function$;

CREATE OR REPLACE TRIGGER memories_83_note_origin
    AFTER UPDATE OF origin ON pgrecall.memories
    FOR EACH ROW WHEN (NEW.origin < OLD.origin)
    EXECUTE FUNCTION _pgrecall.follow_note_origin();
