"""What is extracted is one list: the switches become the setting extract."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0019"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        -- The trigger of the bundle that is still installed knows no setting of this name.
        ALTER TABLE pgrecall.settings DISABLE TRIGGER USER;
        WITH switches AS (
            SELECT w.word, w.place, 'extract_' || w.word AS name
            FROM unnest('{patterns,keywords,names,spacy,titles,speakers,times,facts}'::text[])
                 WITH ORDINALITY w (word, place)
        ), removed AS (
            DELETE FROM pgrecall.settings s USING switches w WHERE s.name = w.name RETURNING s.name, s.value
        )
        INSERT INTO pgrecall.settings (name, value)
        SELECT 'extract',
               COALESCE(
                   string_agg(w.word, ', ' ORDER BY w.place) FILTER (WHERE r.value IS DISTINCT FROM 'off'),
                   'none'
               )
        FROM switches w
        LEFT JOIN removed r ON r.name = w.name
        HAVING bool_or(r.value = 'off');
        ALTER TABLE pgrecall.settings ENABLE TRIGGER USER;
        """,
    )


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        WITH removed AS (
            DELETE FROM pgrecall.settings s WHERE s.name = 'extract' RETURNING s.value
        )
        INSERT INTO pgrecall.settings (name, value)
        SELECT 'extract_' || w.word, 'off'
        FROM removed r
        CROSS JOIN unnest('{patterns,keywords,names,spacy,titles,speakers,times,facts}'::text[]) w (word)
        WHERE w.word <> ALL (string_to_array(replace(r.value, ' ', ''), ','));
        """,
    )
