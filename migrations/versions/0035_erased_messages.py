"""Which messages were erased, so that the next copy of their conversation does not bring them back."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        CREATE TABLE pgrecall.erased_messages (
            namespace_id integer NOT NULL REFERENCES pgrecall.namespaces (id),
            key          bytea NOT NULL CONSTRAINT erased_messages_key_size CHECK (octet_length(key) = 32),
            "position"   integer NOT NULL,
            PRIMARY KEY (namespace_id, key, "position")
        );
        COMMENT ON TABLE pgrecall.erased_messages IS
            'Messages that were erased, as hashes: remember_messages() does not store them again.';
        COMMENT ON COLUMN pgrecall.erased_messages.key IS
            'SHA-256 of the external_id; for a message without a time without its place.';
        COMMENT ON COLUMN pgrecall.erased_messages."position" IS
            'The place in its session of a message without a time; else 0.';
        ALTER TABLE pgrecall.erased_messages ALTER COLUMN key SET STATISTICS 0;
        """,
    )


def downgrade() -> None:
    run_sql(op.get_bind(), "DROP TABLE pgrecall.erased_messages")
