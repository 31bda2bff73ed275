"""Indexes whose keys begin with the namespace, or contain it, in place of those that all namespaces share."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

# Level by level: nested documents can be thousands of levels deep.
FUNCTIONS = r"""
CREATE OR REPLACE FUNCTION _pgrecall.metadata_leaves(metadata jsonb)
RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    leaves text[] := '{}'::text[];
    found text[];
    paths text[] := '{m}'::text[];
    nodes jsonb[] := ARRAY[metadata];
BEGIN
    WHILE nodes IS NOT NULL LOOP
        SELECT array_agg(
                   c.path || '=' || CASE c.kind
                       WHEN 'number' THEN trim_scale(c.value::numeric)::text ELSE c.value::text
                   END
               ) FILTER (WHERE c.kind NOT IN ('object', 'array')),
               array_agg(c.path) FILTER (WHERE c.kind IN ('object', 'array')),
               array_agg(c.value) FILTER (WHERE c.kind IN ('object', 'array'))
        INTO found, paths, nodes
        FROM unnest(paths, nodes) n (path, value)
        CROSS JOIN LATERAL (
            SELECT n.path || '.' || quote_literal(e.key), e.value, jsonb_typeof(e.value)
            FROM jsonb_each(CASE jsonb_typeof(n.value) WHEN 'object' THEN n.value ELSE '{}' END)
                AS e (key, value)
            UNION ALL
            SELECT n.path, a.value, jsonb_typeof(a.value)
            FROM jsonb_array_elements(CASE jsonb_typeof(n.value) WHEN 'array' THEN n.value ELSE '[]' END)
                AS a (value)
        ) c (path, value, kind);
        leaves := leaves || found;
    END LOOP;
    RETURN leaves;
END
$function$;
COMMENT ON FUNCTION _pgrecall.metadata_leaves IS
    'Returns the values in metadata, each with the names that lead to it. Arrays are left out of the path: '
    'an item is found like a single value.';

CREATE OR REPLACE FUNCTION _pgrecall.namespace_keys(namespace_id integer, texts text[])
RETURNS bytea[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    keys bytea[] := '{}'::bytea[];
    item text;
BEGIN
    FOREACH item IN ARRAY texts LOOP
        keys := keys || substr(sha256(convert_to(namespace_id || ':' || item, 'UTF8')), 1, 10);
    END LOOP;
    RETURN keys;
END
$function$;
COMMENT ON FUNCTION _pgrecall.namespace_keys IS
    'Returns keys of texts in a namespace. Nobody finds a text of another namespace with the same key.';

CREATE OR REPLACE FUNCTION _pgrecall.filter_keys(namespace_id integer, tags text[], metadata jsonb)
RETURNS bytea[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 100
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    leaves text[] := '{}'::text[];
    tag text;
BEGIN
    IF metadata <> '{}' THEN
        leaves := _pgrecall.metadata_leaves(metadata);
    END IF;
    FOREACH tag IN ARRAY tags LOOP
        leaves := leaves || ('t' || tag);
    END LOOP;
    RETURN _pgrecall.namespace_keys(namespace_id, leaves);
END
$function$;
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
    # What is done until the end of the block stays if the run is interrupted, and is done again.
    run_sql(op.get_bind(), FUNCTIONS)
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        for name, definition in INDEXES.items():
            run_sql(connection, f"DROP INDEX CONCURRENTLY IF EXISTS pgrecall.{name}")
            run_sql(connection, f"CREATE INDEX CONCURRENTLY {name} ON pgrecall.{definition}")
        # The planner needs the statistics of the expression from the start. Of an empty table it would learn
        # that there are no rows, and plan for none; of one it knows nothing of it expects ten pages.
        run_sql(
            connection,
            "DO $$ BEGIN "
            "IF EXISTS (SELECT FROM pgrecall.memories) THEN ANALYZE pgrecall.memories; END IF; "
            "END $$",
        )
        for name in SHARED:
            run_sql(connection, f"DROP INDEX CONCURRENTLY IF EXISTS pgrecall.{name}")
    run_sql(
        op.get_bind(),
        """
        ALTER TYPE pgrecall.recall_filter
            ADD ATTRIBUTE metadata_conditions jsonb, ADD ATTRIBUTE all_keys bytea[],
            ADD ATTRIBUTE tag_keys bytea[], ADD ATTRIBUTE value_keys bytea[];

        ALTER TABLE pgrecall.grants ADD COLUMN namespace text
            CONSTRAINT grants_namespace_size CHECK (octet_length(namespace) <= 1024);
        UPDATE pgrecall.grants g SET namespace = n.name
        FROM pgrecall.namespaces n WHERE n.id = g.namespace_id;
        ALTER TABLE pgrecall.grants
            ALTER COLUMN namespace SET NOT NULL, ALTER COLUMN namespace SET STATISTICS 0;
        COMMENT ON COLUMN pgrecall.grants.namespace IS
            'The namespace''s name, so that a role looks names up among its own. Triggers maintain it.';
        DROP INDEX pgrecall.grants_role_idx;
        CREATE INDEX grants_role_idx ON pgrecall.grants (role, namespace);
        """,
    )


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
