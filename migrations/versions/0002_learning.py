"""Feedback, and settings learned from it."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        -- effective_settings() and resolved_settings() have another argument. The others use them; the
        -- installation creates them all again.
        DROP FUNCTION IF EXISTS pgrecall.dense_overlap, pgrecall.settings_list, pgrecall.health;
        DROP VIEW IF EXISTS pgrecall.settings_reference, pgrecall.settings_in_force;
        DROP FUNCTION IF EXISTS _pgrecall.effective_settings, pgrecall.resolved_settings;

        ALTER TABLE pgrecall.judged_queries
            ADD judged_by name NOT NULL DEFAULT '', ADD judged_at timestamptz NOT NULL DEFAULT now();
        COMMENT ON TABLE pgrecall.judged_queries IS
            'Queries with known right answers, for pgrecall.recall_eval() and pgrecall.learn(). Written by '
            'pgrecall.judge() and recall_feedback(). They are users'' own words: treat them as private, like '
            'memories.';
        COMMENT ON COLUMN pgrecall.judged_queries.judged_by IS
            'The role that gave the feedback; empty for a query of pgrecall.judge().';
        COMMENT ON COLUMN pgrecall.judged_queries.judged_at IS 'When it was last judged.';

        ALTER TABLE pgrecall.judgements ADD is_useful boolean NOT NULL DEFAULT true;
        COMMENT ON TABLE pgrecall.judgements IS
            'The memories that answer a judged query. After pgrecall.judge() all other memories of the '
            'namespace do not.';
        COMMENT ON COLUMN pgrecall.judgements.is_useful IS
            'False: feedback that the memory does not answer the query.';

        CREATE TABLE pgrecall.learned_settings (
            id           bigint GENERATED ALWAYS AS IDENTITY CONSTRAINT learned_settings_pkey PRIMARY KEY,
            namespace_id integer NOT NULL
                CONSTRAINT learned_settings_namespace_id_fkey
                REFERENCES pgrecall.namespaces ON DELETE CASCADE,
            settings     jsonb NOT NULL,
            queries      integer NOT NULL,
            ndcg_before  double precision NOT NULL,
            ndcg_after   double precision NOT NULL,
            gain_low     double precision NOT NULL,
            gain_high    double precision NOT NULL,
            learned_at   timestamptz NOT NULL DEFAULT now(),
            ended_at     timestamptz,
            end_reason   text
                CONSTRAINT learned_settings_end_reason CHECK (end_reason IN ('replaced', 'undone', 'worse')),
            CONSTRAINT learned_settings_end CHECK ((ended_at IS NULL) = (end_reason IS NULL))
        );
        COMMENT ON TABLE pgrecall.learned_settings IS
            'Settings that pgrecall.learn() found for a namespace, in force and ended ones.';
        COMMENT ON COLUMN pgrecall.learned_settings.settings IS
            'The settings that differ from the ones in force before.';
        COMMENT ON COLUMN pgrecall.learned_settings.queries IS
            'Number of judged queries that it was learned from.';
        COMMENT ON COLUMN pgrecall.learned_settings.ndcg_before IS
            'Mean nDCG@10 of these queries without the settings.';
        COMMENT ON COLUMN pgrecall.learned_settings.ndcg_after IS
            'Mean nDCG@10, each half of the queries with settings learned from the other half.';
        COMMENT ON COLUMN pgrecall.learned_settings.gain_low IS
            'Lower end of the 95 % interval of the gain.';
        COMMENT ON COLUMN pgrecall.learned_settings.gain_high IS
            'Upper end of the 95 % interval of the gain.';
        COMMENT ON COLUMN pgrecall.learned_settings.end_reason IS
            'replaced by newer ones, undone by pgrecall.unlearn(), or worse on later judgements.';
        CREATE UNIQUE INDEX learned_settings_namespace_idx
            ON pgrecall.learned_settings (namespace_id) WHERE ended_at IS NULL;
        ALTER TABLE pgrecall.learned_settings ENABLE ROW LEVEL SECURITY;
        """,
    )


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        DROP TABLE pgrecall.learned_settings;
        DELETE FROM pgrecall.judged_queries WHERE judged_by <> '';
        DELETE FROM pgrecall.judgements WHERE NOT is_useful;
        ALTER TABLE pgrecall.judgements DROP is_useful;
        ALTER TABLE pgrecall.judged_queries DROP judged_by, DROP judged_at;
        COMMENT ON TABLE pgrecall.judgements IS
            'The memories that answer a judged query; all other memories of the namespace do not.';
        COMMENT ON TABLE pgrecall.judged_queries IS
            'Queries with known right answers, for pgrecall.recall_eval(). Written by pgrecall.judge(). They '
            'are users'' own words: treat them as private, like memories.';
        """,
    )
