-- Triggers on memories that keep the mentions of tags and expanded keywords.
--
-- Inserts are linked a statement at a time, updates a row at a time and only where something that counts has changed:
-- writing back an embedding costs nothing here. What was derived from a memory that is now sensitive, forgotten or in
-- another namespace goes, whoever derived it.
CREATE OR REPLACE FUNCTION pgrecall.memories_mention()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
DECLARE
    batch record;
BEGIN
    IF TG_OP = 'INSERT' THEN
        FOR batch IN
            SELECT array_agg(n.id) AS ids
            FROM (
                SELECT i.id, row_number() OVER (ORDER BY i.id) AS place FROM new_memories i
                WHERE cardinality(i.tags) > 0 OR cardinality(i.expanded_keywords) > 0
            ) n
            GROUP BY n.place / 2000
        LOOP
            PERFORM pgrecall.add_mentions(batch.ids);
        END LOOP;
    ELSIF NEW.is_sensitive OR NEW.deleted_at IS NOT NULL OR NEW.namespace_id <> OLD.namespace_id THEN
        PERFORM pgrecall.remove_mentions(NEW.id);
        PERFORM pgrecall.add_mentions(ARRAY[NEW.id]);
    ELSE
        PERFORM pgrecall.remove_mentions(NEW.id, ARRAY['tag', 'keyword']);
        PERFORM pgrecall.add_mentions(ARRAY[NEW.id]);
    END IF;
    RETURN NULL;
END
$function$;

COMMENT ON FUNCTION pgrecall.memories_mention IS 'Trigger: keeps the mentions of tags and expanded keywords.';

CREATE OR REPLACE TRIGGER memories_mention_insert
    AFTER INSERT ON pgrecall.memories
    REFERENCING NEW TABLE AS new_memories
    FOR EACH STATEMENT EXECUTE FUNCTION pgrecall.memories_mention();

CREATE OR REPLACE TRIGGER memories_mention_update
    AFTER UPDATE OF tags, expanded_keywords, is_sensitive, deleted_at, namespace_id ON pgrecall.memories
    FOR EACH ROW
    WHEN (ROW (OLD.tags, OLD.expanded_keywords, OLD.is_sensitive, OLD.deleted_at IS NULL, OLD.namespace_id)
          IS DISTINCT FROM
          ROW (NEW.tags, NEW.expanded_keywords, NEW.is_sensitive, NEW.deleted_at IS NULL, NEW.namespace_id))
    EXECUTE FUNCTION pgrecall.memories_mention();
