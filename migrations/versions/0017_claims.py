# ruff: noqa: E501 (lines of SQL)
"""Locks that are rows, tickets that nobody can guess, and questions whose times the server sets."""

from alembic import op

from pgrecall.install import run_sql

revision = "0017"
down_revision = "0015"
branch_labels = None
depends_on = None

# They read sequences that go or return another column; the bundle makes them anew.
OLD_CODE = """
DROP FUNCTION IF EXISTS pgrecall.claim(uuid, integer, interval, integer);
DROP FUNCTION IF EXISTS pgrecall.claim_extractions(uuid, text, integer, interval);
"""

# A row's lock names no key that others could take: who may not change the row cannot lock it.
LOCKS = """
CREATE TABLE pgrecall.locks (
    home integer NOT NULL,
    name text NOT NULL,
    PRIMARY KEY (home, name)
);
ALTER TABLE pgrecall.locks ENABLE ROW LEVEL SECURITY;
ALTER TABLE pgrecall.locks ALTER COLUMN name SET STATISTICS 0;
COMMENT ON TABLE pgrecall.locks IS
    'Rows to be locked, never changed: five for each namespace, and one for all (home 0). No tenant has a privilege on it.';
COMMENT ON COLUMN pgrecall.locks.home IS 'A namespace; 0: all of them.';
INSERT INTO pgrecall.locks (home, name)
SELECT n.id, l.name FROM pgrecall.namespaces n CROSS JOIN unnest('{names,facts,postings,extractions,imports}'::text[]) l (name)
UNION ALL
VALUES (0, 'resolve_concepts');
"""

TICKETS = """
ALTER TABLE pgrecall.embedding_jobs ADD COLUMN ticket bigint;
COMMENT ON COLUMN pgrecall.embedding_jobs.ticket IS 'Of the claim in hand: random.';
COMMENT ON COLUMN pgrecall.curation_jobs.ticket IS 'Of the claim in hand: random.';
DROP SEQUENCE pgrecall.extraction_tickets, pgrecall.curation_tickets;
"""

QUERIES = """
TRUNCATE pgrecall.query_embeddings, pgrecall.query_expansions;
ALTER TABLE pgrecall.query_embeddings
    ALTER COLUMN role DROP DEFAULT,
    ADD COLUMN claimed_at timestamptz,
    ADD CONSTRAINT query_embeddings_times CHECK (isfinite(requested_at) AND isfinite(used_at) AND isfinite(claimed_at));
ALTER TABLE pgrecall.query_expansions
    ALTER COLUMN role DROP DEFAULT,
    ADD CONSTRAINT query_expansions_times CHECK (isfinite(made_at));
COMMENT ON COLUMN pgrecall.query_embeddings.claimed_at IS 'When it was last given to an embedder: whose turn is next follows from it.';
DROP INDEX pgrecall.query_embeddings_asked_idx;
CREATE INDEX query_embeddings_asked_idx ON pgrecall.query_embeddings (generation_id, role, requested_at) WHERE answered_at IS NULL;
CREATE INDEX query_embeddings_claimed_idx ON pgrecall.query_embeddings (role, claimed_at);
"""

DOWN = """
TRUNCATE pgrecall.query_embeddings, pgrecall.query_expansions;
DROP INDEX pgrecall.query_embeddings_asked_idx, pgrecall.query_embeddings_claimed_idx;
CREATE INDEX query_embeddings_asked_idx ON pgrecall.query_embeddings (requested_at) WHERE answered_at IS NULL;
ALTER TABLE pgrecall.query_embeddings
    DROP CONSTRAINT query_embeddings_times, DROP COLUMN claimed_at,
    ALTER COLUMN role SET DEFAULT quote_ident(current_user)::regrole;
ALTER TABLE pgrecall.query_expansions
    DROP CONSTRAINT query_expansions_times, ALTER COLUMN role SET DEFAULT quote_ident(current_user)::regrole;
ALTER TABLE pgrecall.embedding_jobs DROP COLUMN ticket;
COMMENT ON COLUMN pgrecall.curation_jobs.ticket IS 'Of the claim in hand.';
CREATE SEQUENCE pgrecall.curation_tickets;
COMMENT ON SEQUENCE pgrecall.curation_tickets IS 'Tickets of claims (pgrecall.claim_curations).';
CREATE SEQUENCE pgrecall.extraction_tickets;
COMMENT ON SEQUENCE pgrecall.extraction_tickets IS 'Tickets of claims (pgrecall.claim_extractions).';
DROP TABLE pgrecall.locks;
"""


def upgrade() -> None:
    connection = op.get_bind()
    for statements in (OLD_CODE, LOCKS, TICKETS, QUERIES):
        run_sql(connection, statements)


def downgrade() -> None:
    run_sql(op.get_bind(), DOWN)
