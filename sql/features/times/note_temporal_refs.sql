-- Triggers on memories: maintain the times that their texts mention.
--
-- Inserts are processed per statement, updates per row and only if a relevant column changed, so writing an embedding
-- costs nothing here. For a text without a time, a check suffices (date_hint(), asian_hint()).
CREATE OR REPLACE FUNCTION _pgrecall.note_temporal_refs()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
DECLARE
    ids bigint[];
BEGIN
    IF TG_OP = 'INSERT' THEN
        SELECT array_agg(n.id) INTO ids
        FROM new_memories n
        WHERE NOT n.is_sensitive AND n.deleted_at IS NULL AND (
            _pgrecall.fold_digits(n.content) ~* _pgrecall.date_hint()
            OR (octet_length(n.content) > length(n.content) AND n.content ~ _pgrecall.asian_hint())
        );
    ELSE
        DELETE FROM pgrecall.temporal_refs r WHERE r.memory_id = NEW.id;
        ids := ARRAY[NEW.id];
    END IF;
    IF ids IS NOT NULL THEN
        PERFORM _pgrecall.store_temporal_refs(ids);
    END IF;
    RETURN NULL;
END
$function$;

CREATE OR REPLACE TRIGGER memories_70_times_insert
    AFTER INSERT ON pgrecall.memories
    REFERENCING NEW TABLE AS new_memories
    FOR EACH STATEMENT EXECUTE FUNCTION _pgrecall.note_temporal_refs();

CREATE OR REPLACE TRIGGER memories_70_times_update
    AFTER UPDATE OF content, title, category, tags, expanded_keywords, metadata, source, speaker, is_sensitive,
        occurred_at, created_at, deleted_at, namespace_id
    ON pgrecall.memories
    FOR EACH ROW
    WHEN (ROW (OLD.content, COALESCE(OLD.occurred_at, OLD.created_at), OLD.is_sensitive, OLD.deleted_at IS NULL, OLD.namespace_id)
          IS DISTINCT FROM
          ROW (NEW.content, COALESCE(NEW.occurred_at, NEW.created_at), NEW.is_sensitive, NEW.deleted_at IS NULL, NEW.namespace_id))
    EXECUTE FUNCTION _pgrecall.note_temporal_refs();
