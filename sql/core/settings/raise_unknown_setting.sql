-- Raises the error about a setting that does not exist; the hint lists the settings with the most similar names.
--
-- Errors  22023 always
CREATE OR REPLACE FUNCTION _pgrecall.raise_unknown_setting(name text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    nearest text;
BEGIN
    SELECT string_agg(s.name, ', ' ORDER BY s.similarity DESC, s.name) INTO nearest
    FROM (
        SELECT d.name, _pgrecall.trigram_similarity(lower(left(raise_unknown_setting.name, 80)), d.name) AS similarity
        FROM pgrecall.setting_definitions d
        ORDER BY similarity DESC, d.name
        LIMIT 3
    ) s
    WHERE s.similarity >= 0.2;
    RAISE EXCEPTION 'there is no setting "%"', left(name, 80)
        USING ERRCODE = 'invalid_parameter_value',
              HINT = COALESCE('The nearest names: ' || nearest || '. ', '')
                     || 'SELECT name, effect FROM pgrecall.settings_reference lists all settings.';
END
$function$;

COMMENT ON FUNCTION _pgrecall.raise_unknown_setting IS
    'Raises the error about a setting that does not exist, with the settings of the most similar names.';
