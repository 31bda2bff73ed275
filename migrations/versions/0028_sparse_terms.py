"""Terms that a sparse model gives to memories: their table, their setting, their part of the score."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        CREATE TABLE pgrecall.sparse_terms (
            memory_id    bigint NOT NULL PRIMARY KEY REFERENCES pgrecall.memories (id) ON DELETE CASCADE,
            namespace_id integer NOT NULL REFERENCES pgrecall.namespaces (id),
            weights      pgvector.sparsevec(268435456) NOT NULL
        );
        COMMENT ON TABLE pgrecall.sparse_terms IS
            'What a sparse model says each memory is about: words with weights, also words it does not hold.';
        COMMENT ON COLUMN pgrecall.sparse_terms.weights IS
            'Weights of words by dimension (_pgrecall.term_dimension); 1 is that of the strongest own word.';
        -- No sample of erased terms stays in the statistics, and no plan depends on them.
        ALTER TABLE pgrecall.sparse_terms ALTER COLUMN weights SET STATISTICS 0;
        CREATE INDEX sparse_terms_namespace_id_idx ON pgrecall.sparse_terms (namespace_id);
        ALTER TYPE pgrecall.recall_settings ADD ATTRIBUTE sparse_share double precision;
        ALTER TYPE pgrecall.parsed_query ADD ATTRIBUTE sparse pgvector.sparsevec;
        ALTER TYPE pgrecall.ranked ADD ATTRIBUTE sparse_part double precision;
        ALTER TYPE pgrecall.ranked ADD ATTRIBUTE sparse_weight double precision;
        """,
    )


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        ALTER TYPE pgrecall.ranked DROP ATTRIBUTE sparse_weight;
        ALTER TYPE pgrecall.ranked DROP ATTRIBUTE sparse_part;
        ALTER TYPE pgrecall.parsed_query DROP ATTRIBUTE sparse;
        ALTER TYPE pgrecall.recall_settings DROP ATTRIBUTE sparse_share;
        DROP TABLE pgrecall.sparse_terms;
        DELETE FROM pgrecall.jobs WHERE kind = 'sparse';
        DELETE FROM pgrecall.extractions WHERE enricher = 'sparse';
        """,
    )
