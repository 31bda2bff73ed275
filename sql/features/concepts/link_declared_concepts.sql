-- Triggers on memories: maintain the mentions of tags and expanded keywords.
--
-- Inserts are processed per statement, updates per row and only if a relevant column changed, so writing an embedding
-- costs nothing here. If the text changes, or the memory becomes sensitive, is forgotten or moves to another namespace,
-- everything derived from it is deleted at once.
CREATE OR REPLACE FUNCTION _pgrecall.link_declared_concepts()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
-- Planning would take longer than execution, and a plan from when the table was small would scan it forever.
SET plan_cache_mode = 'force_generic_plan'
SET enable_seqscan = 'off'
AS $function$
DECLARE
    memory_ids bigint[];
    sources text[];
    named pgrecall.naming[];
    lost pgrecall.naming[] := '{}'::pgrecall.naming[];
BEGIN
    IF TG_OP = 'INSERT' THEN
        IF current_setting('pgrecall.links_later', true) = 'on' THEN
            RETURN NULL;  -- insert_beside() does it
        END IF;
        SELECT array_agg(n.id), array_agg(s.source), array_agg(ROW (n.namespace_id, s.alias, s.name)::pgrecall.naming)
        INTO memory_ids, sources, named
        FROM new_memories n CROSS JOIN LATERAL _pgrecall.declared_aliases(n.tags, n.expanded_keywords) s
        WHERE NOT n.is_sensitive AND n.deleted_at IS NULL;
        PERFORM _pgrecall.lock_aliases_shared(ARRAY(SELECT DISTINCT n.namespace_id FROM unnest(named) n));
    ELSE
        PERFORM _pgrecall.lock_aliases_shared(ARRAY[OLD.namespace_id, NEW.namespace_id]);
        -- Facts before names, as everywhere: follow_fact_origin() needs them after this.
        IF NEW.origin <> OLD.origin AND EXISTS (SELECT FROM pgrecall.relationship_evidence e WHERE e.memory_id = NEW.id) THEN
            PERFORM _pgrecall.lock_relationships(ARRAY[NEW.namespace_id]);
        END IF;
        lost := _pgrecall.remove_mentions(
            NEW.id,
            NEW.is_sensitive OR NEW.deleted_at IS NOT NULL OR NEW.namespace_id <> OLD.namespace_id,
            (OLD.title, OLD.content, OLD.speaker) IS DISTINCT FROM (NEW.title, NEW.content, NEW.speaker)
        );
        -- A change of the text alone keeps the mentions of tags and keywords.
        IF NOT NEW.is_sensitive AND NEW.deleted_at IS NULL
           AND ROW (OLD.tags, OLD.expanded_keywords, OLD.is_sensitive, OLD.deleted_at IS NULL, OLD.namespace_id)
               IS DISTINCT FROM ROW (NEW.tags, NEW.expanded_keywords, false, true, NEW.namespace_id) THEN
            SELECT array_agg(NEW.id), array_agg(s.source), array_agg(ROW (NEW.namespace_id, s.alias, s.name)::pgrecall.naming)
            INTO memory_ids, sources, named
            FROM _pgrecall.declared_aliases(NEW.tags, NEW.expanded_keywords) s;
        END IF;
    END IF;
    IF named IS NOT NULL OR cardinality(lost) > 0 THEN
        PERFORM _pgrecall.upsert_concepts(named, lost);
    END IF;
    IF named IS NOT NULL THEN
        PERFORM _pgrecall.add_mentions(memory_ids, sources, named);
    END IF;
    RETURN NULL;
END
$function$;

CREATE OR REPLACE TRIGGER memories_40_concepts_insert
    AFTER INSERT ON pgrecall.memories
    REFERENCING NEW TABLE AS new_memories
    FOR EACH STATEMENT EXECUTE FUNCTION _pgrecall.link_declared_concepts();

CREATE OR REPLACE TRIGGER memories_40_concepts_update
    AFTER UPDATE OF content, title, category, tags, expanded_keywords, metadata, source, speaker, is_sensitive,
        deleted_at, namespace_id
    ON pgrecall.memories
    FOR EACH ROW
    WHEN (ROW (OLD.title, OLD.content, OLD.speaker, OLD.tags, OLD.expanded_keywords, OLD.is_sensitive, OLD.deleted_at IS NULL,
               OLD.namespace_id)
          IS DISTINCT FROM
          ROW (NEW.title, NEW.content, NEW.speaker, NEW.tags, NEW.expanded_keywords, NEW.is_sensitive, NEW.deleted_at IS NULL,
               NEW.namespace_id))
    EXECUTE FUNCTION _pgrecall.link_declared_concepts();
