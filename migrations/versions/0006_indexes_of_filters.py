"""Indexes for lists, for filters, and for expiry."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

LONGEST_INDEXED_VECTOR = 1300

# Each generation of embeddings is a column of its own. A database that changed its model may have dropped the
# first.
COLUMNS = f"""
SELECT column_name FROM pgrecall.generations WHERE dimension <= {LONGEST_INDEXED_VECTOR} ORDER BY id
"""

# In the order of creation. Each replaces the index of the same name.
INDEXES = {
    # Pages of list_memories(): the id breaks ties.
    "memories_namespace_time_idx": "(namespace_id, COALESCE(occurred_at, created_at), id)",
    # Also of memories without a position.
    "memories_session_idx": '(namespace_id, session, "position", id) WHERE session IS NOT NULL',
    # A hash has statistics, which a text does not: the planner must know how common a speaker is.
    "memories_speaker_idx": "(namespace_id, hashtext(speaker))",
    "memories_external_id_prefix_idx": (
        '(namespace_id, external_id COLLATE "C") WHERE external_id IS NOT NULL'
    ),
    "memories_forgotten_idx": (
        "(namespace_id, COALESCE(occurred_at, created_at), id) WHERE deleted_at IS NOT NULL"
    ),
    "memories_expires_idx": "(expires_at) WHERE expires_at IS NOT NULL AND deleted_at IS NULL",
}
SCAN_INDEX = (
    "(namespace_id, COALESCE(occurred_at, created_at)) "
    "INCLUDE (id, occurred_at, created_at, valid_to, expires_at, {column}) "
    "WHERE deleted_at IS NULL AND superseded_by IS NULL AND {column} IS NOT NULL"
)
METHODS = {
    "memories_metadata_idx": "gin (metadata jsonb_path_ops)",
    # Memories are stored in the order of created_at, so one page of this index serves a million of them.
    "memories_created_idx": "brin (created_at)",
}


def upgrade() -> None:
    connection = op.get_bind()
    definitions = {name: f"btree {columns}" for name, columns in INDEXES.items()} | METHODS
    for column in connection.exec_driver_sql(COLUMNS).scalars().all():
        definitions[f"memories_{column}_scan_idx"] = f"btree {SCAN_INDEX.format(column=column)}"
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        for name, definition in definitions.items():
            run_sql(connection, f"DROP INDEX CONCURRENTLY IF EXISTS pgrecall.{name}")
            run_sql(connection, f"CREATE INDEX CONCURRENTLY {name} ON pgrecall.memories USING {definition}")


def downgrade() -> None:
    columns = op.get_bind().exec_driver_sql(COLUMNS).scalars().all()
    names = ", ".join(
        f"pgrecall.{name}"
        for name in (
            *set(INDEXES) - {"memories_namespace_time_idx", "memories_session_idx"},
            *METHODS,
            *(f"memories_{column}_scan_idx" for column in columns),
        )
    )
    run_sql(op.get_bind(), f"DROP INDEX IF EXISTS {names}")
    run_sql(
        op.get_bind(),
        """
        DROP INDEX pgrecall.memories_namespace_time_idx, pgrecall.memories_session_idx;
        CREATE INDEX memories_namespace_time_idx
            ON pgrecall.memories (namespace_id, COALESCE(occurred_at, created_at));
        CREATE INDEX memories_session_idx ON pgrecall.memories (namespace_id, session, "position", id)
            WHERE session IS NOT NULL AND "position" IS NOT NULL;
        """,
    )
