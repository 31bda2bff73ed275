-- Trigger on memories: a long memory that comes back is embedded again.
--
-- Its passages went when it was forgotten (cancel_embedding_job), and what is pending is told by its embedding alone.
CREATE OR REPLACE FUNCTION _pgrecall.embed_revived()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
SET enable_seqscan = 'off'
AS $function$
BEGIN
    IF NOT EXISTS (SELECT FROM pgrecall.passages p WHERE p.memory_id = NEW.id)
       AND EXISTS (SELECT FROM _pgrecall.passage_bounds(NEW.content)) THEN
        NEW := jsonb_populate_record(NEW, _pgrecall.no_embeddings());
    END IF;
    RETURN NEW;
END
$function$;

CREATE OR REPLACE TRIGGER memories_15_revived
    BEFORE UPDATE OF deleted_at ON pgrecall.memories
    FOR EACH ROW WHEN (OLD.deleted_at IS NOT NULL AND NEW.deleted_at IS NULL)
    EXECUTE FUNCTION _pgrecall.embed_revived();
