# ruff: noqa: E501 (lines of SQL)
"""Time: the times that texts speak of, when a memory was superseded, and filters by both."""

from alembic import op

from pgrecall.install import run_sql

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

# Memories that are there already get their references by pgrecall.refresh_temporal_refs(): reading a text takes
# functions of sql/.
TABLES = """
-- Two columns and no range: the operators of ranges are not leakproof, so under row-level security they would lose the
-- index, and GiST would need btree_gist for the namespace. Periods asked for are recent as a rule, so to_at comes first.
CREATE TABLE pgrecall.temporal_refs (
    memory_id    bigint NOT NULL REFERENCES pgrecall.memories (id) ON DELETE CASCADE,
    from_at      timestamptz NOT NULL,
    to_at        timestamptz NOT NULL,
    namespace_id integer NOT NULL,
    span         int4range NOT NULL,
    PRIMARY KEY (memory_id, span),
    CONSTRAINT temporal_refs_order CHECK (from_at < to_at)
);
CREATE INDEX temporal_refs_period_idx ON pgrecall.temporal_refs (namespace_id, to_at, from_at, memory_id);
COMMENT ON TABLE pgrecall.temporal_refs IS
    'The times that the texts of memories speak of, half-open; filled by triggers, never for sensitive memories.';
COMMENT ON COLUMN pgrecall.temporal_refs.span IS 'Which characters of the content, counted from 0.';
-- Here and not beside the policies: a table of user data is never without it, whichever code is installed.
ALTER TABLE pgrecall.temporal_refs ENABLE ROW LEVEL SECURITY;

ALTER TABLE pgrecall.memories ADD COLUMN superseded_at timestamptz;
COMMENT ON COLUMN pgrecall.memories.superseded_at IS
    'When it was recorded that the memory no longer holds; valid_to says since when it does not. NULL with a superseded_by: before anybody can ask for.';
-- The last change is the best that is known.
UPDATE pgrecall.memories SET superseded_at = updated_at WHERE superseded_by IS NOT NULL;

ALTER TYPE pgrecall.recall_filter ADD ATTRIBUTE timeframe tstzrange;
ALTER TYPE pgrecall.recall_filter ADD ATTRIBUTE as_of timestamptz;
ALTER TYPE pgrecall.recall_filter ADD ATTRIBUTE include_sensitive boolean;
ALTER TYPE pgrecall.recall_filter ADD ATTRIBUTE referring bigint[];
COMMENT ON COLUMN pgrecall.recall_filter.timeframe IS 'Half-open; memories of that time, and those in referring.';
COMMENT ON COLUMN pgrecall.recall_filter.as_of IS 'Memories recorded by then and not yet superseded then.';
COMMENT ON COLUMN pgrecall.recall_filter.referring IS
    'Memories whose text speaks of the timeframe, of whatever time they are themselves: _pgrecall.referring_memories().';
"""

# The signature changed.
OLD_CODE = """
DROP FUNCTION IF EXISTS public.recall(
    text, pgvector.halfvec, integer, text, text[], text[], text[], jsonb, timestamptz, timestamptz, boolean
);
"""


def upgrade() -> None:
    run_sql(op.get_bind(), OLD_CODE)
    run_sql(op.get_bind(), TABLES)


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        ALTER TYPE pgrecall.recall_filter DROP ATTRIBUTE timeframe, DROP ATTRIBUTE as_of,
            DROP ATTRIBUTE include_sensitive, DROP ATTRIBUTE referring;
        ALTER TABLE pgrecall.memories DROP COLUMN superseded_at;
        DROP TABLE pgrecall.temporal_refs;
        """,
    )
