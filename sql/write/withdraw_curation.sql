-- Trigger on memories that takes back what curation has derived from one that is now sensitive.
--
-- Of a decision that changed something ids and times stay, so that it can still be undone; what was measured on the text goes.
CREATE OR REPLACE FUNCTION _pgrecall.withdraw_curation()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
BEGIN
    DELETE FROM pgrecall.curation_jobs j WHERE j.memory_id = NEW.id;
    DELETE FROM pgrecall.curations c WHERE c.memory_id = NEW.id AND c.decision = 'ADD';
    UPDATE pgrecall.curations c SET evidence = '{}' WHERE NEW.id IN (c.memory_id, c.other_id) AND c.evidence <> '{}';
    RETURN NULL;
END
$function$;

COMMENT ON FUNCTION _pgrecall.withdraw_curation IS 'Trigger: takes back what curation has derived from a memory that is now sensitive.';

CREATE OR REPLACE TRIGGER memories_80_curation
    AFTER UPDATE OF is_sensitive ON pgrecall.memories
    FOR EACH ROW
    WHEN (NEW.is_sensitive AND NOT OLD.is_sensitive)
    EXECUTE FUNCTION _pgrecall.withdraw_curation();
