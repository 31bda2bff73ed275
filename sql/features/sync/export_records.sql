-- Exports what a namespace owns besides its memories, as lines of JSON for pgrecall.import_records(), ordered as they are
-- imported: policies for secrets, retention rules, pages, learned settings, history, evidence of notes, feedback and judged
-- queries. The first line names the tables that are in no export.
--
-- The first line says which tables are in no export. Names of roles are as they were, without the mark of an import.
--
-- Arguments and errors as for export_memories(): what belongs to a memory that is not exported is not exported either, nor is
-- what a memory was while it was sensitive.
CREATE OR REPLACE FUNCTION pgrecall.export_records(
    namespace text DEFAULT NULL, include_sensitive boolean DEFAULT false, include_forgotten boolean DEFAULT false
)
RETURNS TABLE (line text)
LANGUAGE sql STABLE PARALLEL RESTRICTED SECURITY DEFINER
SET search_path FROM CURRENT SET extra_float_digits = 1 SET IntervalStyle = postgres
BEGIN ATOMIC
    WITH homes AS (
        SELECT n.*
        FROM pgrecall.namespaces n
        WHERE export_records.namespace IS NULL
           OR n.id = (SELECT _pgrecall.known_namespace(export_records.namespace))
    ), exported AS MATERIALIZED (
        SELECT e.id FROM _pgrecall.exported_memories(
            (SELECT _pgrecall.known_namespace(export_records.namespace) WHERE export_records.namespace IS NOT NULL),
            include_sensitive, include_forgotten
        ) e
    ), records (step, name, at, number, fields) AS (
        SELECT 0, '', NULL::timestamptz, 0::bigint,
               jsonb_build_object('kind', 'header', 'not_exported', to_jsonb(_pgrecall.unexported_tables()))
        UNION ALL
        SELECT 1, h.name, NULL, 0, jsonb_build_object(
            'kind', 'namespace', 'namespace', h.name, 'language', h.language, 'secrets', h.secrets,
            'secrets_in_messages', h.secrets_in_messages
        )
        FROM homes h
        UNION ALL
        SELECT 2, concat_ws('/', h.name, r.category), NULL, 0, jsonb_build_object(
            'kind', 'retention', 'namespace', h.name, 'category', r.category, 'keep', r.keep::text, 'action', r.action
        )
        FROM homes h JOIN pgrecall.retention r ON r.namespace_id = h.id
        UNION ALL
        SELECT 2, concat_ws('/', h.name, p.name), NULL, 1, jsonb_build_object(
            'kind', 'page', 'namespace', h.name, 'name', p.name, 'question', p.question, 'budget', p.budget, 'unit', p.unit,
            'sections', to_jsonb(p.sections)
        )
        FROM homes h JOIN pgrecall.pages p ON p.namespace_id = h.id
        UNION ALL
        SELECT 3, h.name, l.learned_at, l.id,
               to_jsonb(l) - '{id,namespace_id}'::text[] || jsonb_build_object('kind', 'learned', 'namespace', h.name)
        FROM homes h JOIN pgrecall.learned_settings l ON l.namespace_id = h.id
        UNION ALL
        SELECT 4, h.name, NULL, c.id, jsonb_build_object(
            'kind', 'change', 'namespace', h.name, 'memory', c.memory_id, 'action', c.action, 'changed_at', c.changed_at,
            'role', _pgrecall.original_role(c.role), 'before', c.before, 'after', c.after
        )
        FROM homes h
        JOIN pgrecall.memory_changes c ON c.namespace_id = h.id
        JOIN exported e ON e.id = c.memory_id
        WHERE include_sensitive OR NOT EXISTS (
            SELECT FROM pgrecall.memory_changes n
            WHERE n.memory_id = c.memory_id AND n.id >= c.id AND n.before @> '{"is_sensitive": true}'
        )
        UNION ALL
        SELECT 5, h.name, NULL, v.note_id, jsonb_build_object(
            'kind', 'evidence', 'namespace', h.name, 'memory', v.memory_id, 'note', v.note_id, 'is_stated', v.is_stated
        )
        FROM homes h
        JOIN pgrecall.memories m ON m.namespace_id = h.id
        JOIN exported e ON e.id = m.id
        JOIN pgrecall.note_evidence v ON v.memory_id = m.id
        JOIN exported o ON o.id = v.note_id
        UNION ALL
        SELECT 6, concat_ws('/', h.name, q.query_id), NULL, 0, jsonb_build_object(
            'kind', 'judged', 'namespace', h.name, 'query_id', q.query_id, 'query', q.query, 'stratum', q.stratum,
            'judged_by', _pgrecall.original_role(q.judged_by::text), 'judged_at', q.judged_at,
            'exclude', ARRAY(SELECT x.id FROM unnest(q.exclude) x (id) JOIN exported e ON e.id = x.id ORDER BY x.id),
            'useful', j.useful, 'useless', j.useless
        )
        FROM homes h
        JOIN pgrecall.judged_queries q ON q.namespace_id = h.id
        JOIN LATERAL (
            SELECT COALESCE(array_agg(j.memory_id ORDER BY j.memory_id) FILTER (WHERE j.is_useful), '{}') AS useful,
                   COALESCE(array_agg(j.memory_id ORDER BY j.memory_id) FILTER (WHERE NOT j.is_useful), '{}') AS useless
            FROM pgrecall.judgements j JOIN exported e ON e.id = j.memory_id
            WHERE j.namespace_id = h.id AND j.query_id = q.query_id
            HAVING count(*) > 0
        ) j ON true
    )
    SELECT (jsonb_build_object('pgrecall', 1) || r.fields)::text
    FROM records r
    ORDER BY r.step, r.name COLLATE "C", r.at, r.number, r.fields;
END;

ALTER FUNCTION pgrecall.export_records OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.export_records TO pgrecall_reader;
