-- Whether a line of export_records() is there: 'present', 'differs' if another one stands in its place, NULL if not.
CREATE OR REPLACE FUNCTION _pgrecall.record_state(home integer, line jsonb)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE
        WHEN bool_or(f.is_same) THEN 'present'
        WHEN count(*) > 0 THEN 'differs'
    END
    FROM (
        SELECT NOT s.is_set OR (n.secrets, n.secrets_in_messages) IS NOT DISTINCT FROM (line ->> 'secrets', line ->> 'secrets_in_messages')
        FROM pgrecall.namespaces n
        CROSS JOIN LATERAL (SELECT COALESCE(line ->> 'secrets', line ->> 'secrets_in_messages') IS NOT NULL AS is_set) s
        WHERE line ->> 'kind' = 'namespace' AND n.id = home
          AND NOT (s.is_set AND COALESCE(n.secrets, n.secrets_in_messages) IS NULL)
        UNION ALL
        SELECT r.keep::text = line ->> 'keep' AND r.action = line ->> 'action'
        FROM pgrecall.retention r
        WHERE line ->> 'kind' = 'retention' AND r.namespace_id = home AND r.category IS NOT DISTINCT FROM line ->> 'category'
        UNION ALL
        SELECT jsonb_build_array(p.question, p.budget, p.unit, p.sections)
               = jsonb_build_array(line -> 'question', line -> 'budget', line -> 'unit', line -> 'sections')
        FROM pgrecall.pages p
        WHERE line ->> 'kind' = 'page' AND p.namespace_id = home AND p.name = line ->> 'name'
        UNION ALL
        SELECT l.learned_at = (line ->> 'learned_at')::timestamptz AND l.settings = line -> 'settings'
        FROM pgrecall.learned_settings l
        WHERE line ->> 'kind' = 'learned' AND l.namespace_id = home
          -- One applies at a time.
          AND (l.learned_at = (line ->> 'learned_at')::timestamptz AND l.settings = line -> 'settings'
               OR l.ended_at IS NULL AND line ->> 'ended_at' IS NULL)
        UNION ALL
        SELECT true
        FROM pgrecall.memory_changes c
        WHERE line ->> 'kind' = 'change' AND c.memory_id = (line ->> 'memory')::bigint
          AND c.changed_at = (line ->> 'changed_at')::timestamptz AND c.action = line ->> 'action'
          AND _pgrecall.original_role(c.role) = line ->> 'role'
          AND (c.before = line -> 'before' AND c.after = line -> 'after'
               -- trim_history() keeps no long values of old changes.
               OR c.before = _pgrecall.without_texts(line -> 'before') AND c.after = _pgrecall.without_texts(line -> 'after'))
        UNION ALL
        SELECT v.is_stated = (line ->> 'is_stated')::boolean
        FROM pgrecall.note_evidence v
        WHERE line ->> 'kind' = 'evidence' AND v.memory_id = (line ->> 'memory')::bigint
          AND v.note_id = (line ->> 'note')::bigint
        UNION ALL
        SELECT q.query = line ->> 'query' AND q.stratum = line ->> 'stratum'
        FROM pgrecall.judged_queries q
        WHERE line ->> 'kind' = 'judged' AND q.namespace_id = home AND q.query_id = line ->> 'query_id'
    ) f (is_same);
END;
