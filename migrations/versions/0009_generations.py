# ruff: noqa: E501 (lines of SQL)
"""Generations of embeddings, each a column of its own; parked failures; embeddings of queries."""

from typing import Any

import psycopg
from alembic import op

from pgrecall.install import run_sql

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

# They return other columns, take other arguments, or read columns that go; the bundle makes them anew.
OLD_CODE = """
DROP FUNCTION IF EXISTS pgrecall.health();
DROP FUNCTION IF EXISTS public.recall_status();
DROP FUNCTION IF EXISTS _pgrecall.scored_memories(pgrecall.parsed_query, pgvector.halfvec);
DROP FUNCTION IF EXISTS _pgrecall.dense_leg(integer, pgvector.halfvec, pgrecall.recall_filter, integer, integer);
DROP FUNCTION IF EXISTS _pgrecall.pairwise_similarity(bigint[], boolean);
DROP FUNCTION IF EXISTS _pgrecall.near_duplicate_of(bigint, bigint[], double precision);
DROP FUNCTION IF EXISTS pgrecall.claim(uuid, integer, interval);
DROP FUNCTION IF EXISTS pgrecall.complete(uuid, bigint[], bytea[], text[]);
DROP FUNCTION IF EXISTS pgrecall.fail(uuid, bigint, text, interval);
DROP FUNCTION IF EXISTS pgrecall.heartbeat(uuid, text, integer, text, text, bigint);
DROP FUNCTION IF EXISTS pgrecall.recall_eval(text, integer);
DROP FUNCTION IF EXISTS pgrecall.judged_recall(text, integer);
DROP FUNCTION IF EXISTS pgrecall.embed_concepts(bigint[], text[], text[]);
"""

# Which generation a column belongs to never changes; which one recall reads is one row's state.
GENERATIONS = """
ALTER TABLE pgrecall.embedding_models DROP CONSTRAINT embedding_models_name_key;
ALTER TABLE pgrecall.embedding_models ADD CONSTRAINT embedding_models_name_dimension_key UNIQUE (name, dimension);

CREATE TABLE pgrecall.generations (
    id          integer PRIMARY KEY CHECK (id > 0),
    model_id    integer REFERENCES pgrecall.embedding_models (id),
    dimension   integer NOT NULL CHECK (dimension BETWEEN 1 AND 4000),
    created_at  timestamptz NOT NULL DEFAULT now(),
    switched_at timestamptz,
    state       text NOT NULL CHECK (state IN ('building', 'active', 'retired')),
    column_name text NOT NULL UNIQUE
        GENERATED ALWAYS AS (CASE WHEN id = 1 THEN 'embedding' ELSE 'embedding_' || id::text END) STORED,
    CONSTRAINT generations_one_active_one_other EXCLUDE USING btree ((state = 'active') WITH =) DEFERRABLE
);
COMMENT ON TABLE pgrecall.generations IS
    'Embeddings of one model each, in a column of memories of their own. Two at the most: the one that recall reads (active), '
    'and the next (building) or the one before (retired).';
COMMENT ON COLUMN pgrecall.generations.model_id IS 'NULL: none has been chosen yet.';
COMMENT ON COLUMN pgrecall.generations.switched_at IS 'When it became active, or ceased to be.';
CREATE SEQUENCE pgrecall.generation_numbers AS integer START 2 OWNED BY pgrecall.generations.id;
COMMENT ON SEQUENCE pgrecall.generation_numbers IS 'No number is given twice.';
COMMENT ON CONSTRAINT generations_one_active_one_other ON pgrecall.generations IS
    'No third generation before one of the two is dropped.';
INSERT INTO pgrecall.generations (id, model_id, dimension, state)
SELECT 1, m.id, a.atttypmod, 'active'
FROM pg_catalog.pg_attribute a
LEFT JOIN pgrecall.settings s ON s.name = 'embedding_model'
LEFT JOIN pgrecall.embedding_models m ON m.name = s.value
WHERE a.attrelid = 'pgrecall.memories'::regclass AND a.attname = 'embedding';
DELETE FROM pgrecall.settings s WHERE s.name = 'embedding_model';

ALTER TABLE pgrecall.memories DROP COLUMN embedding_model_id, DROP COLUMN embedded_at;
COMMENT ON COLUMN pgrecall.memories.embedding IS
    'Of generation 1: NULL until an embedder fills it; NULL again when the embedded text changes.';
COMMENT ON COLUMN pgrecall.concepts.embedding IS 'Of the name, by generation 1; NULL until an embedder fills it.';

CREATE FUNCTION _pgrecall.embedding_of(memory pgrecall.memories, generation integer)
RETURNS pgvector.halfvec
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE generation WHEN 1 THEN (memory).embedding END;
COMMENT ON FUNCTION _pgrecall.embedding_of IS
    'The embedding of a memory in a generation; the planner sees the column. Written anew with each generation.';
CREATE FUNCTION _pgrecall.name_embedding_of(concept pgrecall.concepts, generation integer)
RETURNS pgvector.halfvec
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE generation WHEN 1 THEN (concept).embedding END;
COMMENT ON FUNCTION _pgrecall.name_embedding_of IS
    'The embedding of a concept''s name in a generation; the planner sees the column. Written anew with each generation.';

ALTER TYPE pgrecall.recall_settings ADD ATTRIBUTE query_model text, ADD ATTRIBUTE generation integer;
"""

