# ruff: noqa: E501 (lines of SQL)
"""Whether the functions in Python are installed, and the log by which they know a graph that has changed."""

from alembic import op

from pgrecall.install import run_sql

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

UP = """
ALTER TABLE pgrecall.installation ADD COLUMN has_plpython boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN pgrecall.installation.has_plpython IS
    'The functions in Python are installed (pgrecall migrate --with-plpython), and stay at the next migration.';

CREATE TABLE pgrecall.graph_changes (
    namespace_id integer NOT NULL,
    id           bigint GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (namespace_id, id)
);
ALTER TABLE pgrecall.graph_changes ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE pgrecall.graph_changes IS
    'A row for each statement that changed the mentions of a namespace, the older ones put together; written only with '
    'the functions in Python. The ids that a snapshot sees say which graph it sees.';
"""


def upgrade() -> None:
    run_sql(op.get_bind(), UP)


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        DROP TABLE pgrecall.graph_changes;
        ALTER TABLE pgrecall.installation DROP COLUMN has_plpython;
        """,
    )
