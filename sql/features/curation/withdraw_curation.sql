-- Trigger on memories: deletes what curation derived from a memory that becomes sensitive.
--
-- The ids and times of a decision that changed something stay, so that it can be undone. Measurements of the text are
-- deleted.
CREATE OR REPLACE FUNCTION _pgrecall.withdraw_curation()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
BEGIN
    DELETE FROM pgrecall.curations c WHERE c.memory_id = NEW.id AND c.decision = 'ADD';
    UPDATE pgrecall.curations c SET evidence = '{}' WHERE NEW.id IN (c.memory_id, c.other_id) AND c.evidence <> '{}';
    RETURN NULL;
END
$function$;

CREATE OR REPLACE TRIGGER memories_80_curation
    AFTER UPDATE OF content, title, category, tags, expanded_keywords, metadata, source, speaker, is_sensitive
    ON pgrecall.memories
    FOR EACH ROW
    WHEN (NEW.is_sensitive AND NOT OLD.is_sensitive)
    EXECUTE FUNCTION _pgrecall.withdraw_curation();
