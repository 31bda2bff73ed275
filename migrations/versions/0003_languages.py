# ruff: noqa: E501 (lines of SQL)
"""The languages of a namespace."""

from alembic import op

from pgrecall.install import run_sql

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

COLUMN = """
ALTER TABLE pgrecall.namespaces ADD COLUMN languages text[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN pgrecall.namespaces.languages IS
    'Text-search configurations that memories came in, in the order of their first appearance; filled by a trigger.';
UPDATE pgrecall.namespaces n
SET languages = ARRAY(SELECT DISTINCT m.language FROM pgrecall.memories m WHERE m.namespace_id = n.id ORDER BY m.language);
"""

# Queries are read in several languages now; the leg stands on the others.
OLD_CODE = """
DROP FUNCTION IF EXISTS _pgrecall.lexical_leg(integer, text, regconfig, pgrecall.recall_filter, integer, double precision);
DROP FUNCTION IF EXISTS _pgrecall.match_any_word(regconfig, text), _pgrecall.match_all_words(regconfig, text), pgrecall.query_language(text);
"""


def upgrade() -> None:
    run_sql(op.get_bind(), OLD_CODE)
    run_sql(op.get_bind(), COLUMN)


def downgrade() -> None:
    run_sql(op.get_bind(), "ALTER TABLE pgrecall.namespaces DROP COLUMN languages")
