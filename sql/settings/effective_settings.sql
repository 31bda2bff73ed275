-- The settings of a recall, resolved and validated, in one read.
--
-- Errors  22023 a value that is no number, out of its range or not among the choices
CREATE OR REPLACE FUNCTION pgrecall.effective_settings()
RETURNS pgrecall.recall_settings
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    resolved jsonb;
    refused text;
BEGIN
    SELECT jsonb_object_agg(s.name, s.value),
           min(s.name) FILTER (WHERE NOT pgrecall.is_valid_setting(s.value, s.minimum, s.maximum, s.is_integer)
                                 OR s.value <> ALL (s.choices))
    INTO resolved, refused
    FROM pgrecall.settings_in_force s
    WHERE s.minimum IS NOT NULL OR s.choices IS NOT NULL;

    IF refused IS NOT NULL THEN
        PERFORM pgrecall.refuse_setting(refused, resolved ->> refused);
    END IF;
    RETURN jsonb_populate_record(NULL::pgrecall.recall_settings, resolved);
END
$function$;

COMMENT ON FUNCTION pgrecall.effective_settings IS
    'The settings of a recall in force, validated: parameter, then stored, then built-in default.';
