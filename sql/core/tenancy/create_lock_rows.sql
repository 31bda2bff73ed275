-- Trigger on namespaces that creates their rows in pgrecall.locks, which sessions lock instead of the namespace.
--
-- It also fires for copied rows, as when a namespace moves.
CREATE OR REPLACE FUNCTION _pgrecall.create_lock_rows()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF TG_OP = 'DELETE' THEN
        DELETE FROM pgrecall.locks l WHERE l.home = OLD.id;
    ELSE
        INSERT INTO pgrecall.locks (home, name)
        SELECT NEW.id, l.name FROM unnest('{names,facts,postings,extractions,imports}'::text[]) l (name)
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$function$;

CREATE OR REPLACE TRIGGER create_lock_rows
    AFTER INSERT OR DELETE ON pgrecall.namespaces
    FOR EACH ROW EXECUTE FUNCTION _pgrecall.create_lock_rows();

ALTER TABLE pgrecall.namespaces ENABLE ALWAYS TRIGGER create_lock_rows;
