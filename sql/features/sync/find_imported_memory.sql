-- Returns the existing memory that a line of an export describes; NULL if there is none.
--
-- fields  validated options of remember(), including "namespace"
CREATE OR REPLACE FUNCTION _pgrecall.find_imported_memory(fields jsonb)
RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT COALESCE(
        (
            SELECT m.id FROM pgrecall.memories m
            WHERE m.namespace_id = n.id AND m.external_id = f.external_id
        ), (
            -- The first two conditions match an index.
            SELECT min(m.id) FROM pgrecall.memories m
            WHERE m.namespace_id = n.id
              AND COALESCE(m.occurred_at, m.created_at) = COALESCE(f.occurred_at, f.created_at)
              AND NULLIF(f.external_id, '') IS NULL AND m.external_id IS NULL
              AND m.created_at = f.created_at AND m.content IN (f.content, r.content)
              AND ROW (m.session, m."position") IS NOT DISTINCT FROM ROW (NULLIF(f.session, ''), f."position")
              AND (m.title IS NOT DISTINCT FROM NULLIF(f.title, '') OR m.title = r.title)
              AND (m.speaker IS NOT DISTINCT FROM NULLIF(f.speaker, '') OR m.speaker = r.speaker)
              AND (m.source IS NOT DISTINCT FROM NULLIF(f.source, '') OR m.source = r.source)
        )
    )
    FROM jsonb_populate_record(NULL::pgrecall.memory_fields, find_imported_memory.fields) f
    -- It may have been stored without its secrets.
    CROSS JOIN LATERAL (
        SELECT (_pgrecall.redact_text(f.content)).clean AS content, (_pgrecall.redact_text(f.title)).clean AS title,
               (_pgrecall.redact_text(f.speaker)).clean AS speaker, (_pgrecall.redact_text(f.source)).clean AS source
        OFFSET 0
    ) r
    CROSS JOIN LATERAL (SELECT _pgrecall.find_namespace(find_imported_memory.fields ->> 'namespace') AS id OFFSET 0) n;
END;
