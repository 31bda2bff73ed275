-- Returns the settings that determine impacts: the stored values, or the defaults.
--
-- Session values are ignored, because all sessions share the postings. set_setting() rebuilds them.
CREATE OR REPLACE FUNCTION _pgrecall.bm25_parameters()
RETURNS pgrecall.bm25_parameters
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT jsonb_populate_record(
        NULL::pgrecall.bm25_parameters, jsonb_object_agg(d.name, COALESCE(s.value, d.default_value))
    )
    FROM pgrecall.setting_definitions d
    LEFT JOIN pgrecall.settings s ON s.name = d.name
    WHERE d.name IN ('bm25_k1', 'bm25_b', 'bm25_length_pivot',
                     'field_weight_a', 'field_weight_b', 'field_weight_c', 'field_weight_d');
END;
