-- Row-level security: the embedder's role sees no sensitive memory and no judged query, whatever the daemon asks for.
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

-- Enabled by the revision that made the tables. The embedder has no policy here, so it would see nothing even with a grant.
DROP POLICY IF EXISTS judged_queries_members ON pgrecall.judged_queries;
CREATE POLICY judged_queries_members ON pgrecall.judged_queries
    TO pgrecall_reader, pgrecall_writer, pgrecall_admin USING (true);

DROP POLICY IF EXISTS judgements_members ON pgrecall.judgements;
CREATE POLICY judgements_members ON pgrecall.judgements
    TO pgrecall_reader, pgrecall_writer, pgrecall_admin USING (true);

DROP POLICY IF EXISTS judged_vectors_members ON pgrecall.judged_vectors;
CREATE POLICY judged_vectors_members ON pgrecall.judged_vectors
    TO pgrecall_reader, pgrecall_writer, pgrecall_admin USING (true);

-- Readers and writers ask by functions, so that none reads what another asks.
DROP POLICY IF EXISTS query_embeddings_embedder ON pgrecall.query_embeddings;
CREATE POLICY query_embeddings_embedder ON pgrecall.query_embeddings
    TO pgrecall_embedder, pgrecall_admin USING (true);

DROP POLICY IF EXISTS temporal_refs_members ON pgrecall.temporal_refs;
CREATE POLICY temporal_refs_members ON pgrecall.temporal_refs
    TO pgrecall_reader, pgrecall_writer, pgrecall_admin USING (true);

-- Never of a sensitive memory: the embedder derives from what it sees.
DROP POLICY IF EXISTS temporal_refs_embedder ON pgrecall.temporal_refs;
CREATE POLICY temporal_refs_embedder ON pgrecall.temporal_refs TO pgrecall_embedder USING (true);

DROP POLICY IF EXISTS llm_answers_members ON pgrecall.llm_answers;
CREATE POLICY llm_answers_members ON pgrecall.llm_answers
    TO pgrecall_writer, pgrecall_embedder, pgrecall_admin USING (true);
