-- Trigger on memories: stores the old and new values of the fields that an UPDATE changed, for memory_history().
--
-- What is too old for the limits of a history goes (trim_history).
--
-- A change of derived columns alone, such as an embedding, is not noted: the trigger's WHEN is false.
CREATE OR REPLACE FUNCTION _pgrecall.note_change()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT SET extra_float_digits = 1
SET debug_print_plan = off
AS $function$
DECLARE
    old_fields CONSTANT jsonb := _pgrecall.history_fields(OLD);
    new_fields CONSTANT jsonb := _pgrecall.history_fields(NEW);
    before jsonb;
    after jsonb;
BEGIN
    SELECT jsonb_object_agg(o.key, o.value), jsonb_object_agg(o.key, new_fields -> o.key) INTO before, after
    FROM jsonb_each(old_fields) o
    WHERE o.value IS DISTINCT FROM new_fields -> o.key;
    IF before IS NULL THEN
        RETURN NULL;
    END IF;
    INSERT INTO pgrecall.memory_changes (memory_id, namespace_id, action, role, before, after, bytes)
    VALUES (
        NEW.id, NEW.namespace_id,
        CASE
            WHEN OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL
                THEN CASE WHEN OLD.expires_at <= now() THEN 'expire' ELSE 'forget' END
            WHEN OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS NULL THEN 'restore'
            WHEN OLD.superseded_by IS NULL AND NEW.superseded_by IS NOT NULL THEN 'supersede'
            WHEN OLD.superseded_by IS NOT NULL AND NEW.superseded_by IS NULL THEN 'unsupersede'
            ELSE 'update'
        END,
        pgrecall.session_role()::text, before, after, octet_length(before::text) + octet_length(after::text)
    );
    PERFORM _pgrecall.trim_history(NEW.id);
    RETURN NULL;
END
$function$;

ALTER FUNCTION _pgrecall.note_change OWNER TO pgrecall_engine;

CREATE OR REPLACE TRIGGER memories_85_history
    AFTER UPDATE OF content, title, category, tags, expanded_keywords, importance, metadata, source, session, speaker, "position",
        language, is_sensitive, occurred_at, created_at, valid_from, valid_to, expires_at, external_id, deleted_at, superseded_by, origin
    ON pgrecall.memories
    FOR EACH ROW EXECUTE FUNCTION _pgrecall.note_change();
