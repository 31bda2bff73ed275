-- Trigger that keeps the namespace's name in its grants. See find_namespace().
--
-- It also fires for copied rows, as when a namespace moves.
CREATE OR REPLACE FUNCTION _pgrecall.name_grants()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF TG_RELID = 'pgrecall.namespaces'::regclass THEN
        UPDATE pgrecall.grants g SET namespace = NEW.name WHERE g.namespace_id = NEW.id;
        RETURN NULL;
    END IF;
    -- Waits for who is renaming it, and sees no grant that is not committed.
    SELECT n.name INTO NEW.namespace FROM pgrecall.namespaces n WHERE n.id = NEW.namespace_id FOR KEY SHARE;
    RETURN NEW;
END
$function$;

CREATE OR REPLACE TRIGGER name_grants
    BEFORE INSERT OR UPDATE ON pgrecall.grants
    FOR EACH ROW EXECUTE FUNCTION _pgrecall.name_grants();

CREATE OR REPLACE TRIGGER name_grants
    AFTER UPDATE OF name ON pgrecall.namespaces
    FOR EACH ROW EXECUTE FUNCTION _pgrecall.name_grants();

ALTER TABLE pgrecall.grants ENABLE ALWAYS TRIGGER name_grants;
ALTER TABLE pgrecall.namespaces ENABLE ALWAYS TRIGGER name_grants;
