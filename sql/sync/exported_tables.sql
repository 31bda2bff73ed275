-- The tables of which an export holds the rows, and how its lines call them.
--
-- All others of a namespace are in unexported_tables().
CREATE OR REPLACE FUNCTION _pgrecall.exported_tables()
RETURNS TABLE (name text, kind text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT t.name, t.kind
    FROM (VALUES
        ('memories', NULL), ('namespaces', 'namespace'), ('retention', 'retention'), ('learned_settings', 'learned'),
        ('memory_changes', 'change'), ('note_evidence', 'evidence'), ('judged_queries', 'judged'), ('judgements', 'judged')
    ) AS t (name, kind);
END;

COMMENT ON FUNCTION _pgrecall.exported_tables IS 'The tables of which an export holds the rows, and how its lines call them.';
