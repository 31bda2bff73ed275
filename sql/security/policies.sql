-- Row-level security: a role sees the namespaces it was granted, and the embedder's role no sensitive memory.
--
-- pgrecall_reader      reads the rows of namespaces it was granted (grants)
-- pgrecall_writer      and writes those of namespaces it was granted to write
-- pgrecall_everywhere  every row; what may be done with it is the privileges' business (grants.sql)
-- pgrecall_embedder    every namespace, but of a sensitive memory nothing, and no judged query: it derives from what it sees
--
-- Every table of the schema has row-level security (the revisions see to it), so one without a policy here is shut. The
-- owner is not subject to policies.
--
-- Grants are looked up row by row, in their primary key: of the forms that can be written this is the one that costs the
-- same with one grant and with ten thousand, and that leaves recall its indexes (docs/adr/0014). The policy of grants itself
-- leaves in them what the role has.
DO $policies$
DECLARE
    found record;
BEGIN
    FOR found IN SELECT p.policyname, p.tablename FROM pg_policies p WHERE p.schemaname = 'pgrecall' LOOP
        EXECUTE format('DROP POLICY %I ON pgrecall.%I', found.policyname, found.tablename);
    END LOOP;

    -- For each table, when a row may be read, and when it may be written.
    FOR found IN
        WITH granted (test) AS (
            VALUES ('(SELECT true FROM pgrecall.grants g WHERE g.namespace_id = %1$I.%2$I LIMIT 1)')
        ),
        granted_to_write (test) AS (
            VALUES ('(SELECT true FROM pgrecall.grants g WHERE g.namespace_id = %1$I.%2$I AND g.access = ''write'' LIMIT 1)')
        )
        -- Rows with a namespace of their own.
        SELECT t.name, format(r.test, t.name, t.column_name) AS reads, format(w.test, t.name, t.column_name) AS writes
        FROM granted r, granted_to_write w, (VALUES
            ('concept_aliases', 'namespace_id'), ('concept_merges', 'namespace_id'), ('concepts', 'namespace_id'),
            ('graph_changes', 'namespace_id'), ('judged_queries', 'namespace_id'), ('judged_vectors', 'namespace_id'),
            ('lexicon', 'namespace_id'), ('memories', 'namespace_id'), ('namespaces', 'id'), ('postings', 'namespace_id'),
            ('relation_labels', 'namespace_id'), ('relationships', 'namespace_id'), ('unposted', 'namespace_id')
        ) t (name, column_name)
        UNION ALL
        -- And with a memory, which must be of the same.
        SELECT t.name, format(r.test, t.name, 'namespace_id'),
               format(w.test, t.name, 'namespace_id') || format(
                   ' AND (SELECT m.namespace_id FROM pgrecall.memories m WHERE m.id = %1$I.memory_id) = namespace_id', t.name
               )
        FROM granted r, granted_to_write w, (VALUES ('judgements'), ('mentions'), ('temporal_refs')) t (name)
        UNION ALL
        -- Rows of a memory: whoever sees it.
        SELECT t.name,
               format('(SELECT true FROM pgrecall.memories m WHERE m.id = %I.memory_id)', t.name),
               format('(SELECT true FROM pgrecall.memories m JOIN pgrecall.grants g ON g.namespace_id = m.namespace_id '
                      'WHERE m.id = %I.memory_id AND g.access = ''write'' LIMIT 1)', t.name)
        FROM (VALUES ('embedding_failures'), ('embedding_jobs'), ('extractions'), ('llm_answers'),
                     ('relationship_evidence'), ('truncated_embeddings')) t (name)
    LOOP
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I FOR SELECT TO pgrecall_reader USING (%s)',
                       found.name || '_read', found.name, found.reads);
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I FOR INSERT TO pgrecall_writer WITH CHECK (%s)',
                       found.name || '_insert', found.name, found.writes);
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I FOR UPDATE TO pgrecall_writer USING (%s)',
                       found.name || '_update', found.name, found.writes);
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I FOR DELETE TO pgrecall_writer USING (%s)',
                       found.name || '_delete', found.name, found.writes);
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I TO pgrecall_everywhere USING (true)',
                       found.name || '_everywhere', found.name);
    END LOOP;

    -- Tables without tenants: whoever has the privilege.
    FOR found IN
        SELECT t.name FROM (VALUES ('alembic_version'), ('embedding_models'), ('generations'), ('installation'),
                                   ('llm_usage'), ('settings'), ('workers')) t (name)
    LOOP
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I TO pgrecall_reader, pgrecall_embedder USING (true)',
                       found.name || '_all', found.name);
    END LOOP;

    -- What the embedder reads and derives.
    FOR found IN
        SELECT t.name FROM (VALUES
            ('concept_aliases'), ('concept_merges'), ('concepts'), ('embedding_failures'), ('embedding_jobs'),
            ('entity_rules'), ('extractions'), ('llm_answers'), ('mentions'), ('namespaces'), ('query_embeddings'),
            ('relation_labels'), ('relationship_evidence'), ('relationships'), ('temporal_refs'), ('truncated_embeddings')
        ) t (name)
    LOOP
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I TO pgrecall_embedder USING (true)',
                       found.name || '_embedder', found.name);
    END LOOP;
END
$policies$;

CREATE POLICY memories_embedder ON pgrecall.memories
    TO pgrecall_embedder USING (NOT is_sensitive) WITH CHECK (NOT is_sensitive);

COMMENT ON POLICY memories_embedder ON pgrecall.memories IS 'The embedder''s role sees no sensitive memory.';

-- Rules of all namespaces have none.
CREATE POLICY entity_rules_read ON pgrecall.entity_rules FOR SELECT TO pgrecall_reader
    USING (namespace_id IS NULL
           OR (SELECT true FROM pgrecall.grants g WHERE g.namespace_id = entity_rules.namespace_id LIMIT 1));
CREATE POLICY entity_rules_everywhere ON pgrecall.entity_rules TO pgrecall_everywhere USING (true);

-- A role sees its own grants, and those of the roles it is a member of.
CREATE POLICY grants_read ON pgrecall.grants FOR SELECT TO pgrecall_reader
    USING (role = ANY ((SELECT pgrecall.held_roles())::oid[]));
CREATE POLICY grants_everywhere ON pgrecall.grants TO pgrecall_everywhere USING (true);

-- Whoever asked gets the answer: nobody else learns by the cache what was asked.
CREATE POLICY query_embeddings_asked ON pgrecall.query_embeddings TO pgrecall_reader
    USING (role = (SELECT to_regrole(quote_ident(current_user))));
CREATE POLICY query_embeddings_admin ON pgrecall.query_embeddings TO pgrecall_admin USING (true);
