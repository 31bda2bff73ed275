-- Where the prototypes hang: each defines the three functions. An embedding that is written back comes to none of them.
CREATE TRIGGER layouts_stored
    AFTER INSERT ON pgrecall.memories
    REFERENCING NEW TABLE AS new_memories
    FOR EACH STATEMENT EXECUTE FUNCTION layouts.stored();

CREATE TRIGGER layouts_changed
    AFTER UPDATE OF title, content, category, tags, expanded_keywords, language, search_vector, namespace_id, deleted_at
    ON pgrecall.memories
    FOR EACH ROW
    WHEN (ROW (OLD.namespace_id, OLD.deleted_at IS NULL, OLD.search_vector)
          IS DISTINCT FROM ROW (NEW.namespace_id, NEW.deleted_at IS NULL, NEW.search_vector))
    EXECUTE FUNCTION layouts.changed();

CREATE TRIGGER layouts_gone
    AFTER DELETE ON pgrecall.memories
    REFERENCING OLD TABLE AS old_memories
    FOR EACH STATEMENT EXECUTE FUNCTION layouts.gone();