QUEUE = """
DELETE FROM pgrecall.embedding_jobs;
ALTER TABLE pgrecall.embedding_jobs DROP CONSTRAINT embedding_jobs_pkey;
ALTER TABLE pgrecall.embedding_jobs
    ADD COLUMN generation_id integer NOT NULL REFERENCES pgrecall.generations (id) ON DELETE CASCADE;
ALTER TABLE pgrecall.embedding_jobs ADD CONSTRAINT embedding_jobs_pkey PRIMARY KEY (memory_id, generation_id);
COMMENT ON COLUMN pgrecall.embedding_jobs.attempts IS
    'How often it failed, or its worker was not heard of again. A provider that cannot be asked uses up none.';

CREATE INDEX embedding_jobs_last_attempt_idx ON pgrecall.embedding_jobs (generation_id) WHERE attempts >= 4;

CREATE TABLE pgrecall.embedding_failures (
    memory_id     bigint NOT NULL REFERENCES pgrecall.memories (id) ON DELETE CASCADE,
    generation_id integer NOT NULL REFERENCES pgrecall.generations (id) ON DELETE CASCADE,
    attempts      integer NOT NULL,
    failed_at     timestamptz NOT NULL DEFAULT now(),
    cause         text NOT NULL,
    error         text NOT NULL,
    PRIMARY KEY (memory_id, generation_id)
);
CREATE INDEX embedding_failures_cause_idx ON pgrecall.embedding_failures (generation_id, cause);
COMMENT ON TABLE pgrecall.embedding_failures IS
    'Memories that are not tried any more, until their text changes or pgrecall.retry_failures() is called. Never their content.';
COMMENT ON COLUMN pgrecall.embedding_failures.cause IS 'One word to count by.';

CREATE TABLE pgrecall.truncated_embeddings (
    memory_id     bigint NOT NULL REFERENCES pgrecall.memories (id) ON DELETE CASCADE,
    generation_id integer NOT NULL REFERENCES pgrecall.generations (id) ON DELETE CASCADE,
    PRIMARY KEY (memory_id, generation_id)
);
COMMENT ON TABLE pgrecall.truncated_embeddings IS 'Memories longer than the model reads: their embedding is of the beginning.';

ALTER TABLE pgrecall.workers ADD COLUMN per_second real NOT NULL DEFAULT 0;
ALTER TABLE pgrecall.workers ADD COLUMN pauses jsonb NOT NULL DEFAULT '[]';
ALTER TABLE pgrecall.workers ADD COLUMN generations integer[] NOT NULL DEFAULT '{}';
ALTER TABLE pgrecall.workers ADD COLUMN role_name text NOT NULL DEFAULT '';
COMMENT ON COLUMN pgrecall.workers.per_second IS 'Embeddings a second since the heartbeat before.';
COMMENT ON COLUMN pgrecall.workers.pauses IS 'Providers it does not ask now: [{"model": …, "cause": …, "until": …}].';
COMMENT ON COLUMN pgrecall.workers.generations IS 'The generations that it embeds.';
COMMENT ON COLUMN pgrecall.workers.role_name IS 'The role that it works as.';
"""

