-- The settings that impacts are made with: as stored, or the defaults.
--
-- What a session has SET does not count, since postings are shared; set_setting() makes all of them anew.
CREATE OR REPLACE FUNCTION pgrecall.impact_settings()
RETURNS pgrecall.impact_settings
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT jsonb_populate_record(
        NULL::pgrecall.impact_settings, jsonb_object_agg(d.name, COALESCE(s.value, d.default_value))
    )
    FROM pgrecall.setting_definitions d
    LEFT JOIN pgrecall.settings s ON s.name = d.name
    WHERE d.name IN ('lexical_k1', 'lexical_b', 'lexical_length_pivot',
                     'field_weight_a', 'field_weight_b', 'field_weight_c', 'field_weight_d');
END;

COMMENT ON FUNCTION pgrecall.impact_settings IS 'The stored settings that impacts are made with.';
