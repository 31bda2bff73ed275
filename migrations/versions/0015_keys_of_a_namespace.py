"""Indexes whose keys begin with the namespace, or contain it, in place of those that all namespaces share."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

FUNCTIONS = r"""
CREATE FUNCTION _pgrecall.metadata_leaves(metadata jsonb)
RETURNS SETOF text
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 5
BEGIN ATOMIC
    WITH RECURSIVE node (path, value) AS (
        SELECT 'm', metadata
        UNION ALL
        SELECT c.path, c.value
        FROM node n
        CROSS JOIN LATERAL (
            SELECT n.path || '.' || quote_literal(e.key), e.value
            FROM jsonb_each(CASE jsonb_typeof(n.value) WHEN 'object' THEN n.value ELSE '{}' END)
                AS e (key, value)
            UNION ALL
            SELECT n.path, a.value
            FROM jsonb_array_elements(CASE jsonb_typeof(n.value) WHEN 'array' THEN n.value ELSE '[]' END)
                AS a (value)
        ) c (path, value)
    )
    SELECT n.path || '=' || CASE jsonb_typeof(n.value)
               WHEN 'number' THEN trim_scale(n.value::numeric)::text ELSE n.value::text
           END
    FROM node n
    WHERE jsonb_typeof(n.value) NOT IN ('object', 'array');
END;
COMMENT ON FUNCTION _pgrecall.metadata_leaves IS
    'Returns the values in metadata, each with the names that lead to it. Arrays are left out of the path: '
    'an item is found like a single value.';

CREATE FUNCTION _pgrecall.namespace_keys(namespace_id integer, texts text[])
RETURNS bytea[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ARRAY(
    SELECT substr(sha256(convert_to(namespace_id || ':' || t.item, 'UTF8')), 1, 10)
    FROM unnest(texts) t (item)
);
COMMENT ON FUNCTION _pgrecall.namespace_keys IS
    'Returns keys of texts in a namespace. Nobody finds a text of another namespace with the same key.';

CREATE FUNCTION _pgrecall.filter_keys(namespace_id integer, tags text[], metadata jsonb)
RETURNS bytea[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 1000
RETURN CASE WHEN tags = '{}' AND metadata = '{}' THEN '{}' ELSE _pgrecall.namespace_keys(namespace_id, ARRAY(
    SELECT 't' || t.tag FROM unnest(tags) t (tag)
    UNION
    SELECT l.leaf FROM _pgrecall.metadata_leaves(metadata) l (leaf) WHERE metadata <> '{}'
)) END;
COMMENT ON FUNCTION _pgrecall.filter_keys IS
    'Returns the keys of a memory in memories_keys_idx: one for each tag and each value in its metadata.';
"""
INDEXES = {
    # Not by a pending list, which every search would read, with the entries of all namespaces.
    "memories_keys_idx": (
        "memories USING gin (_pgrecall.filter_keys(namespace_id, tags, metadata)) WITH (fastupdate = off)"
    ),
} | {
    # An expression, so that no setting makes the planner take the primary key instead.
    f"{table}_namespace_id_idx": f"{table} (namespace_id, (id + 0))"
    for table in ("memories", "concepts", "concept_merges", "curations")
}
SHARED = {
    "memories_search_vector_idx": "memories USING gin (search_vector)",
    "memories_tags_idx": "memories USING gin (tags)",
    "memories_metadata_idx": "memories USING gin (metadata jsonb_path_ops)",
}


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        FUNCTIONS
        + """
        ALTER TYPE pgrecall.recall_filter
            ADD ATTRIBUTE metadata_conditions jsonb, ADD ATTRIBUTE all_keys bytea[],
            ADD ATTRIBUTE tag_keys bytea[], ADD ATTRIBUTE value_keys bytea[];

        ALTER TABLE pgrecall.grants ADD COLUMN namespace text;
        UPDATE pgrecall.grants g SET namespace = n.name
        FROM pgrecall.namespaces n WHERE n.id = g.namespace_id;
        ALTER TABLE pgrecall.grants ALTER COLUMN namespace SET NOT NULL;
        COMMENT ON COLUMN pgrecall.grants.namespace IS
            'The namespace''s name, so that a role looks names up among its own. Triggers maintain it.';
        DROP INDEX pgrecall.grants_role_idx;
        CREATE INDEX grants_role_idx ON pgrecall.grants (role, namespace);
        """,
    )
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        for name, definition in INDEXES.items():
            run_sql(connection, f"DROP INDEX CONCURRENTLY IF EXISTS pgrecall.{name}")
            run_sql(connection, f"CREATE INDEX CONCURRENTLY {name} ON pgrecall.{definition}")
        # The planner needs the statistics of the expression from the start.
        run_sql(connection, "ANALYZE pgrecall.memories")
        for name in SHARED:
            run_sql(connection, f"DROP INDEX CONCURRENTLY IF EXISTS pgrecall.{name}")


def downgrade() -> None:
    connection = op.get_bind()
    for name, definition in SHARED.items():
        run_sql(connection, f"CREATE INDEX {name} ON pgrecall.{definition}")
    names = ", ".join(f"pgrecall.{name}" for name in INDEXES)
    run_sql(
        connection,
        f"""
        DROP INDEX {names}, pgrecall.grants_role_idx;
        ALTER TABLE pgrecall.grants DROP COLUMN namespace;
        CREATE INDEX grants_role_idx ON pgrecall.grants (role);
        DROP FUNCTION _pgrecall.filter_keys, _pgrecall.namespace_keys, _pgrecall.metadata_leaves;
        ALTER TYPE pgrecall.recall_filter
            DROP ATTRIBUTE metadata_conditions, DROP ATTRIBUTE all_keys,
            DROP ATTRIBUTE tag_keys, DROP ATTRIBUTE value_keys;
        """,
    )
