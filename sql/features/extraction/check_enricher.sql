-- Validates the name of what reads memories.
--
-- Errors  22023 another name
CREATE OR REPLACE FUNCTION _pgrecall.check_enricher(enricher text)
RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF enricher IS NULL OR enricher NOT IN ('text', 'llm', 'notes', 'sparse') THEN
        RAISE EXCEPTION '"%" is not an enricher', left(enricher, 40)
            USING ERRCODE = 'invalid_parameter_value', HINT = 'Pass text, llm, notes or sparse.';
    END IF;
END
$function$;
