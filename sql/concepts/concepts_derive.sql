-- Trigger on concepts that empties the embeddings of a name that has changed, of every generation.
CREATE OR REPLACE FUNCTION pgrecall.concepts_derive()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN jsonb_populate_record(NEW, (SELECT jsonb_object_agg(g.column_name, NULL) FROM pgrecall.generations g));
END
$function$;

COMMENT ON FUNCTION pgrecall.concepts_derive IS 'Trigger: empties the embeddings of a name that has changed.';

CREATE OR REPLACE TRIGGER concepts_derive
    BEFORE UPDATE OF name ON pgrecall.concepts
    FOR EACH ROW
    WHEN (NEW.name <> OLD.name)
    EXECUTE FUNCTION pgrecall.concepts_derive();
