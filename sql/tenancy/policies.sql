-- Row-level security: pgrecall_gate sees exactly the rows that the session's role may see.
--
-- Tenants and embedders have no privilege on these tables. They call functions, which run as pgrecall_gate, and these
-- policies check the caller (session_role):
--
-- a member of pgrecall_reader      reads the rows of namespaces granted to it (grants)
-- a member of pgrecall_writer      also writes those of namespaces granted for writing
-- a member of pgrecall_everywhere  reads and writes every row (sees_all)
-- a member of pgrecall_embedder    every namespace, but no sensitive memory and no judged query (is_embedder)
--
-- Privileges determine which functions a role may call (grants.sql). pgrecall_engine, which runs ranking and indexing,
-- and pgrecall_admin see every row. The owner is not subject to policies.
--
-- Every table of the schema has row-level security (the revisions enable it), so a table without a policy here is
-- closed.
--
-- Read checks use an array that is read once per statement (granted_namespaces). Write checks look up each row in the
-- primary key of grants.
--
-- A writer may only use an id that the sequence has handed out. Otherwise it could take ids of other tenants' inserts. A row that it
-- refers to must be of the same namespace: a foreign key alone would reveal which ids exist.
DO $policies$
DECLARE
    -- Tables that embedders read and write.
    derived CONSTANT text[] := ARRAY[
        'concept_aliases', 'concept_merges', 'concepts', 'curation_jobs', 'curations', 'embedding_failures', 'embedding_jobs',
        'extractions', 'llm_answers', 'locks', 'mentions', 'namespaces', 'relation_labels', 'relationship_evidence', 'relationships',
        'note_evidence', 'passages', 'temporal_refs', 'truncated_embeddings'
    ];
    found record;
    unrestricted text;
BEGIN
    FOR found IN SELECT p.policyname, p.tablename FROM pg_policies p WHERE p.schemaname = 'pgrecall' LOOP
        EXECUTE format('DROP POLICY %I ON pgrecall.%I', found.policyname, found.tablename);
    END LOOP;

    -- For each table: the condition to read a row, to change or delete it, and on the new row.
    FOR found IN
        WITH granted (test) AS (
            VALUES ('((SELECT _pgrecall.granted_namespaces()))[%1$I.%2$I]')
        ),
        granted_to_write (test) AS (
            VALUES ('(SELECT true FROM pgrecall.grants g WHERE g.namespace_id = %1$I.%2$I AND g.access = ''write'' LIMIT 1)')
        )
        -- Rows with a namespace of their own.
        SELECT t.name, format(r.test, t.name, t.column_name) AS reads, format(w.test, t.name, t.column_name) AS mine,
               format(w.test, t.name, t.column_name) || COALESCE(' AND ' || t.also, '') AS writes
        FROM granted r, granted_to_write w, (VALUES
            ('concept_aliases', 'namespace_id', NULL), ('embedding_backgrounds', 'namespace_id', NULL),
            ('graph_changes', 'namespace_id', NULL),
            ('judged_queries', 'namespace_id', NULL),
            ('judged_vectors', 'namespace_id', NULL), ('retention', 'namespace_id', NULL), ('learned_settings', 'namespace_id', NULL),
            ('term_stats', 'namespace_id', NULL), ('namespaces', 'id', NULL),
            ('locks', 'home', NULL), ('postings', 'namespace_id', NULL), ('posting_states', 'namespace_id', NULL),
            ('relation_labels', 'namespace_id', NULL), ('pending_postings', 'namespace_id', NULL),
            ('concept_merges', 'namespace_id', 'id <= pg_sequence_last_value(''pgrecall.concept_merges_id_seq'')'),
            ('concepts', 'namespace_id', 'id <= pg_sequence_last_value(''pgrecall.concepts_id_seq'')'),
            ('memories', 'namespace_id', 'id <= pg_sequence_last_value(''pgrecall.memories_id_seq'') '
             'AND (superseded_by IS NULL OR _pgrecall.owns_memory(namespace_id, superseded_by))'),
            ('relationships', 'namespace_id', 'id <= pg_sequence_last_value(''pgrecall.relationships_id_seq'') '
             'AND (superseded_by IS NULL OR _pgrecall.owns_relationship(namespace_id, superseded_by))'),
            ('curations', 'namespace_id', 'id <= pg_sequence_last_value(''pgrecall.curations_id_seq'') '
             'AND _pgrecall.owns_memory(namespace_id, memory_id) '
             'AND (other_id IS NULL OR _pgrecall.owns_memory(namespace_id, other_id))'),
            ('relationship_evidence', 'namespace_id', 'id <= pg_sequence_last_value(''pgrecall.relationship_evidence_id_seq'') '
             'AND _pgrecall.owns_memory(namespace_id, memory_id) AND _pgrecall.owns_relationship(namespace_id, relationship_id)')
        ) t (name, column_name, also)
        UNION ALL
        -- Rows that also refer to a memory, which must be of the same namespace.
        SELECT t.name, format(r.test, t.name, 'namespace_id'), format(w.test, t.name, 'namespace_id'),
               format(w.test, t.name, 'namespace_id') || ' AND _pgrecall.owns_memory(namespace_id, memory_id)'
        FROM granted r, granted_to_write w,
             (VALUES ('curation_jobs'), ('extractions'), ('judgements'), ('memory_changes'), ('mentions'),
                     ('passages'), ('temporal_refs')) t (name)
        UNION ALL
        -- Rows of a memory, visible with the memory.
        SELECT t.name, format('(SELECT true FROM pgrecall.memories m WHERE m.id = %I.memory_id)', t.name), w.test, w.test
        FROM (VALUES ('embedding_failures'), ('embedding_jobs'), ('llm_answers'), ('truncated_embeddings')) t (name)
        CROSS JOIN LATERAL format(
            '(SELECT true FROM pgrecall.memories m JOIN pgrecall.grants g ON g.namespace_id = m.namespace_id '
            'WHERE m.id = %I.memory_id AND g.access = ''write'' LIMIT 1)', t.name
        ) w (test)
        UNION ALL
        -- Visible with the message; the note must be of the same namespace.
        SELECT 'note_evidence', '(SELECT true FROM pgrecall.memories m WHERE m.id = note_evidence.memory_id)', w.test,
               replace(w.test, ' LIMIT 1', ' AND _pgrecall.owns_memory(m.namespace_id, note_evidence.note_id) LIMIT 1')
        FROM (VALUES (
            '(SELECT true FROM pgrecall.memories m JOIN pgrecall.grants g ON g.namespace_id = m.namespace_id '
            'WHERE m.id = note_evidence.memory_id AND g.access = ''write'' LIMIT 1)'
        )) w (test)
    LOOP
        -- Check sees_all first, to avoid the lookup of grants.
        unrestricted := '(SELECT _pgrecall.sees_all()) OR '
                   || CASE WHEN found.name = ANY (derived) THEN '(SELECT _pgrecall.is_embedder()) OR ' ELSE '' END;
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I FOR SELECT TO pgrecall_gate USING (%s)',
                       found.name || '_read', found.name, unrestricted || found.reads);
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I FOR INSERT TO pgrecall_gate WITH CHECK (%s)',
                       found.name || '_insert', found.name, unrestricted || '(' || found.writes || ')');
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I FOR UPDATE TO pgrecall_gate USING (%s) WITH CHECK (%s)',
                       found.name || '_update', found.name, unrestricted || found.mine, unrestricted || '(' || found.writes || ')');
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I FOR DELETE TO pgrecall_gate USING (%s)',
                       found.name || '_delete', found.name, unrestricted || found.mine);
    END LOOP;

    -- Tables without tenants: privileges alone decide.
    FOR found IN
        SELECT t.name FROM (VALUES ('alembic_version'), ('embedding_models'), ('generations'), ('installation'),
                                   ('llm_usage'), ('settings'), ('workers')) t (name)
    LOOP
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I TO PUBLIC USING (true)', found.name || '_all', found.name);
    END LOOP;

    -- Roles trusted with every row.
    FOR found IN
        SELECT c.relname AS name FROM pg_class c
        WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'r' AND c.relrowsecurity
    LOOP
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I TO pgrecall_engine, pgrecall_admin USING (true)',
                       found.name || '_trusted', found.name);
    END LOOP;
