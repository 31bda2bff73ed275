# ruff: noqa: E501 (lines of SQL)
"""Expansions of queries: what a language model said of them, and what recall adds to a question."""

from alembic import op

from pgrecall.install import run_sql

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

# They return other columns or take other arguments; the bundle makes them anew.
OLD_CODE = """
DROP FUNCTION IF EXISTS public.recall_explain(
    text, pgvector.halfvec, bigint[], integer, text, text[], text[], text[], jsonb, timestamptz, timestamptz, boolean, boolean, tstzrange,
    timestamptz, timestamptz, text, text, text, text, double precision, double precision, double precision, boolean, jsonb
);
DROP FUNCTION IF EXISTS _pgrecall.scored_memories(pgrecall.parsed_query, pgvector.halfvec, integer);
DROP FUNCTION IF EXISTS _pgrecall.concept_candidates(
    integer, bigint[], pgrecall.recall_filter, integer, double precision, integer, double precision, double precision
);
"""

# Unlogged, as query_embeddings is: what users ask goes to no log, no replica and no archive.
UP = """
CREATE UNLOGGED TABLE pgrecall.query_expansions (
    role       regrole NOT NULL DEFAULT quote_ident(current_user)::regrole,
    query_hash bytea NOT NULL,
    language   text NOT NULL,
    made_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    terms      text[] NOT NULL,
    entities   text[] NOT NULL DEFAULT '{}',
    intent     text,
    PRIMARY KEY (role, query_hash, language),
    CONSTRAINT query_expansions_size CHECK (
        cardinality(terms) <= 5 AND cardinality(entities) <= 5 AND octet_length(query_hash) = 32
        AND length(array_to_string(terms || entities, '')) <= 640 AND length(intent) <= 64 AND length(language) <= 128
    )
);
ALTER TABLE pgrecall.query_expansions
    ALTER COLUMN query_hash SET STATISTICS 0, ALTER COLUMN language SET STATISTICS 0, ALTER COLUMN terms SET STATISTICS 0,
    ALTER COLUMN entities SET STATISTICS 0, ALTER COLUMN intent SET STATISTICS 0;
ALTER TABLE pgrecall.query_expansions ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE pgrecall.query_expansions IS
    'What a language model said of queries, by the hash of each, for recall with expand = llm. Kept for a while, for each role apart.';
COMMENT ON COLUMN pgrecall.query_expansions.terms IS 'Words and short phrases to look for beside the query''s.';
COMMENT ON COLUMN pgrecall.query_expansions.entities IS 'Names of things that the query means; their concepts lead the graph leg.';

ALTER TYPE pgrecall.recall_settings ADD ATTRIBUTE expand text, ADD ATTRIBUTE expansion_weight double precision;
ALTER TYPE pgrecall.parsed_query ADD ATTRIBUTE added text[], ADD ATTRIBUTE added_idfs double precision[];
ALTER TYPE pgrecall.recall_request ADD ATTRIBUTE implied bigint[], ADD ATTRIBUTE expansion text[];
"""


def upgrade() -> None:
    connection = op.get_bind()
    run_sql(connection, OLD_CODE)
    run_sql(connection, UP)


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        ALTER TYPE pgrecall.recall_request DROP ATTRIBUTE implied, DROP ATTRIBUTE expansion;
        ALTER TYPE pgrecall.parsed_query DROP ATTRIBUTE added, DROP ATTRIBUTE added_idfs;
        ALTER TYPE pgrecall.recall_settings DROP ATTRIBUTE expand, DROP ATTRIBUTE expansion_weight;
        DROP TABLE pgrecall.query_expansions;
        """,
    )
