-- Trigger on concepts: clears the embeddings of a changed name, in every generation.
CREATE OR REPLACE FUNCTION _pgrecall.clear_concept_embeddings()
RETURNS trigger
LANGUAGE plpgsql
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN jsonb_populate_record(NEW, _pgrecall.no_embeddings());
END
$function$;

CREATE OR REPLACE TRIGGER clear_concept_embeddings
    BEFORE UPDATE OF name ON pgrecall.concepts
    FOR EACH ROW
    WHEN (NEW.name <> OLD.name)
    EXECUTE FUNCTION _pgrecall.clear_concept_embeddings();
