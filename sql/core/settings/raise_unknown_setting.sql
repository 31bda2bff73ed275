-- Raises the error about a setting that does not exist; the hint lists the settings with the most similar names.
--
-- What was a switch and is now a word of the list extract gets the hint to it.
--
-- Errors  22023 always
CREATE OR REPLACE FUNCTION _pgrecall.raise_unknown_setting(name text)
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    nearest text;
    words text;
BEGIN
    SELECT d.default_value INTO words
    FROM pgrecall.setting_definitions d
    WHERE d.name = 'extract' AND starts_with(raise_unknown_setting.name, 'extract_')
      AND substr(raise_unknown_setting.name, 9) = ANY (string_to_array(d.default_value, ', '));
    IF words IS NOT NULL THEN
        RAISE EXCEPTION 'there is no setting "%"', name
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = format('It is a word of the list extract, by default %L.', words);
    END IF;
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
