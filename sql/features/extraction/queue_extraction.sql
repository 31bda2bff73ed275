-- Triggers on memories: queue them for the extraction of names, times and facts.
--
-- They fire before link_declared_concepts. The row lock taken here keeps a result for the old text from arriving after
-- that trigger has run. A changed text invalidates the ticket of a running claim.
CREATE OR REPLACE FUNCTION _pgrecall.queue_extraction()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id)
        SELECT n.id, 'text', n.namespace_id FROM new_memories n WHERE NOT n.is_sensitive AND n.deleted_at IS NULL;
        RETURN NULL;
    END IF;
    IF NEW.is_sensitive OR NEW.deleted_at IS NOT NULL THEN
        -- An extraction that is being stored may queue the memory for other kinds of jobs: wait for it first.
        PERFORM FROM pgrecall.jobs j WHERE j.memory_id = NEW.id AND j.generation_id = 0 ORDER BY j.kind DESC FOR UPDATE;
        DELETE FROM pgrecall.jobs j WHERE j.memory_id = NEW.id AND j.generation_id = 0;
        DELETE FROM pgrecall.extractions x WHERE x.memory_id = NEW.id;
    ELSE
        INSERT INTO pgrecall.jobs AS j (memory_id, kind, namespace_id) VALUES (NEW.id, 'text', NEW.namespace_id)
        ON CONFLICT ON CONSTRAINT jobs_pkey DO UPDATE
            SET ticket = NULL, worker_id = NULL, lease_expires_at = NULL, next_attempt_at = NULL, attempts = 0, last_error = NULL,
                cause = NULL, failed_at = NULL, waiting_since = now(), namespace_id = excluded.namespace_id;
        -- The models read it again only after the extraction of its text.
        DELETE FROM pgrecall.jobs j WHERE j.memory_id = NEW.id AND j.kind IN ('llm', 'notes', 'sparse');
        DELETE FROM pgrecall.extractions x WHERE x.memory_id = NEW.id AND x.enricher <> 'text';
        -- Other kinds have failed with the old text.
        UPDATE pgrecall.jobs j SET failed_at = NULL, attempts = 0, cause = NULL, last_error = NULL, waiting_since = now()
        WHERE j.memory_id = NEW.id AND j.generation_id = 0 AND j.failed_at IS NOT NULL;
        IF NEW.namespace_id <> OLD.namespace_id THEN
            UPDATE pgrecall.jobs j SET namespace_id = NEW.namespace_id
            WHERE j.memory_id = NEW.id AND j.namespace_id <> NEW.namespace_id;
        END IF;
    END IF;
    DELETE FROM pgrecall.llm_answers a WHERE a.memory_id = NEW.id;
    RETURN NULL;
END
$function$;

CREATE OR REPLACE TRIGGER memories_20_extraction_insert
    AFTER INSERT ON pgrecall.memories
    REFERENCING NEW TABLE AS new_memories
    FOR EACH STATEMENT EXECUTE FUNCTION _pgrecall.queue_extraction();

CREATE OR REPLACE TRIGGER memories_20_extraction_update
    AFTER UPDATE OF content, title, category, tags, expanded_keywords, metadata, source, speaker, is_sensitive,
        language, occurred_at, created_at, deleted_at, namespace_id
    ON pgrecall.memories
    FOR EACH ROW
    WHEN (ROW (OLD.title, OLD.content, OLD.speaker, OLD.language, COALESCE(OLD.occurred_at, OLD.created_at), OLD.is_sensitive,
               OLD.deleted_at IS NULL, OLD.namespace_id)
          IS DISTINCT FROM
          ROW (NEW.title, NEW.content, NEW.speaker, NEW.language, COALESCE(NEW.occurred_at, NEW.created_at), NEW.is_sensitive,
               NEW.deleted_at IS NULL, NEW.namespace_id))
    EXECUTE FUNCTION _pgrecall.queue_extraction();
