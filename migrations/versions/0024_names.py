"""Names that share a spelling are found by keys; doubtful pairs wait for a language model."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0024"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        CREATE TABLE pgrecall.concept_keys (
            namespace_id integer NOT NULL,
            key          integer NOT NULL,
            concept_id   bigint NOT NULL,
            CONSTRAINT concept_keys_pkey PRIMARY KEY (namespace_id, key, concept_id),
            CONSTRAINT concept_keys_concept_fkey FOREIGN KEY (namespace_id, concept_id)
                REFERENCES pgrecall.concepts (namespace_id, id) ON DELETE CASCADE
        );
        COMMENT ON TABLE pgrecall.concept_keys IS
            'Hashes of the spellings of names, each also with a letter left out: names that share one may '
            'mean the same.';
        CREATE INDEX concept_keys_concept_idx ON pgrecall.concept_keys (concept_id);
        ALTER TABLE pgrecall.concept_keys ALTER COLUMN key SET STATISTICS 0;
        ALTER TABLE pgrecall.concept_keys ENABLE ROW LEVEL SECURITY;

        CREATE TABLE pgrecall.name_doubts (
            namespace_id integer NOT NULL,
            concept_id   bigint NOT NULL,
            other_id     bigint NOT NULL,
            nearness     real,
            asked_at     timestamptz,
            CONSTRAINT name_doubts_pkey PRIMARY KEY (concept_id, other_id),
            CONSTRAINT name_doubts_concept_fkey FOREIGN KEY (namespace_id, concept_id)
                REFERENCES pgrecall.concepts (namespace_id, id) ON DELETE CASCADE,
            CONSTRAINT name_doubts_other_fkey FOREIGN KEY (namespace_id, other_id)
                REFERENCES pgrecall.concepts (namespace_id, id) ON DELETE CASCADE,
            CONSTRAINT name_doubts_order CHECK (concept_id < other_id),
            CONSTRAINT name_doubts_times CHECK (
                asked_at >= '0001-01-02 00:00:00+00'::timestamptz
                AND asked_at <= '9999-12-31 00:00:00+00'::timestamptz
            )
        );
        COMMENT ON TABLE pgrecall.name_doubts IS
            'Pairs of concepts of which only a language model can tell whether they mean the same.';
        COMMENT ON COLUMN pgrecall.name_doubts.nearness IS
            'Cosine of the names, in deviations of the namespace''s background; NULL: similar by letters.';
        COMMENT ON COLUMN pgrecall.name_doubts.asked_at IS
            'When the language model was asked; the pair is not asked again. NULL: not yet.';
        CREATE INDEX name_doubts_other_idx ON pgrecall.name_doubts (other_id);
        CREATE INDEX name_doubts_asked_idx ON pgrecall.name_doubts (asked_at, concept_id);
        ALTER TABLE pgrecall.name_doubts ENABLE ROW LEVEL SECURITY;

        -- The thresholds have other units now. Every name is compared again by the new rules.
        DELETE FROM pgrecall.settings s WHERE s.name IN ('resolve_trigram', 'resolve_embedding');
        UPDATE pgrecall.concepts c SET resolved_at = NULL WHERE c.resolved_at IS NOT NULL;
        """,
    )


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        DELETE FROM pgrecall.settings s WHERE s.name IN ('resolve_spelling', 'resolve_embedding');
        DROP TABLE pgrecall.name_doubts;
        DROP TABLE pgrecall.concept_keys;
        """,
    )
