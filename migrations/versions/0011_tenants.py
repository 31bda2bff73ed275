# ruff: noqa: E501 (lines of SQL)
"""Tenants: who may read and write which namespace.

The role pgrecall_everywhere and the grants of single namespaces; the policies that read them are in sql/. What a client
asks to have embedded is kept apart by the role that asked.
"""

from alembic import op

from pgrecall.install import run_sql

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

# Roles belong to the whole cluster: another database may have made this one already, or be making it now.
ROLE = """
DO $roles$
BEGIN
    BEGIN
        IF to_regrole('pgrecall_everywhere') IS NULL THEN
            CREATE ROLE pgrecall_everywhere NOLOGIN;
        END IF;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
        NULL;
    END;
    BEGIN
        IF NOT pg_has_role('pgrecall_admin', 'pgrecall_everywhere', 'MEMBER') THEN
            GRANT pgrecall_everywhere TO pgrecall_admin;
        END IF;
    EXCEPTION WHEN unique_violation THEN
        NULL;
    END;
END
$roles$;
"""

# By regrole: a role that is made anew under a dropped one's name inherits nothing, and dumps still carry the name.
GRANTS = """
CREATE TABLE pgrecall.grants (
    namespace_id integer NOT NULL REFERENCES pgrecall.namespaces (id) ON DELETE CASCADE,
    role         regrole NOT NULL,
    access       text NOT NULL CHECK (access IN ('read', 'write')),
    granted_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (namespace_id, role) INCLUDE (access)
);
CREATE INDEX grants_role_idx ON pgrecall.grants (role);
COMMENT ON TABLE pgrecall.grants IS
    'Who may read and write which namespace: grant_namespace() and revoke_namespace() keep it. Members of a role have what it has.';
CREATE TABLE pgrecall.granted (
    role       regrole PRIMARY KEY,
    namespaces boolean[] NOT NULL
);
COMMENT ON TABLE pgrecall.granted IS
    'The namespaces of each role in grants, as one array that is true at their ids: the policies read it. Triggers keep it.';
COMMENT ON COLUMN pgrecall.grants.access IS 'read, or write, which includes it.';
"""

QUERIES = """
TRUNCATE pgrecall.query_embeddings;
ALTER TABLE pgrecall.query_embeddings
    ADD COLUMN role regrole NOT NULL DEFAULT quote_ident(current_user)::regrole,
    DROP CONSTRAINT query_embeddings_pkey,
    ADD PRIMARY KEY (generation_id, role, query_hash),
    ADD CONSTRAINT query_embeddings_length CHECK (length(query) <= 16384);
COMMENT ON COLUMN pgrecall.query_embeddings.role IS 'Who asked: nobody else learns by the cache what was asked.';
"""

# A fact's evidence is sentences of memories: its own namespace keeps it apart as cheaply as theirs (sql/security).
EVIDENCE = """
ALTER TABLE pgrecall.relationship_evidence ADD COLUMN namespace_id integer;
UPDATE pgrecall.relationship_evidence e SET namespace_id = m.namespace_id
FROM pgrecall.memories m WHERE m.id = e.memory_id;
ALTER TABLE pgrecall.relationship_evidence ALTER COLUMN namespace_id SET NOT NULL;
COMMENT ON COLUMN pgrecall.relationship_evidence.namespace_id IS 'That of the memory; a trigger fills it.';
"""

# The planner uses statistics of all rows for whoever asks, and EXPLAIN shows what it makes of them: none of what tenants
# write is kept in any. What older statistics there are goes, where the one who migrates may take them away.
STATISTICS = """
DO $statistics$
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT c.oid, c.relname, a.attname, a.attnum
        FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'r'
          AND a.atttypid IN ('text'::regtype, 'bytea'::regtype)
          AND (c.relname, a.attname) NOT IN (('extractions', 'enricher'), ('mentions', 'source'))
          AND c.relname IN (
              'concept_aliases', 'concept_merges', 'concepts', 'embedding_failures', 'embedding_jobs', 'entity_rules',
              'extractions', 'judged_queries', 'judged_vectors', 'judgements', 'term_stats', 'llm_answers', 'memories',
              'mentions', 'namespaces', 'postings', 'query_embeddings', 'relation_labels', 'relationship_evidence',
              'relationships'
          )
    LOOP
        EXECUTE format('ALTER TABLE pgrecall.%%I ALTER COLUMN %%I SET STATISTICS %(target)s', found.relname, found.attname);
        IF current_setting('is_superuser') = 'on' THEN
            DELETE FROM pg_statistic s WHERE s.starelid = found.oid AND s.staattnum = found.attnum;
        END IF;
    END LOOP;
END
$statistics$;
"""

# Policies are replaceable code from now on, all of them.
POLICIES = """
DO $policies$
DECLARE
    found record;
BEGIN
    FOR found IN SELECT p.policyname, p.tablename FROM pg_policies p WHERE p.schemaname = 'pgrecall' LOOP
        EXECUTE format('DROP POLICY %I ON pgrecall.%I', found.policyname, found.tablename);
    END LOOP;
END
$policies$;
"""

# Shut from now on, whatever policies there are.
SHUT = """
DO $shut$
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT c.oid::regclass AS table FROM pg_class c
        WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'r'
    LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', found.table);
    END LOOP;
END
$shut$;
"""

OPEN = """
DO $open$
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT c.oid::regclass AS table FROM pg_class c
        WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'r' AND c.relrowsecurity
          AND c.relname NOT IN ('judged_queries', 'judgements', 'judged_vectors', 'query_embeddings', 'temporal_refs', 'llm_answers')
    LOOP
        EXECUTE format('ALTER TABLE %s DISABLE ROW LEVEL SECURITY', found.table);
    END LOOP;
END
$open$;
"""


def upgrade() -> None:
    connection = op.get_bind()
    for statements in (ROLE, GRANTS, QUERIES, EVIDENCE, STATISTICS % {"target": 0}, POLICIES, SHUT):
        run_sql(connection, statements)


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        f"""
        {POLICIES}
        {STATISTICS % {"target": -1}}
        ALTER TABLE pgrecall.relationship_evidence DROP COLUMN namespace_id;
        {OPEN}
        TRUNCATE pgrecall.query_embeddings;
        ALTER TABLE pgrecall.query_embeddings
            DROP CONSTRAINT query_embeddings_pkey, DROP CONSTRAINT query_embeddings_length, DROP COLUMN role,
            ADD PRIMARY KEY (generation_id, query_hash);
        DROP TABLE pgrecall.granted, pgrecall.grants;
        """,
    )
