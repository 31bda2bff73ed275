"""One table of jobs of every kind: leases, attempts, retries and failures."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0026"
down_revision = "0024"
branch_labels = None
depends_on = None

# Whoever writes to a queue has ended, or waits until this is done. In the order of all code: memories first.
# All at once or none, and again and again: whoever waited for a dump to end would keep all writers waiting.
LOCK = """
DO $lock$
BEGIN
    PERFORM set_config('lock_timeout', '200ms', true);
    LOOP
        BEGIN
            LOCK TABLE pgrecall.memories IN SHARE ROW EXCLUSIVE MODE;
            LOCK TABLE {};
            EXIT;
        EXCEPTION
            WHEN lock_not_available THEN
                PERFORM pg_sleep(1);
        END;
    END LOOP;
END
$lock$;
SET LOCAL lock_timeout = 0;
"""
FORMER = "pgrecall.embedding_jobs, pgrecall.embedding_failures, pgrecall.extractions, pgrecall.curation_jobs"
# The functions that read what goes; the bundle makes them again.
READERS = """
DO $do$
DECLARE
    readers text;
BEGIN
    WITH RECURSIVE reader (oid) AS (
        SELECT d.objid FROM pg_catalog.pg_depend d
        WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid IN (
            'pgrecall.embedding_jobs'::regclass,
            'pgrecall.embedding_failures'::regclass,
            'pgrecall.curation_jobs'::regclass,
            'pgrecall.extractions'::regclass
        )
        UNION
        SELECT d.objid FROM pg_catalog.pg_depend d
        JOIN reader r ON d.refclassid = 'pg_proc'::regclass AND d.refobjid = r.oid
            AND d.classid = 'pg_proc'::regclass
    )
    SELECT string_agg(p.oid::regprocedure::text, ', ') INTO readers
    FROM reader r
    JOIN pg_catalog.pg_proc p ON p.oid = r.oid
    WHERE p.proconfig @> ARRAY['search_path=pg_catalog, pgrecall, pg_temp']
       OR p.pronamespace IN ('pgrecall'::regnamespace, '_pgrecall'::regnamespace);
    IF readers IS NOT NULL THEN
        EXECUTE 'DROP ROUTINE ' || readers;
    END IF;
