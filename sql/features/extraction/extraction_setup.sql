-- Returns the configuration of extraction: the settings extract, extract_*, llm_* and curate, and the entity rules, with a
-- fingerprint. No row if it is unchanged.
--
-- Returns no row if it is unchanged.
--
-- known        the caller's fingerprint; NULL: none
--
-- fingerprint  changes with any setting or rule
-- rules        [{"namespace_id", "type", "keywords", "patterns"}]; namespace_id null: all namespaces
CREATE OR REPLACE FUNCTION pgrecall.extraction_setup(known text DEFAULT NULL)
RETURNS TABLE (fingerprint text, settings jsonb, rules jsonb)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 1
SET search_path FROM CURRENT
BEGIN ATOMIC
    SELECT f.fingerprint, s.settings, r.rules
    FROM (
        SELECT jsonb_object_agg(d.name, pgrecall.stored_setting(d.name)) AS settings
        FROM pgrecall.setting_definitions d
        WHERE d.name = 'extract' OR starts_with(d.name, 'extract_') OR starts_with(d.name, 'llm_') OR d.name = 'curate'
    ) s
    CROSS JOIN (
        SELECT COALESCE(
                   jsonb_agg(jsonb_build_object('namespace_id', e.namespace_id, 'type', e.type, 'keywords', e.keywords,
                                                'patterns', e.patterns)
                             ORDER BY e.namespace_id NULLS FIRST, e.type),
                   '[]'
               ) AS rules
        FROM pgrecall.entity_rules e
    ) r
    CROSS JOIN LATERAL (
        SELECT encode(sha256(convert_to(s.settings::text || r.rules::text, 'UTF8')), 'hex') AS fingerprint
    ) f
    WHERE f.fingerprint IS DISTINCT FROM known;
END;

ALTER FUNCTION pgrecall.extraction_setup OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.extraction_setup TO pgrecall_embedder;
