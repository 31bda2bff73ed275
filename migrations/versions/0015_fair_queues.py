"""Queues that give every namespace its turn, history that knows its size, judged queries with an owner."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        ALTER TABLE pgrecall.extractions ADD COLUMN namespace_id integer;
        COMMENT ON COLUMN pgrecall.extractions.namespace_id IS
            'That of the memory: claim_extractions() gives each its turn.';
        UPDATE pgrecall.extractions x SET namespace_id = m.namespace_id
        FROM pgrecall.memories m WHERE m.id = x.memory_id;
        CREATE INDEX extractions_pending_namespace_idx
            ON pgrecall.extractions (enricher, namespace_id, memory_id) WHERE is_pending;

        ALTER TABLE pgrecall.curation_jobs ADD COLUMN namespace_id integer;
        COMMENT ON COLUMN pgrecall.curation_jobs.namespace_id IS
            'That of the memory: claim_curations() gives each its turn.';
        UPDATE pgrecall.curation_jobs j SET namespace_id = m.namespace_id
        FROM pgrecall.memories m WHERE m.id = j.memory_id;
        CREATE INDEX curation_jobs_namespace_idx ON pgrecall.curation_jobs (namespace_id, memory_id);

        ALTER TABLE pgrecall.memory_changes ADD COLUMN bytes integer NOT NULL DEFAULT 0;
        COMMENT ON COLUMN pgrecall.memory_changes.bytes IS 'The size of before and after, as text.';
        UPDATE pgrecall.memory_changes c
        SET bytes = octet_length(c.before::text) + octet_length(c.after::text);

        ALTER TABLE pgrecall.judged_queries ADD COLUMN owner name NOT NULL DEFAULT ''
            CONSTRAINT judged_queries_owner_size CHECK (octet_length(owner::text) <= 63);
        COMMENT ON COLUMN pgrecall.judged_queries.owner IS
            'The role that judged it: others may not replace it. Empty for feedback, and for what is older.';
        """,
    )


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        ALTER TABLE pgrecall.judged_queries DROP COLUMN owner;
        ALTER TABLE pgrecall.memory_changes DROP COLUMN bytes;
        ALTER TABLE pgrecall.curation_jobs DROP COLUMN namespace_id;
        ALTER TABLE pgrecall.extractions DROP COLUMN namespace_id;
        """,
    )
