-- Keeps the lexicon at once, with the postings. Writers of the same words wait for each other here until they commit.
CREATE FUNCTION layouts.counted()
RETURNS trigger
LANGUAGE plpgsql
AS $function$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM layouts.add_to_lexicon(array_agg(n.namespace_id), array_agg(n.search_vector), 1)
        FROM new_memories n WHERE n.deleted_at IS NULL;
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM layouts.add_to_lexicon(array_agg(o.namespace_id), array_agg(o.search_vector), -1)
        FROM old_memories o WHERE o.deleted_at IS NULL;
    ELSE
        IF OLD.deleted_at IS NULL THEN
            PERFORM layouts.add_to_lexicon(ARRAY[OLD.namespace_id], ARRAY[OLD.search_vector], -1);
        END IF;
        IF NEW.deleted_at IS NULL THEN
            PERFORM layouts.add_to_lexicon(ARRAY[NEW.namespace_id], ARRAY[NEW.search_vector], 1);
        END IF;
    END IF;
    RETURN NULL;
END
$function$;

CREATE TRIGGER layouts_counted_insert
    AFTER INSERT ON pgrecall.memories
    REFERENCING NEW TABLE AS new_memories
    FOR EACH STATEMENT EXECUTE FUNCTION layouts.counted();

CREATE TRIGGER layouts_counted_update
    AFTER UPDATE OF title, content, category, tags, expanded_keywords, language, search_vector, namespace_id, deleted_at
    ON pgrecall.memories
    FOR EACH ROW
    WHEN (ROW (OLD.namespace_id, OLD.deleted_at IS NULL, OLD.search_vector)
          IS DISTINCT FROM ROW (NEW.namespace_id, NEW.deleted_at IS NULL, NEW.search_vector))
    EXECUTE FUNCTION layouts.counted();

CREATE TRIGGER layouts_counted_delete
    AFTER DELETE ON pgrecall.memories
    REFERENCING OLD TABLE AS old_memories
    FOR EACH STATEMENT EXECUTE FUNCTION layouts.counted();
