-- Triggers on facts: note that pages are behind when a statement was found, or when a fact ended or weighs less or more.
--
-- The lines stay until the daemon fills the pages: the memories that they quote have not changed.
CREATE OR REPLACE FUNCTION _pgrecall.follow_facts()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
SET debug_print_plan = off
AS $function$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM _pgrecall.mark_pages(n.namespace_id) FROM (SELECT DISTINCT x.namespace_id FROM new_evidence x) n;
    ELSE
        PERFORM _pgrecall.mark_pages(NEW.namespace_id);
    END IF;
    RETURN NULL;
END
$function$;

ALTER FUNCTION _pgrecall.follow_facts OWNER TO pgrecall_engine;

CREATE OR REPLACE TRIGGER follow_facts_stated
    AFTER INSERT ON pgrecall.relationship_evidence
    REFERENCING NEW TABLE AS new_evidence
    FOR EACH STATEMENT EXECUTE FUNCTION _pgrecall.follow_facts();

CREATE OR REPLACE TRIGGER follow_facts_changed
    AFTER UPDATE OF valid_from, valid_to, weight ON pgrecall.relationships
    FOR EACH ROW
    WHEN ((OLD.valid_from, OLD.valid_to, OLD.weight) IS DISTINCT FROM (NEW.valid_from, NEW.valid_to, NEW.weight))
    EXECUTE FUNCTION _pgrecall.follow_facts();
