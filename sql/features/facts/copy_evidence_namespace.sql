-- Trigger on relationship_evidence: copies the memory's namespace into the row, for the policies.
CREATE OR REPLACE FUNCTION _pgrecall.copy_evidence_namespace()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
BEGIN
    SELECT m.namespace_id INTO NEW.namespace_id FROM pgrecall.memories m WHERE m.id = NEW.memory_id;
    RETURN NEW;
END
$function$;

CREATE OR REPLACE TRIGGER copy_evidence_namespace
    BEFORE INSERT OR UPDATE OF memory_id, namespace_id ON pgrecall.relationship_evidence
    FOR EACH ROW EXECUTE FUNCTION _pgrecall.copy_evidence_namespace();
