-- Trigger on memories: removes the sparse terms of a memory whose text changed, or that became sensitive or was forgotten.
CREATE OR REPLACE FUNCTION _pgrecall.remove_sparse_terms()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
BEGIN
    DELETE FROM pgrecall.sparse_terms s WHERE s.memory_id = NEW.id;
    RETURN NULL;
END
$function$;

CREATE OR REPLACE TRIGGER memories_90_sparse_terms
    AFTER UPDATE OF content, title, category, tags, expanded_keywords, metadata, source, speaker, is_sensitive,
        language, deleted_at, namespace_id
    ON pgrecall.memories
    FOR EACH ROW
    WHEN (ROW (OLD.title, OLD.content, OLD.language, OLD.namespace_id) IS DISTINCT FROM
          ROW (NEW.title, NEW.content, NEW.language, NEW.namespace_id)
          OR NEW.is_sensitive OR NEW.deleted_at IS NOT NULL)
    EXECUTE FUNCTION _pgrecall.remove_sparse_terms();
