"""The background of a model, which counts while a namespace has none, and the setting min_confidence."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        ALTER TABLE pgrecall.embedding_models
            ADD COLUMN background_mean pgvector.halfvec,
            ADD COLUMN background_deviation double precision,
            ADD CONSTRAINT embedding_models_background_check CHECK (
                (background_mean IS NULL) = (background_deviation IS NULL)
                AND pgvector.vector_dims(background_mean) = dimension AND background_deviation > 0
                AND background_deviation <= 1
            );
        COMMENT ON COLUMN pgrecall.embedding_models.background_mean IS
            'The mean embedding of texts that are shipped with the embedder; NULL until one has measured it.';
        COMMENT ON COLUMN pgrecall.embedding_models.background_deviation IS
            'Root mean square of cosines between those texts, the mean subtracted.';
        ALTER TYPE pgrecall.recall_settings ADD ATTRIBUTE min_confidence double precision;
        """,
    )


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        ALTER TYPE pgrecall.recall_settings DROP ATTRIBUTE min_confidence;
        ALTER TABLE pgrecall.embedding_models DROP COLUMN background_mean, DROP COLUMN background_deviation;
        """,
    )