END
$policies$;

CREATE POLICY memories_embedder ON pgrecall.memories TO pgrecall_gate
    USING (NOT is_sensitive AND (SELECT _pgrecall.is_embedder()))
    WITH CHECK (NOT is_sensitive AND (SELECT _pgrecall.is_embedder()));

-- Curation supersedes memories, so an embedder adds to their history. It reads none: older versions can be sensitive.
CREATE POLICY memory_changes_embedder ON pgrecall.memory_changes FOR INSERT TO pgrecall_gate
    WITH CHECK ((SELECT _pgrecall.is_embedder()));

COMMENT ON POLICY memories_embedder ON pgrecall.memories IS 'An embedder sees no sensitive memory.';

-- Rules for all namespaces have no namespace.
CREATE POLICY entity_rules_read ON pgrecall.entity_rules FOR SELECT TO pgrecall_gate
    USING ((SELECT _pgrecall.sees_all()) OR (SELECT _pgrecall.is_embedder()) OR namespace_id IS NULL
           OR ((SELECT _pgrecall.granted_namespaces()))[namespace_id]);

-- A role sees its own grants, and those of the roles it is a member of.
CREATE POLICY grants_read ON pgrecall.grants FOR SELECT TO pgrecall_gate
    USING ((SELECT _pgrecall.sees_all()) OR pg_has_role((SELECT pgrecall.session_role()), role, 'USAGE'));
CREATE POLICY granted_read ON pgrecall.granted FOR SELECT TO pgrecall_gate
    USING ((SELECT _pgrecall.sees_all()) OR pg_has_role((SELECT pgrecall.session_role()), role, 'USAGE'));

-- Only the role that asked sees its queries and their answers. Embedders write the answers.
CREATE POLICY query_embeddings_asked ON pgrecall.query_embeddings TO pgrecall_gate
    USING ((SELECT _pgrecall.is_embedder()) OR role = (SELECT pgrecall.session_role()));
CREATE POLICY query_expansions_asked ON pgrecall.query_expansions TO pgrecall_gate
    USING ((SELECT _pgrecall.is_embedder()) OR role = (SELECT pgrecall.session_role()));