# Unlogged: a cache may be lost with a crash, and what users ask goes to no log, no replica and no archive.
QUERIES = """
CREATE UNLOGGED TABLE pgrecall.query_embeddings (
    id            bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    generation_id integer NOT NULL REFERENCES pgrecall.generations (id) ON DELETE CASCADE,
    requested_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    leased_until  timestamptz,
    answered_at   timestamptz,
    used_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    query_hash    bytea NOT NULL,
    query         text,
    error         text,
    embedding     pgvector.halfvec,
    PRIMARY KEY (generation_id, query_hash),
    CONSTRAINT query_embeddings_answered CHECK ((answered_at IS NULL) = (query IS NOT NULL)),
    CONSTRAINT query_embeddings_answer CHECK ((answered_at IS NOT NULL) = (embedding IS NOT NULL OR error IS NOT NULL))
);
CREATE INDEX query_embeddings_asked_idx ON pgrecall.query_embeddings (requested_at) WHERE answered_at IS NULL;
CREATE INDEX query_embeddings_used_idx ON pgrecall.query_embeddings (used_at);
ALTER TABLE pgrecall.query_embeddings ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE pgrecall.query_embeddings IS
    'Embeddings of queries that embedders make for clients without a model, kept for the next time.';
COMMENT ON COLUMN pgrecall.query_embeddings.query IS 'The query until it is answered; then only its hash stays.';

CREATE TABLE pgrecall.judged_vectors (
    namespace_id       integer NOT NULL,
    embedding_model_id integer NOT NULL REFERENCES pgrecall.embedding_models (id) ON DELETE CASCADE,
    query_id           text NOT NULL,
    query_vec          pgvector.halfvec NOT NULL,
    PRIMARY KEY (namespace_id, query_id, embedding_model_id),
    FOREIGN KEY (namespace_id, query_id) REFERENCES pgrecall.judged_queries (namespace_id, query_id) ON DELETE CASCADE
);
ALTER TABLE pgrecall.judged_vectors ENABLE ROW LEVEL SECURITY;
COMMENT ON TABLE pgrecall.judged_vectors IS 'Embeddings of judged queries, by the model that made them.';
INSERT INTO pgrecall.judged_vectors (namespace_id, embedding_model_id, query_id, query_vec)
SELECT q.namespace_id, q.embedding_model_id, q.query_id, q.query_vec
FROM pgrecall.judged_queries q WHERE q.embedding_model_id IS NOT NULL AND q.query_vec IS NOT NULL;
ALTER TABLE pgrecall.judged_queries DROP COLUMN query_vec, DROP COLUMN embedding_model_id;
"""

REFUSE = """
DO $downgrade$
BEGIN
    IF EXISTS (SELECT FROM pgrecall.generations g WHERE g.id <> 1) THEN
        RAISE EXCEPTION 'there are embeddings of another generation than the first'
            USING ERRCODE = 'object_not_in_prerequisite_state',
                  HINT = 'Switch back and drop them first: pgrecall reembed --rollback, pgrecall reembed --drop-old. '
                         'Where the first one is gone, a new database and pgrecall import is the way.';
    END IF;
END
$downgrade$;
"""

