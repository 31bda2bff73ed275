"""The tables, types and roles of 0.1.0.

State only: nothing here depends on a function of sql/.
"""

from pathlib import Path

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = Path(__file__).with_suffix(".sql")

# The longest vector that leaves room in an 8 kB page for the rest of its row. Up to here the embedding is
# stored in the row: rescoring reads it for every candidate, and TOAST would cost a fetch each.
LONGEST_INLINE_VECTOR = 2000

# Roles belong to the whole cluster. Another database may have created them, or may be creating them now, so
# they are never dropped. Existing roles are not created again: the installer may lack the privilege.
ROLES = """
DO $roles$
DECLARE
    item record;
BEGIN
    FOR item IN
        SELECT r.name, r.member_of
        FROM (VALUES (1, 'pgrecall_reader', NULL), (2, 'pgrecall_writer', 'pgrecall_reader'),
                     (3, 'pgrecall_embedder', NULL), (4, 'pgrecall_everywhere', NULL),
                     (5, 'pgrecall_admin', 'pgrecall_writer'), (6, 'pgrecall_admin', 'pgrecall_everywhere'),
                     (7, 'pgrecall_gate', NULL), (8, 'pgrecall_engine', NULL)) r (place, name, member_of)
        ORDER BY r.place
    LOOP
        BEGIN
            IF to_regrole(item.name) IS NULL THEN
                EXECUTE format('CREATE ROLE %I NOLOGIN', item.name);
            END IF;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;
        END;
        BEGIN
            IF NOT pg_has_role(item.name, item.member_of, 'MEMBER') THEN
                EXECUTE format('GRANT %I TO %I', item.member_of, item.name);
            END IF;
        EXCEPTION WHEN unique_violation THEN
            NULL;
        END;
    END LOOP;
END
$roles$;
"""

# Drops the extension only if this revision created it and nothing else uses it.
DROP_EXTENSION = """
DO $extension$
BEGIN
    DROP EXTENSION vector;
EXCEPTION WHEN dependent_objects_still_exist THEN
    NULL;
END
$extension$;
"""

DROP_TABLES = """
DROP FUNCTION _pgrecall.embedding_of, _pgrecall.name_embedding_of;
DO $tables$
DECLARE
    tables text;
    types text;
BEGIN
    SELECT string_agg(c.oid::regclass::text, ', ') INTO tables FROM pg_class c
    WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'r' AND c.relname <> 'alembic_version';
    EXECUTE format('DROP TABLE %s', tables);
    SELECT string_agg(t.oid::regtype::text, ', ') INTO types FROM pg_type t
    JOIN pg_class c ON c.oid = t.typrelid AND c.relkind = 'c'
    WHERE t.typnamespace = 'pgrecall'::regnamespace;
    EXECUTE format('DROP TYPE %s', types);
END
$tables$;
"""


def upgrade() -> None:
    connection = op.get_bind()
    run_sql(connection, ROLES)
    # An extension that the database already has stays in its schema.
    found = connection.exec_driver_sql(
        "SELECT count(*) FROM pg_catalog.pg_extension WHERE extname = 'vector'"
    )
    is_there = bool(found.scalar_one())
    if not is_there:
        run_sql(connection, "CREATE EXTENSION vector SCHEMA public")
    dimension = op.get_context().opts["pgrecall_dimension"]
    is_inline = dimension <= LONGEST_INLINE_VECTOR
    text = TABLES.read_text(encoding="utf-8")
    # Leave room for two kilobytes of words beside an inline embedding.
    target = min(8160, 2048 + 2 * dimension) if is_inline else 2048
    for name, value in {
        "{dimension}": str(dimension),
        "{toast_tuple_target}": str(target),
        "{storage}": "PLAIN" if is_inline else "EXTERNAL",
    }.items():
        text = text.replace(name, value)
    run_sql(connection, text)
    if not is_there:
        run_sql(connection, "UPDATE pgrecall.installation SET created_extension = true")


def downgrade() -> None:
    connection = op.get_bind()
    created = connection.exec_driver_sql("SELECT created_extension FROM pgrecall.installation").scalar_one()
    run_sql(connection, DROP_TABLES)
    if created:
        run_sql(connection, DROP_EXTENSION)
