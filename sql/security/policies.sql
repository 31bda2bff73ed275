-- Row-level security: the embedder's role sees no sensitive memory, whatever the daemon asks for.
--
-- Readers, writers and administrators see every row; the owner is not subject to policies.
ALTER TABLE pgrecall.memories ENABLE ROW LEVEL SECURITY;

DROP POLICY IF EXISTS memories_members ON pgrecall.memories;
CREATE POLICY memories_members ON pgrecall.memories
    TO pgrecall_reader, pgrecall_writer, pgrecall_admin USING (true);

DROP POLICY IF EXISTS memories_embedder ON pgrecall.memories;
CREATE POLICY memories_embedder ON pgrecall.memories
    TO pgrecall_embedder USING (NOT is_sensitive) WITH CHECK (NOT is_sensitive);

COMMENT ON POLICY memories_embedder ON pgrecall.memories IS 'The embedder''s role sees no sensitive memory.';
