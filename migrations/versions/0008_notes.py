"""Notes: what a language model found worth keeping in messages, with the messages as evidence."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0008"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        CREATE TABLE pgrecall.note_evidence (
            memory_id bigint NOT NULL
                CONSTRAINT note_evidence_memory_id_fkey REFERENCES pgrecall.memories ON DELETE CASCADE,
            note_id   bigint NOT NULL
                CONSTRAINT note_evidence_note_id_fkey REFERENCES pgrecall.memories ON DELETE CASCADE,
            is_stated boolean NOT NULL DEFAULT true,
            CONSTRAINT note_evidence_pkey PRIMARY KEY (memory_id, note_id),
            CONSTRAINT note_evidence_not_of_itself CHECK (note_id <> memory_id)
        );
        COMMENT ON TABLE pgrecall.note_evidence IS
            'The messages that notes were made of. A note is forgotten when no message states it any more.';
        COMMENT ON COLUMN pgrecall.note_evidence.memory_id IS 'The message.';
        COMMENT ON COLUMN pgrecall.note_evidence.note_id IS
            'The note, a memory in the session of the message.';
        COMMENT ON COLUMN pgrecall.note_evidence.is_stated IS
            'False: the message was edited or forgotten, or became sensitive. The row stays, so that '
            'erasing the message erases the note.';
        CREATE INDEX note_evidence_note_idx ON pgrecall.note_evidence (note_id);
        ALTER TABLE pgrecall.note_evidence ENABLE ROW LEVEL SECURITY;
        """,
    )


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        DROP TRIGGER IF EXISTS memories_82_notes ON pgrecall.memories;
        DROP TABLE pgrecall.note_evidence;
        """,
    )
