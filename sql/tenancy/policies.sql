-- Row-level security: what pgrecall_gate sees is what the session's role may see.
--
-- Tenants and embedders have no privilege on these tables. They call functions, which run as pgrecall_gate, and these policies
-- look at who called (session_role):
--
-- a member of pgrecall_reader      reads the rows of namespaces it was granted (grants)
-- a member of pgrecall_writer      and writes those of namespaces it was granted to write
-- a member of pgrecall_everywhere  every row (sees_all)
-- a member of pgrecall_embedder    every namespace, but of a sensitive memory nothing, and no judged query: it derives from what
--                                  it sees (is_embedder)
--
-- Which of its functions a role may call is the privileges' business (grants.sql). pgrecall_engine, as which ranking and posting
-- run, and pgrecall_admin see every row. The owner is not subject to policies.
--
-- Every table of the schema has row-level security (the revisions see to it), so one without a policy here is shut.
--
-- What may be read is looked up in an array that is read once a statement (granted_namespaces). What may be written is looked
-- up row by row in the primary key of grants.
--
-- An id that a writer gives must have been drawn before, so that nobody takes those that others are about to get; a row that
-- it points to must be of the same namespace: a foreign key alone would tell which ids exist.
DO $policies$
DECLARE
    -- What embedders read and derive.
    derived CONSTANT text[] := ARRAY[
        'concept_aliases', 'concept_merges', 'concepts', 'curation_jobs', 'curations', 'embedding_failures', 'embedding_jobs',
        'extractions', 'llm_answers', 'locks', 'mentions', 'namespaces', 'relation_labels', 'relationship_evidence', 'relationships',
        'temporal_refs', 'truncated_embeddings'
    ];
    found record;
    whoever text;
BEGIN
    FOR found IN SELECT p.policyname, p.tablename FROM pg_policies p WHERE p.schemaname = 'pgrecall' LOOP
        EXECUTE format('DROP POLICY %I ON pgrecall.%I', found.policyname, found.tablename);
    END LOOP;

    -- For each table, when a row may be read, when it may be changed or deleted, and what it may be then.
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
            ('concept_aliases', 'namespace_id', NULL), ('graph_changes', 'namespace_id', NULL),
            ('judged_queries', 'namespace_id', NULL),
            ('judged_vectors', 'namespace_id', NULL), ('term_stats', 'namespace_id', NULL), ('namespaces', 'id', NULL),
            ('locks', 'home', NULL), ('postings', 'namespace_id', NULL), ('relation_labels', 'namespace_id', NULL), ('pending_postings', 'namespace_id', NULL),
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
        -- And with a memory, which must be of the same.
        SELECT t.name, format(r.test, t.name, 'namespace_id'), format(w.test, t.name, 'namespace_id'),
               format(w.test, t.name, 'namespace_id') || ' AND _pgrecall.owns_memory(namespace_id, memory_id)'
        FROM granted r, granted_to_write w, (VALUES ('judgements'), ('mentions'), ('temporal_refs')) t (name)
        UNION ALL
        -- Rows of a memory: whoever sees it.
        SELECT t.name, format('(SELECT true FROM pgrecall.memories m WHERE m.id = %I.memory_id)', t.name), w.test, w.test
        FROM (VALUES ('curation_jobs'), ('embedding_failures'), ('embedding_jobs'), ('extractions'), ('llm_answers'),
                     ('truncated_embeddings')) t (name)
        CROSS JOIN LATERAL format(
            '(SELECT true FROM pgrecall.memories m JOIN pgrecall.grants g ON g.namespace_id = m.namespace_id '
            'WHERE m.id = %I.memory_id AND g.access = ''write'' LIMIT 1)', t.name
        ) w (test)
    LOOP
        -- Who sees all comes first: the grants need not be looked up.
        whoever := '(SELECT _pgrecall.sees_all()) OR '
                   || CASE WHEN found.name = ANY (derived) THEN '(SELECT _pgrecall.is_embedder()) OR ' ELSE '' END;
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I FOR SELECT TO pgrecall_gate USING (%s)',
                       found.name || '_read', found.name, whoever || found.reads);
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I FOR INSERT TO pgrecall_gate WITH CHECK (%s)',
                       found.name || '_insert', found.name, whoever || '(' || found.writes || ')');
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I FOR UPDATE TO pgrecall_gate USING (%s) WITH CHECK (%s)',
                       found.name || '_update', found.name, whoever || found.mine, whoever || '(' || found.writes || ')');
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I FOR DELETE TO pgrecall_gate USING (%s)',
                       found.name || '_delete', found.name, whoever || found.mine);
    END LOOP;

    -- Tables without tenants: whoever has the privilege.
    FOR found IN
        SELECT t.name FROM (VALUES ('alembic_version'), ('embedding_models'), ('generations'), ('installation'),
                                   ('llm_usage'), ('settings'), ('workers')) t (name)
    LOOP
        EXECUTE format('CREATE POLICY %I ON pgrecall.%I TO PUBLIC USING (true)', found.name || '_all', found.name);
    END LOOP;

    -- Who is trusted with every row.
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

COMMENT ON POLICY memories_embedder ON pgrecall.memories IS 'An embedder sees no sensitive memory.';

-- Rules of all namespaces have none.
CREATE POLICY entity_rules_read ON pgrecall.entity_rules FOR SELECT TO pgrecall_gate
    USING ((SELECT _pgrecall.sees_all()) OR (SELECT _pgrecall.is_embedder()) OR namespace_id IS NULL
           OR ((SELECT _pgrecall.granted_namespaces()))[namespace_id]);

-- A role sees its own grants, and those of the roles it is a member of.
CREATE POLICY grants_read ON pgrecall.grants FOR SELECT TO pgrecall_gate
    USING ((SELECT _pgrecall.sees_all()) OR pg_has_role((SELECT pgrecall.session_role()), role, 'USAGE'));
CREATE POLICY granted_read ON pgrecall.granted FOR SELECT TO pgrecall_gate
    USING ((SELECT _pgrecall.sees_all()) OR pg_has_role((SELECT pgrecall.session_role()), role, 'USAGE'));

-- Whoever asked gets the answer: nobody else learns by the cache what was asked. Embedders answer.
CREATE POLICY query_embeddings_asked ON pgrecall.query_embeddings TO pgrecall_gate
    USING ((SELECT _pgrecall.is_embedder()) OR role = (SELECT pgrecall.session_role()));
CREATE POLICY query_expansions_asked ON pgrecall.query_expansions TO pgrecall_gate
    USING ((SELECT _pgrecall.is_embedder()) OR role = (SELECT pgrecall.session_role()));
