"""Indexes for filters by category and by source."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

# A hash has statistics, which a text does not: the planner must know how common a category is.
# Not partial: the planner would not use the statistics.
INDEXES = {
    "memories_category_idx": "(namespace_id, hashtext(category))",
    "memories_source_idx": "(namespace_id, hashtext(source))",
}


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        "ALTER TYPE pgrecall.recall_filter "
        "ADD ATTRIBUTE category_hashes integer[], ADD ATTRIBUTE source_hashes integer[];",
    )
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        for name, definition in INDEXES.items():
            run_sql(connection, f"DROP INDEX CONCURRENTLY IF EXISTS pgrecall.{name}")
            run_sql(connection, f"CREATE INDEX CONCURRENTLY {name} ON pgrecall.memories {definition}")


def downgrade() -> None:
    names = ", ".join(f"pgrecall.{name}" for name in INDEXES)
    run_sql(
        op.get_bind(),
        f"""
        DROP INDEX IF EXISTS {names};
        ALTER TYPE pgrecall.recall_filter DROP ATTRIBUTE category_hashes, DROP ATTRIBUTE source_hashes;
        """,
    )
