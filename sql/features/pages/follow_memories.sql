-- Triggers on memories: withdraw the lines of pages that quote a changed memory, and note that the pages are behind.
--
-- The line goes in the transaction that changes the memory; the daemon fills the pages again (refresh_pages). A deleted memory takes
-- its lines with it by their foreign key. SECURITY DEFINER: nobody else writes lines.
CREATE OR REPLACE FUNCTION _pgrecall.follow_memories()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM _pgrecall.mark_pages(n.namespace_id) FROM (SELECT DISTINCT x.namespace_id FROM new_memories x) n;
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM _pgrecall.mark_pages(o.namespace_id) FROM (SELECT DISTINCT x.namespace_id FROM old_memories x) o;
    ELSE
        DELETE FROM pgrecall.page_lines l WHERE l.memory_id = OLD.id;
        PERFORM _pgrecall.mark_pages(OLD.namespace_id);
        IF NEW.namespace_id <> OLD.namespace_id THEN
            PERFORM _pgrecall.mark_pages(NEW.namespace_id);
        END IF;
    END IF;
    RETURN NULL;
END
$function$;

ALTER FUNCTION _pgrecall.follow_memories OWNER TO pgrecall_engine;

CREATE OR REPLACE TRIGGER memories_92_pages_insert
    AFTER INSERT ON pgrecall.memories
    REFERENCING NEW TABLE AS new_memories
    FOR EACH STATEMENT EXECUTE FUNCTION _pgrecall.follow_memories();

CREATE OR REPLACE TRIGGER memories_92_pages_update
    AFTER UPDATE OF content, title, category, tags, expanded_keywords, metadata, source, speaker, is_sensitive,
        language, occurred_at, created_at, valid_to, expires_at, deleted_at, superseded_by, namespace_id, origin
    ON pgrecall.memories
    FOR EACH ROW
    WHEN ((OLD.content, OLD.title, OLD.category, OLD.tags, OLD.expanded_keywords, OLD.language, OLD.speaker, OLD.is_sensitive,
           OLD.occurred_at, OLD.created_at, OLD.valid_to, OLD.expires_at, OLD.deleted_at, OLD.superseded_by, OLD.namespace_id,
           OLD.origin) IS DISTINCT FROM
          (NEW.content, NEW.title, NEW.category, NEW.tags, NEW.expanded_keywords, NEW.language, NEW.speaker, NEW.is_sensitive,
           NEW.occurred_at, NEW.created_at, NEW.valid_to, NEW.expires_at, NEW.deleted_at, NEW.superseded_by, NEW.namespace_id,
           NEW.origin))
    EXECUTE FUNCTION _pgrecall.follow_memories();

CREATE OR REPLACE TRIGGER memories_92_pages_delete
    AFTER DELETE ON pgrecall.memories
    REFERENCING OLD TABLE AS old_memories
    FOR EACH STATEMENT EXECUTE FUNCTION _pgrecall.follow_memories();