DOWN = """
ALTER TABLE pgrecall.judged_queries ADD COLUMN embedding_model_id integer REFERENCES pgrecall.embedding_models (id);
DO $downgrade$
BEGIN
    EXECUTE (SELECT format('ALTER TABLE pgrecall.judged_queries ADD COLUMN query_vec pgvector.halfvec(%s)', g.dimension)
             FROM pgrecall.generations g);
END
$downgrade$;
ALTER TABLE pgrecall.judged_queries ADD CONSTRAINT judged_queries_model_means_vector CHECK (query_vec IS NOT NULL OR embedding_model_id IS NULL);
UPDATE pgrecall.judged_queries q SET query_vec = v.query_vec, embedding_model_id = v.embedding_model_id
FROM pgrecall.judged_vectors v JOIN pgrecall.generations g ON g.model_id = v.embedding_model_id
WHERE v.namespace_id = q.namespace_id AND v.query_id = q.query_id;
COMMENT ON COLUMN pgrecall.judged_queries.embedding_model_id IS 'The model query_vec is of: it cannot be compared with another''s.';
DROP TABLE pgrecall.judged_vectors, pgrecall.query_embeddings, pgrecall.truncated_embeddings, pgrecall.embedding_failures;
ALTER TABLE pgrecall.workers DROP COLUMN per_second, DROP COLUMN pauses, DROP COLUMN generations, DROP COLUMN role_name;
DELETE FROM pgrecall.embedding_jobs;
ALTER TABLE pgrecall.embedding_jobs DROP CONSTRAINT embedding_jobs_pkey;
ALTER TABLE pgrecall.embedding_jobs DROP COLUMN generation_id;
ALTER TABLE pgrecall.embedding_jobs ADD CONSTRAINT embedding_jobs_pkey PRIMARY KEY (memory_id);
COMMENT ON COLUMN pgrecall.embedding_jobs.attempts IS NULL;
DROP FUNCTION _pgrecall.embedding_of(pgrecall.memories, integer);
DROP FUNCTION _pgrecall.name_embedding_of(pgrecall.concepts, integer);
ALTER TYPE pgrecall.recall_settings DROP ATTRIBUTE query_model, DROP ATTRIBUTE generation;
ALTER TABLE pgrecall.memories ADD COLUMN embedded_at timestamptz;
ALTER TABLE pgrecall.memories ADD COLUMN embedding_model_id integer REFERENCES pgrecall.embedding_models (id);
UPDATE pgrecall.memories m SET embedded_at = m.updated_at, embedding_model_id = g.model_id
FROM pgrecall.generations g WHERE m.embedding IS NOT NULL;
ALTER TABLE pgrecall.memories ADD CONSTRAINT memories_embedded_means_embedding
    CHECK (embedding IS NOT NULL OR (embedded_at IS NULL AND embedding_model_id IS NULL));
COMMENT ON COLUMN pgrecall.memories.embedding IS 'NULL until the embedder fills it; NULL again when the embedded text changes.';
COMMENT ON COLUMN pgrecall.concepts.embedding IS 'Embedding of the name; NULL until an embedder fills it.';
INSERT INTO pgrecall.settings (name, value)
SELECT 'embedding_model', m.name FROM pgrecall.generations g JOIN pgrecall.embedding_models m ON m.id = g.model_id;
DROP TABLE pgrecall.generations;
DELETE FROM pgrecall.embedding_models m
WHERE EXISTS (SELECT FROM pgrecall.embedding_models o WHERE o.name = m.name AND o.id < m.id);
ALTER TABLE pgrecall.embedding_models DROP CONSTRAINT embedding_models_name_dimension_key;
ALTER TABLE pgrecall.embedding_models ADD CONSTRAINT embedding_models_name_key UNIQUE (name);
"""


def upgrade() -> None:
    connection = op.get_bind()
    for text in (OLD_CODE, GENERATIONS, QUEUE, QUERIES):
        run_sql(connection, text)


def refuse_downgrade(connection: psycopg.Connection[Any]) -> None:
    """Refuse before the code is taken away, with which generations are dropped."""
    connection.execute(REFUSE.encode())


def downgrade() -> None:
    run_sql(op.get_bind(), DOWN)
