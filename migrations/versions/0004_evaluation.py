# ruff: noqa: E501 (lines of SQL)
"""Judged queries and the memories that answer them: what recall is measured by, in the database itself."""

from alembic import op

from pgrecall.install import run_sql

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

# A vector may be the query's only half: then the text is empty, as recall() takes it.
TABLES = """
CREATE TABLE pgrecall.judged_queries (
    namespace_id       integer NOT NULL REFERENCES pgrecall.namespaces (id) ON DELETE CASCADE,
    embedding_model_id integer REFERENCES pgrecall.embedding_models (id),
    query_id           text NOT NULL,
    query              text NOT NULL,
    stratum            text NOT NULL,
    exclude            bigint[] NOT NULL DEFAULT '{}',
    query_vec          pgvector.halfvec(%(dimension)s),
    PRIMARY KEY (namespace_id, query_id),
    CONSTRAINT judged_queries_id_length CHECK (length(query_id) BETWEEN 1 AND 200),
    CONSTRAINT judged_queries_stratum CHECK (length(stratum) BETWEEN 1 AND 200 AND stratum <> 'overall'),
    CONSTRAINT judged_queries_exclude CHECK (array_position(exclude, NULL) IS NULL),
    CONSTRAINT judged_queries_model_means_vector CHECK (query_vec IS NOT NULL OR embedding_model_id IS NULL)
);
COMMENT ON TABLE pgrecall.judged_queries IS
    'Queries whose right answers are known, for pgrecall.recall_eval(). Written by pgrecall.judge(). Users'' own words: as private as memories.';
COMMENT ON COLUMN pgrecall.judged_queries.query_id IS 'The caller''s own name for it, unique within the namespace.';
COMMENT ON COLUMN pgrecall.judged_queries.stratum IS 'The kind of query; recall_eval() gives each a row of its own.';
COMMENT ON COLUMN pgrecall.judged_queries.exclude IS 'Memories that count neither for nor against: they are taken out before the ranks are counted.';
COMMENT ON COLUMN pgrecall.judged_queries.embedding_model_id IS 'The model query_vec is of: it cannot be compared with another''s.';

CREATE TABLE pgrecall.judgements (
    namespace_id integer NOT NULL,
    query_id     text NOT NULL,
    memory_id    bigint NOT NULL REFERENCES pgrecall.memories (id) ON DELETE CASCADE,
    PRIMARY KEY (namespace_id, query_id, memory_id),
    FOREIGN KEY (namespace_id, query_id) REFERENCES pgrecall.judged_queries (namespace_id, query_id) ON DELETE CASCADE
);
CREATE INDEX judgements_memory_idx ON pgrecall.judgements (memory_id);
COMMENT ON TABLE pgrecall.judgements IS 'The memories that answer a judged query; every other memory of the namespace does not.';

-- Here and not beside the policies: a table of user data is never without it, whichever code is installed.
ALTER TABLE pgrecall.judged_queries ENABLE ROW LEVEL SECURITY;
ALTER TABLE pgrecall.judgements ENABLE ROW LEVEL SECURITY;
"""


def upgrade() -> None:
    run_sql(op.get_bind(), TABLES % {"dimension": op.get_context().opts["pgrecall_dimension"]})


def downgrade() -> None:
    run_sql(op.get_bind(), "DROP TABLE pgrecall.judgements, pgrecall.judged_queries")
