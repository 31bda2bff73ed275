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
    ids bigint[];
    lost bigint[];
BEGIN
    IF TG_OP = 'INSERT' THEN
        SELECT array_agg(n.id) INTO ids FROM new_memories n WHERE cardinality(n.tags) > 0 OR cardinality(n.expanded_keywords) > 0;
    ELSE
        ids := ARRAY[NEW.id];
        lost := pgrecall.remove_mentions(
            NEW.id, NEW.is_sensitive OR NEW.deleted_at IS NOT NULL OR NEW.namespace_id <> OLD.namespace_id
        );
    END IF;
    IF ids IS NOT NULL THEN
        PERFORM pgrecall.settle_concepts(ids, lost);
        PERFORM pgrecall.add_mentions(ids);
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
