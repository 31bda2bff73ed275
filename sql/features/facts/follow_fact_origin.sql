-- Trigger on memories: decides anew which facts hold when the origin of a memory changes that states some.
CREATE OR REPLACE FUNCTION _pgrecall.follow_fact_origin()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
SET enable_seqscan = 'off'
AS $function$
BEGIN
    IF EXISTS (SELECT FROM pgrecall.relationship_evidence e WHERE e.memory_id = NEW.id) THEN
        PERFORM _pgrecall.lock_relationships(ARRAY[NEW.namespace_id]);
        PERFORM _pgrecall.refresh_relationships(ARRAY(
            SELECT DISTINCT e.relationship_id FROM pgrecall.relationship_evidence e WHERE e.memory_id = NEW.id
        ));
    END IF;
    RETURN NULL;
END
$function$;

CREATE OR REPLACE TRIGGER memories_84_fact_origin
    AFTER UPDATE OF origin ON pgrecall.memories
    FOR EACH ROW WHEN (NEW.origin <> OLD.origin)
    EXECUTE FUNCTION _pgrecall.follow_fact_origin();