END
$do$;
"""
FIRST, LAST = "'0001-01-02 00:00:00+00'", "'9999-12-31 00:00:00+00'"


def bounds(*columns: str) -> str:
    return " AND ".join(f"{column} BETWEEN {FIRST} AND {LAST}" for column in columns)


def upgrade() -> None:
    run_sql(op.get_bind(), LOCK.format(FORMER))
    run_sql(op.get_bind(), READERS)
    run_sql(
        op.get_bind(),
        f"""
        CREATE TABLE pgrecall.jobs (
            memory_id        bigint NOT NULL
                CONSTRAINT jobs_memory_id_fkey REFERENCES pgrecall.memories ON DELETE CASCADE,
            worker_id        uuid,
            ticket           bigint,
            lease_expires_at timestamptz,
            next_attempt_at  timestamptz,
            waiting_since    timestamptz NOT NULL DEFAULT now(),
            failed_at        timestamptz,
            generation_id    integer NOT NULL DEFAULT 0,
            namespace_id     integer NOT NULL,
            attempts         integer NOT NULL DEFAULT 0,
            kind             text COLLATE "C" NOT NULL CONSTRAINT jobs_kind_size
                CHECK (octet_length(kind) <= 40),
            cause            text CONSTRAINT jobs_cause_size CHECK (octet_length(cause) <= 256),
            last_error       text CONSTRAINT jobs_last_error_size CHECK (octet_length(last_error) <= 4096),
            CONSTRAINT jobs_pkey PRIMARY KEY (memory_id, kind, generation_id),
            CONSTRAINT jobs_failed_or_leased CHECK (failed_at IS NULL OR lease_expires_at IS NULL),
            CONSTRAINT jobs_times CHECK (
                {bounds("lease_expires_at", "next_attempt_at", "waiting_since", "failed_at")}
            )
        ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
        COMMENT ON TABLE pgrecall.jobs IS
            'Leases, attempts and failures of every kind of job. A row is the queue of its kind, '
            'except for embeddings: there '
            'memories.embedding decides what is pending, and a row says who holds the lease until '
            'when, or when to retry.';
        COMMENT ON COLUMN pgrecall.jobs.kind IS 'As _pgrecall.job_kinds() lists them.';
        COMMENT ON COLUMN pgrecall.jobs.generation_id IS 'Of embeddings; 0 of other kinds.';
        COMMENT ON COLUMN pgrecall.jobs.namespace_id IS 'That of the memory: claims give each its turn.';
        COMMENT ON COLUMN pgrecall.jobs.ticket IS
            'Random number of the current claim; a result with another is discarded.';
        COMMENT ON COLUMN pgrecall.jobs.attempts IS
            'How often it failed, or its worker disappeared. An unavailable provider does not count '
            'as an attempt.';
        COMMENT ON COLUMN pgrecall.jobs.failed_at IS
            'It is not retried until the text changes or pgrecall.retry_failures() is called.';
        COMMENT ON COLUMN pgrecall.jobs.cause IS 'One word, to group by.';
        COMMENT ON COLUMN pgrecall.jobs.last_error IS 'Never contains the memory''s content.';
        ALTER TABLE pgrecall.jobs ALTER COLUMN cause SET STATISTICS 0, ALTER COLUMN last_error
            SET STATISTICS 0;
        ALTER TABLE pgrecall.jobs ENABLE ROW LEVEL SECURITY;

        INSERT INTO pgrecall.jobs (memory_id, kind, generation_id, namespace_id, worker_id, ticket,
            lease_expires_at,
                                   next_attempt_at, attempts, last_error)
        SELECT j.memory_id, 'embedding', j.generation_id, m.namespace_id, j.worker_id, j.ticket,
            j.lease_expires_at,
               j.next_attempt_at, j.attempts, j.last_error
        FROM pgrecall.embedding_jobs j
        JOIN pgrecall.memories m ON m.id = j.memory_id
        WHERE NOT EXISTS (
            SELECT FROM pgrecall.embedding_failures f WHERE f.memory_id = j.memory_id
                AND f.generation_id = j.generation_id
        );
        INSERT INTO pgrecall.jobs (memory_id, kind, generation_id, namespace_id, failed_at, attempts,
            cause, last_error)
        SELECT f.memory_id, 'embedding', f.generation_id, m.namespace_id, f.failed_at, f.attempts,
            f.cause, f.error
        FROM pgrecall.embedding_failures f
        JOIN pgrecall.memories m ON m.id = f.memory_id;
        -- Failed extractions have no time of their own.
        INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id, worker_id, ticket, lease_expires_at,
            next_attempt_at,
                                   waiting_since, failed_at, attempts, cause, last_error)
        SELECT x.memory_id, x.enricher, m.namespace_id, x.worker_id, x.ticket,
            CASE WHEN NOT f.is_failed THEN x.lease_expires_at END,
               CASE WHEN NOT f.is_failed THEN x.next_attempt_at END, x.waiting_since,
                   CASE WHEN f.is_failed THEN now() END,
               x.attempts, CASE WHEN x.attempts > 0 THEN 'error' END, x.last_error
        FROM pgrecall.extractions x
        JOIN pgrecall.memories m ON m.id = x.memory_id
        CROSS JOIN LATERAL (SELECT COALESCE(x.next_attempt_at = 'infinity', false) AS is_failed) f
        WHERE x.is_pending;
        -- A claim counted as an attempt.
        INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id, worker_id, ticket, lease_expires_at,
            waiting_since, failed_at,
                                   attempts, cause, last_error)
        SELECT j.memory_id, 'curation', m.namespace_id, j.worker_id, j.ticket,
            CASE WHEN NOT f.is_failed THEN j.lease_expires_at END,
               j.waiting_since, CASE WHEN f.is_failed THEN now() END,
               CASE WHEN f.is_failed THEN j.attempts ELSE greatest(j.attempts - 1, 0) END,
               CASE WHEN f.is_failed THEN 'worker_lost' END,
               CASE WHEN f.is_failed THEN 'its worker was not heard of again' END
        FROM pgrecall.curation_jobs j
        JOIN pgrecall.memories m ON m.id = j.memory_id
        CROSS JOIN LATERAL (
            SELECT j.attempts >= 5 AND COALESCE(j.lease_expires_at < clock_timestamp(), true) AS is_failed
        ) f;

        CREATE INDEX jobs_waiting_idx ON pgrecall.jobs (kind, memory_id) WHERE generation_id = 0
            AND failed_at IS NULL;
        CREATE INDEX jobs_waiting_namespace_idx ON pgrecall.jobs (kind, namespace_id, memory_id)
            WHERE generation_id = 0 AND failed_at IS NULL;
        CREATE INDEX jobs_last_attempt_idx ON pgrecall.jobs (kind, generation_id) WHERE attempts >= 4
            AND failed_at IS NULL;
        CREATE INDEX jobs_failed_idx ON pgrecall.jobs (kind, failed_at) WHERE failed_at IS NOT NULL;
        CREATE INDEX jobs_worker_idx ON pgrecall.jobs (worker_id) WHERE worker_id IS NOT NULL;

        DROP TABLE pgrecall.embedding_jobs, pgrecall.embedding_failures, pgrecall.curation_jobs;
        DELETE FROM pgrecall.extractions x WHERE x.extracted_at IS NULL;
        ALTER TABLE pgrecall.extractions
            DROP CONSTRAINT extractions_times, DROP COLUMN ticket, DROP COLUMN worker_id,
                DROP COLUMN lease_expires_at,
            DROP COLUMN next_attempt_at, DROP COLUMN waiting_since, DROP COLUMN attempts,
                DROP COLUMN is_pending,
            DROP COLUMN last_error, DROP COLUMN namespace_id,
            ALTER COLUMN extracted_at SET NOT NULL, ALTER COLUMN extracted_at SET DEFAULT now(),
            ADD CONSTRAINT extractions_times CHECK ({bounds("extracted_at")});
        COMMENT ON TABLE pgrecall.extractions IS
            'Which version last extracted names, times and facts, or made notes, of a memory: one row '
            'per memory and enricher. '
            'Sensitive and forgotten memories have no row.';
        """,
    )


def downgrade() -> None:
    run_sql(op.get_bind(), LOCK.format("pgrecall.extractions, pgrecall.jobs"))
    run_sql(
        op.get_bind(),
        f"""
        CREATE TABLE pgrecall.embedding_jobs (
            memory_id        bigint NOT NULL
                CONSTRAINT embedding_jobs_memory_id_fkey REFERENCES pgrecall.memories ON DELETE CASCADE,
            worker_id        uuid,
            lease_expires_at timestamptz,
            attempts         integer NOT NULL DEFAULT 0,
            next_attempt_at  timestamptz,
            last_error       text CONSTRAINT embedding_jobs_last_error_size
                CHECK (octet_length(last_error) <= 4096),
            generation_id    integer NOT NULL
                CONSTRAINT embedding_jobs_generation_id_fkey
                    REFERENCES pgrecall.generations ON DELETE CASCADE,
            ticket           bigint,
            CONSTRAINT embedding_jobs_pkey PRIMARY KEY (memory_id, generation_id),
            CONSTRAINT embedding_jobs_times CHECK (({bounds("lease_expires_at")})
                AND ({bounds("next_attempt_at")}))
        ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
        COMMENT ON TABLE pgrecall.embedding_jobs IS
            'Leases and failures of memories that are being embedded. Only memories.embedding decides '
            'what is pending: a row here says who holds the lease until when, or when to retry.';
        COMMENT ON COLUMN pgrecall.embedding_jobs.attempts IS
            'How often it failed, or its worker disappeared. An unavailable provider does not count '
            'as an attempt.';
        COMMENT ON COLUMN pgrecall.embedding_jobs.ticket IS 'Random number of the current claim.';
        CREATE INDEX embedding_jobs_last_attempt_idx ON pgrecall.embedding_jobs (generation_id)
            WHERE (attempts >= 4);
        CREATE INDEX embedding_jobs_worker_idx ON pgrecall.embedding_jobs (worker_id);
        ALTER TABLE pgrecall.embedding_jobs ALTER COLUMN last_error SET STATISTICS 0;
        ALTER TABLE pgrecall.embedding_jobs ENABLE ROW LEVEL SECURITY;

        CREATE TABLE pgrecall.embedding_failures (
            memory_id     bigint NOT NULL
                CONSTRAINT embedding_failures_memory_id_fkey REFERENCES pgrecall.memories ON DELETE CASCADE,
            generation_id integer NOT NULL
                CONSTRAINT embedding_failures_generation_id_fkey
                    REFERENCES pgrecall.generations ON DELETE CASCADE,
            attempts      integer NOT NULL,
            failed_at     timestamptz NOT NULL DEFAULT now(),
            cause         text NOT NULL CONSTRAINT embedding_failures_cause_size
                CHECK (octet_length(cause) <= 256),
            error         text NOT NULL CONSTRAINT embedding_failures_error_size
                CHECK (octet_length(error) <= 4096),
            CONSTRAINT embedding_failures_pkey PRIMARY KEY (memory_id, generation_id),
            CONSTRAINT embedding_failures_times CHECK ({bounds("failed_at")})
        );
        COMMENT ON TABLE pgrecall.embedding_failures IS
            'Failed memories: not retried until their text changes or pgrecall.retry_failures() is '
            'called. Never contains their content.';
        COMMENT ON COLUMN pgrecall.embedding_failures.cause IS 'One word, to group by.';
        CREATE INDEX embedding_failures_cause_idx ON pgrecall.embedding_failures (generation_id, cause);
        ALTER TABLE pgrecall.embedding_failures
            ALTER COLUMN cause SET STATISTICS 0, ALTER COLUMN error SET STATISTICS 0;
        ALTER TABLE pgrecall.embedding_failures ENABLE ROW LEVEL SECURITY;

        CREATE TABLE pgrecall.curation_jobs (
            memory_id        bigint NOT NULL CONSTRAINT curation_jobs_pkey PRIMARY KEY
                CONSTRAINT curation_jobs_memory_id_fkey REFERENCES pgrecall.memories ON DELETE CASCADE,
            ticket           bigint,
            worker_id        uuid,
            lease_expires_at timestamptz,
            waiting_since    timestamptz NOT NULL DEFAULT now(),
            attempts         integer NOT NULL DEFAULT 0,
            namespace_id     integer,
            CONSTRAINT curation_jobs_times CHECK (({bounds("lease_expires_at")})
                AND ({bounds("waiting_since")}))
        ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
        COMMENT ON TABLE pgrecall.curation_jobs IS
            'New memories to compare with older ones of their namespace, while the setting curate is '
            'on; a row is deleted with the decision.';
        COMMENT ON COLUMN pgrecall.curation_jobs.ticket IS 'Random number of the current claim.';
        COMMENT ON COLUMN pgrecall.curation_jobs.attempts IS
            'Claims without a result; after the fifth it is not claimed again.';
        COMMENT ON COLUMN pgrecall.curation_jobs.namespace_id IS
            'That of the memory: claim_curations() gives each its turn.';
        CREATE INDEX curation_jobs_worker_idx ON pgrecall.curation_jobs (worker_id)
            WHERE (worker_id IS NOT NULL);
        CREATE INDEX curation_jobs_namespace_idx ON pgrecall.curation_jobs (namespace_id, memory_id);
        ALTER TABLE pgrecall.curation_jobs ENABLE ROW LEVEL SECURITY;

        ALTER TABLE pgrecall.extractions
            DROP CONSTRAINT extractions_times, ALTER COLUMN extracted_at DROP NOT NULL,
                ALTER COLUMN extracted_at DROP DEFAULT,
            ADD COLUMN ticket bigint, ADD COLUMN worker_id uuid, ADD COLUMN lease_expires_at timestamptz,
            ADD COLUMN next_attempt_at timestamptz,
                ADD COLUMN waiting_since timestamptz NOT NULL DEFAULT now(),
            ADD COLUMN attempts integer NOT NULL DEFAULT 0,
                ADD COLUMN is_pending boolean NOT NULL DEFAULT true,
            ADD COLUMN last_error text CONSTRAINT extractions_last_error_size
                CHECK (octet_length(last_error) <= 4096),
            ADD COLUMN namespace_id integer;
        ALTER TABLE pgrecall.extractions ADD CONSTRAINT extractions_times CHECK (
            ({bounds("lease_expires_at")}) AND (({bounds("next_attempt_at")}) OR next_attempt_at = 'infinity')
            AND ({bounds("extracted_at")}) AND ({bounds("waiting_since")})
        );
        ALTER TABLE pgrecall.extractions ALTER COLUMN last_error SET STATISTICS 0;
        COMMENT ON TABLE pgrecall.extractions IS
            'Extraction of names, times and facts: one row per memory and enricher, done by which '
            'version, or pending. Sensitive and forgotten memories have no row.';
        COMMENT ON COLUMN pgrecall.extractions.ticket IS
            'Number of the current claim; the result of reading an older text has an outdated ticket '
            'and is discarded.';
        COMMENT ON COLUMN pgrecall.extractions.waiting_since IS
            'When the pending extraction, or the last completed one, was queued.';
        COMMENT ON COLUMN pgrecall.extractions.namespace_id IS
            'That of the memory: claim_extractions() gives each its turn.';
        UPDATE pgrecall.extractions x SET is_pending = false, waiting_since = x.extracted_at,
            namespace_id = m.namespace_id
        FROM pgrecall.memories m WHERE m.id = x.memory_id;

        INSERT INTO pgrecall.embedding_jobs (memory_id, generation_id, worker_id, ticket,
            lease_expires_at, next_attempt_at,
                                             attempts, last_error)
        SELECT j.memory_id, j.generation_id, j.worker_id, j.ticket, j.lease_expires_at,
            j.next_attempt_at, j.attempts, j.last_error
        FROM pgrecall.jobs j WHERE j.kind = 'embedding' AND j.failed_at IS NULL;
        INSERT INTO pgrecall.embedding_failures (memory_id, generation_id, attempts, failed_at, cause, error)
        SELECT j.memory_id, j.generation_id, j.attempts, j.failed_at, COALESCE(j.cause, 'error'),
            COALESCE(j.last_error, '')
        FROM pgrecall.jobs j WHERE j.kind = 'embedding' AND j.failed_at IS NOT NULL;
        INSERT INTO pgrecall.extractions AS x (memory_id, enricher, namespace_id, ticket, worker_id,
            lease_expires_at,
                                               next_attempt_at, waiting_since, attempts, last_error)
        SELECT j.memory_id, j.kind, j.namespace_id, j.ticket, j.worker_id, j.lease_expires_at,
               CASE WHEN j.failed_at IS NULL THEN j.next_attempt_at ELSE 'infinity' END, j.waiting_since,
                   j.attempts, j.last_error
        FROM pgrecall.jobs j WHERE j.kind IN ('text', 'llm', 'notes')
        ON CONFLICT ON CONSTRAINT extractions_pkey DO UPDATE
            SET is_pending = true, ticket = excluded.ticket, worker_id = excluded.worker_id,
                lease_expires_at = excluded.lease_expires_at, next_attempt_at = excluded.next_attempt_at,
                waiting_since = excluded.waiting_since, attempts = excluded.attempts,
                    last_error = excluded.last_error;
        INSERT INTO pgrecall.curation_jobs (memory_id, ticket, worker_id, lease_expires_at,
            waiting_since, attempts, namespace_id)
        SELECT j.memory_id, j.ticket, j.worker_id, j.lease_expires_at, j.waiting_since,
               CASE WHEN j.lease_expires_at IS NULL THEN j.attempts ELSE j.attempts + 1 END, j.namespace_id
        FROM pgrecall.jobs j WHERE j.kind = 'curation';

        CREATE INDEX extractions_pending_idx ON pgrecall.extractions (enricher, memory_id) WHERE is_pending;
        CREATE INDEX extractions_pending_namespace_idx ON pgrecall.extractions (enricher, namespace_id,
            memory_id) WHERE is_pending;
        CREATE INDEX extractions_worker_idx ON pgrecall.extractions (worker_id) WHERE (worker_id IS NOT NULL);
        DROP TABLE pgrecall.jobs;
        """,
    )
