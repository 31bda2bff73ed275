"""Pages: standing answers of a namespace, their lines, and what has changed since they were filled."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        CREATE TABLE pgrecall.pages (
            namespace_id integer NOT NULL REFERENCES pgrecall.namespaces (id) ON DELETE CASCADE,
            name         text COLLATE "C" NOT NULL,
            question     text,
            sections     text[] NOT NULL,
            budget       integer NOT NULL,
            unit         text NOT NULL,
            made_at      timestamptz NOT NULL DEFAULT now(),
            refreshed_at timestamptz,
            PRIMARY KEY (namespace_id, name),
            CONSTRAINT pages_name CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,99}$'),
            CONSTRAINT pages_question_size CHECK (length(question) <= 16384),
            CONSTRAINT pages_sections CHECK (
                cardinality(sections) BETWEEN 1 AND 4 AND sections <@ '{facts,preferences,open,recent}'
            ),
            CONSTRAINT pages_budget CHECK (budget BETWEEN 50 AND 100000),
            CONSTRAINT pages_unit CHECK (unit IN ('characters', 'tokens')),
            CONSTRAINT pages_times CHECK (
                made_at BETWEEN '0001-01-02 00:00+00' AND '9999-12-31 00:00+00'
                AND refreshed_at BETWEEN '0001-01-02 00:00+00' AND '9999-12-31 00:00+00'
            )
        );
        COMMENT ON TABLE pgrecall.pages IS
            'Standing questions of a namespace. Written by pgrecall.set_page().';
        COMMENT ON COLUMN pgrecall.pages.question IS
            'What its lines are recalled for. NULL: the namespace as a whole.';
        COMMENT ON COLUMN pgrecall.pages.sections IS
            'Its sections; an earlier one takes its part of the budget first.';
        COMMENT ON COLUMN pgrecall.pages.budget IS
            'The most that its lines have together, in the unit.';
        COMMENT ON COLUMN pgrecall.pages.refreshed_at IS
            'When it was filled last; NULL: never.';
        ALTER TABLE pgrecall.pages
            ALTER COLUMN question SET STATISTICS 0, ALTER COLUMN name SET STATISTICS 0,
            ALTER COLUMN unit SET STATISTICS 0;

        CREATE TABLE pgrecall.page_lines (
            namespace_id integer NOT NULL,
            page         text COLLATE "C" NOT NULL,
            memory_id    bigint NOT NULL REFERENCES pgrecall.memories (id) ON DELETE CASCADE,
            "position"   integer NOT NULL,
            section      text NOT NULL,
            text         text NOT NULL,
            said_at      timestamptz NOT NULL,
            valid_until  timestamptz,
            PRIMARY KEY (namespace_id, page, memory_id),
            FOREIGN KEY (namespace_id, page) REFERENCES pgrecall.pages (namespace_id, name) ON DELETE CASCADE,
            CONSTRAINT page_lines_section CHECK (section IN ('facts', 'preferences', 'open', 'recent')),
            CONSTRAINT page_lines_text_size CHECK (length(text) <= 400),
            CONSTRAINT page_lines_times CHECK (
                said_at BETWEEN '0001-01-02 00:00+00' AND '9999-12-31 00:00+00'
                AND valid_until BETWEEN '0001-01-02 00:00+00' AND '9999-12-31 00:00+00'
            )
        );
        COMMENT ON TABLE pgrecall.page_lines IS
            'The lines of pages. Each quotes one memory, and goes when the memory changes.';
        COMMENT ON COLUMN pgrecall.page_lines.said_at IS
            'When the memory occurred or was stored.';
        COMMENT ON COLUMN pgrecall.page_lines.valid_until IS
            'From then on it is not returned: its memory has expired, or what it says is over.';
        -- No sample of erased texts stays in the statistics, and no plan depends on them.
        ALTER TABLE pgrecall.page_lines
            ALTER COLUMN text SET STATISTICS 0, ALTER COLUMN page SET STATISTICS 0,
            ALTER COLUMN section SET STATISTICS 0;
        CREATE INDEX page_lines_memory_id_idx ON pgrecall.page_lines (memory_id);
        CREATE INDEX page_lines_valid_until_idx ON pgrecall.page_lines (valid_until)
            WHERE valid_until IS NOT NULL;

        CREATE TABLE pgrecall.page_changes (
            namespace_id integer NOT NULL,
            ticket       bigint NOT NULL,
            changed_at   timestamptz NOT NULL,
            PRIMARY KEY (namespace_id, ticket),
            CONSTRAINT page_changes_times CHECK (
                changed_at BETWEEN '0001-01-02 00:00+00' AND '9999-12-31 00:00+00'
            )
        );
        COMMENT ON TABLE pgrecall.page_changes IS
            'Notes of a change since the pages of a namespace were filled: they are behind.';
        COMMENT ON COLUMN pgrecall.page_changes.ticket IS
            'A random number: writers add rows without waiting for each other.';
        """,
    )


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        DROP TABLE pgrecall.page_changes;
        DROP TABLE pgrecall.page_lines;
        DROP TABLE pgrecall.pages;
        """,
    )
