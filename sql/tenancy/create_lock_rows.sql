-- Trigger on namespaces that makes the rows which are locked in their place (pgrecall.locks).
--
-- It fires for copies of rows too, as when a namespace moves.
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

COMMENT ON FUNCTION _pgrecall.create_lock_rows IS 'Trigger: makes the rows that are locked in a namespace''s place.';

CREATE OR REPLACE TRIGGER create_lock_rows
    AFTER INSERT OR DELETE ON pgrecall.namespaces
    FOR EACH ROW EXECUTE FUNCTION _pgrecall.create_lock_rows();

ALTER TABLE pgrecall.namespaces ENABLE ALWAYS TRIGGER create_lock_rows;
