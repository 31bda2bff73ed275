-- Trigger on memories: ends the embedding job of a memory, and removes its passages, when it must no longer be embedded.
--
-- Its text changed, it was flagged sensitive, or it was forgotten. One that an import has just stored with its passages, and that
-- only waits for its successor, keeps them.
--
-- A new text starts without the lease and failures of the old one. complete() drops a late result for the old text, because
-- its hash differs.
CREATE OR REPLACE FUNCTION _pgrecall.cancel_embedding_job()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF NEW.deleted_at = _pgrecall.awaits_successor() AND NEW.content_hash = OLD.content_hash AND NOT NEW.is_sensitive THEN
        RETURN NULL;
    END IF;
    DELETE FROM pgrecall.jobs j WHERE j.memory_id = NEW.id AND j.kind = 'embedding';
    DELETE FROM pgrecall.truncated_embeddings t WHERE t.memory_id = NEW.id;
    DELETE FROM pgrecall.passages p WHERE p.memory_id = NEW.id;
    RETURN NULL;
END
$function$;

CREATE OR REPLACE TRIGGER memories_90_embedding_job
    AFTER UPDATE OF content, title, category, tags, expanded_keywords, metadata, source, speaker, is_sensitive,
        deleted_at
    ON pgrecall.memories
    FOR EACH ROW
    WHEN (NEW.content_hash <> OLD.content_hash OR NEW.is_sensitive OR NEW.deleted_at IS NOT NULL)
    EXECUTE FUNCTION _pgrecall.cancel_embedding_job();
