"""pgrecall.health() and `pgrecall doctor`: each thing that goes wrong is found, with a remedy that works."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from typer.main import get_command

from pgrecall.admin.migrate import migrate
from pgrecall.cli import app, main
from pgrecall.server.settings import QUIET_LOG
from support import pgbouncer
from support.operations import OTHER, beat, detail, fail_for_good, health, prepare, remember, status, switch
from support.waiting import until

if TYPE_CHECKING:
    from psycopg import Connection

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [
    ROOT / "sql" / "core" / "status" / "health.sql",
    ROOT / "pyclient" / "pgrecall" / "cli" / "doctor.py",
]


def run(conn: Connection[Any], name: str, remedy: str | None = None) -> None:
    """Run the remedy of a finding, by default the one that it names, and see that it is gone."""
    remedy = remedy or health(conn)[name][1]
    assert remedy is not None

    def is_gone() -> bool:
        for statement in remedy.split("; "):
            conn.execute(statement.encode())
        settle(conn)
        return health(conn)[name] == ("ok", None)

    if "VACUUM" in remedy:
        # As long as an ANALYZE of autovacuum runs, dead rows are kept for it.
        until(is_gone)
    else:
        assert is_gone()


def settle(conn: Connection[Any]) -> None:
    """Have the server count what this session did."""
    conn.execute("SELECT pg_stat_force_next_flush()")
    conn.execute("SELECT pg_stat_clear_snapshot()")


def test_all_is_well_in_a_new_database(conn: Connection[Any]) -> None:
    assert {state for state, _ in health(conn).values()} == {"ok"}


def test_commands_that_are_advised_exist() -> None:
    advised = {
        command
        for path in SOURCES
        for command in re.findall(r"""['"](pgrecall [a-z][^'"]*)['"]""", path.read_text(encoding="utf-8"))
        if not command.startswith("pgrecall is ")
    }
    assert len(advised) > 5
    for command in advised:
        found = get_command(app)
        for word in command.split()[1:]:
            commands = getattr(found, "commands", {})
            if word.startswith("--"):
                assert word in {option for given in found.params for option in given.opts}, command
            elif word in commands:
                found = commands[word]
            else:
                assert word == "NAME", command


def test_nobody_embeds_what_is_pending(conn: Connection[Any]) -> None:
    assert health(conn)["embedder"][0] == "ok"
    (number,) = remember(conn, "open")
    assert health(conn)["embedder"] == ("warn", "pgrecall embedder")
    beat(conn, generations=[2])
    assert health(conn)["embedder"] == ("warn", "pgrecall embedder")
    assert "0 for the active model" in detail(conn, "embedder")
    fail_for_good(conn, number, "error")
    assert health(conn)["embedder"][0] == "ok"
    conn.execute("SELECT pgrecall.retry_failures()")
    beat(conn, generations=[1])
    assert health(conn)["embedder"][0] == "ok"


def test_the_backlog_grows(conn: Connection[Any]) -> None:
    remember(conn, "open")
    assert health(conn)["pending embeddings"][0] == "ok"
    conn.execute("UPDATE pgrecall.memories SET updated_at = now() - interval '1 hour'")
    assert health(conn)["pending embeddings"] == ("warn", "pgrecall embedder")
    beat(conn, generations=[1])
    state, remedy = health(conn)["pending embeddings"]
    assert state == "warn"
    assert str(remedy).startswith("SELECT * FROM pgrecall.jobs ")


def test_jobs_of_every_other_kind_wait(conn: Connection[Any]) -> None:
    assert health(conn)["pending jobs"] == ("ok", None)
    (number,) = remember(conn, "open")
    declared = {kind for (kind,) in conn.execute("SELECT kind FROM _pgrecall.job_kinds()")}
    others = sorted(declared - {"embedding", "text"})
    assert len(others) > 2
    for kind in others:
        conn.execute(
            "INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id)"
            " SELECT id, %s, namespace_id FROM pgrecall.memories WHERE id = %s",
            (kind, number),
        )
        assert health(conn)["pending jobs"] == ("ok", None)
        assert f"{kind}: 1 pending, 0 in progress, 0 retrying, 0 failed" in detail(conn, "pending jobs")
        conn.execute(
            "UPDATE pgrecall.jobs SET waiting_since = now() - interval '1 hour' WHERE kind = %s", (kind,)
        )
        assert health(conn)["pending jobs"] == ("warn", "pgrecall embedder")
        beat(conn, generations=[1])
        assert str(health(conn)["pending jobs"][1]).startswith("SELECT * FROM pgrecall.jobs ")
        conn.execute("DELETE FROM pgrecall.workers")
        conn.execute(
            "UPDATE pgrecall.jobs SET failed_at = now(), attempts = 5, cause = 'error' WHERE kind = %s",
            (kind,),
        )
        assert health(conn)["pending jobs"] == ("ok", None)
        assert "1 failed" in detail(conn, "pending jobs")
        conn.execute("DELETE FROM pgrecall.jobs WHERE kind = %s", (kind,))


def test_memories_were_given_up(conn: Connection[Any]) -> None:
    first, second, third = remember(conn, "one", "two", "three")
    fail_for_good(conn, first, "error")
    for number in (second, third):
        fail_for_good(conn, number, "input_refused")
    assert health(conn)["failures"] == ("warn", "pgrecall failures")
    assert detail(conn, "failures") == "no longer retried: 2 input_refused, 1 error"


def test_a_provider_is_paused(conn: Connection[Any]) -> None:
    beat(conn, generations=[1], pauses=[{"model": "m", "cause": "rate_limit", "until": "12:00"}])
    assert health(conn)["provider"][0] == "warn"
    assert detail(conn, "provider") == "m: rate_limit until 12:00"
    beat(conn, generations=[1])
    assert health(conn)["provider"][0] == "ok"


def test_an_embedder_of_another_version_and_one_that_could_see_all(conn: Connection[Any]) -> None:
    conn.execute("SET ROLE pgrecall_embedder")
    beat(conn, generations=[1])
    conn.execute("RESET ROLE")
    found = health(conn)
    assert (found["embedder's code"][0], found["embedder's role"][0]) == ("ok", "ok")
    beat(conn, OTHER, generations=[1], code="another")
    found = health(conn)
    assert (found["embedder's code"][0], found["embedder's role"][0]) == ("warn", "info")
    assert detail(conn, "embedder's code") == "another version: host:17"
    conn.execute("UPDATE pgrecall.workers SET last_seen_at = now() - interval '1 minute'")
    found = health(conn)
    assert (found["embedder's code"][0], found["embedder's role"][0]) == ("ok", "ok")


def test_generations(conn: Connection[Any]) -> None:
    conn.execute("SELECT pgrecall.add_generation('next', 8)")
    assert health(conn)["generations"] == ("warn", "pgrecall reembed --model next")
    assert detail(conn, "generations") == "1 active, 2 (next) is being built by 0 embedders"
    beat(conn, generations=[1, 2])
    assert health(conn)["generations"] == ("ok", None)
    switch(conn)
    assert health(conn)["generations"] == ("info", "pgrecall reembed --drop-old")
    conn.execute("SELECT pgrecall.drop_generation(1)")
    assert health(conn)["generations"] == ("ok", None)
    assert health(conn)["indexes"] == ("ok", None)


@pytest.mark.parametrize("generation", [1, 2])
def test_the_index_of_the_embeddings_is_missing(conn: Connection[Any], generation: int) -> None:
    if generation == 2:
        conn.execute("SELECT pgrecall.add_generation('next', 8)")
        switch(conn)
    name = status(conn)["dense_index_name"]
    [(made,)] = conn.execute("SELECT pg_get_indexdef(%s::regclass)", (f"pgrecall.{name}",)).fetchall()
    conn.execute(f"DROP INDEX pgrecall.{name}".encode())
    assert health(conn)["indexes"][0] == "fail"
    assert status(conn)["dense_index_valid"] is False
    run(conn, "indexes")
    assert conn.execute("SELECT pg_get_indexdef(%s::regclass)", (f"pgrecall.{name}",)).fetchall() == [(made,)]


def test_the_index_of_a_generation_that_nobody_reads_yet_may_be_missing(conn: Connection[Any]) -> None:
    conn.execute("SELECT pgrecall.add_generation('next', 8)")
    assert health(conn)["indexes"] == ("ok", None)
    prepare(conn)
    assert health(conn)["indexes"] == ("ok", None)


def test_invalid_indexes_are_named_with_their_repair(conn: Connection[Any]) -> None:
    # A failed CREATE INDEX CONCURRENTLY is what leaves an invalid index behind in real life.
    numbers = remember(conn, "one", "two")
    for name in ("broken", "broken too"):
        with pytest.raises(psycopg.errors.UniqueViolation):
            conn.execute(
                f'CREATE UNIQUE INDEX CONCURRENTLY "{name}" ON pgrecall.memories (namespace_id)'.encode()
            )
    assert health(conn)["indexes"][0] == "fail"
    assert "broken too" in detail(conn, "indexes")
    conn.execute("UPDATE pgrecall.memories SET deleted_at = now() WHERE id = %s", (numbers[0],))
    conn.execute("DELETE FROM pgrecall.memories WHERE id = %s", (numbers[0],))
    run(conn, "indexes")


def test_settings_of_the_dense_leg(dsn: str, conn: Connection[Any]) -> None:
    conn.execute("SET hnsw.ef_search = 10")
    conn.execute("SET hnsw.iterative_scan = off")
    found = health(conn)
    assert found["hnsw.ef_search"][0] == found["hnsw.iterative_scan"][0] == "warn"
    conn.execute(str(found["hnsw.iterative_scan"][1]).encode())
    conn.execute("RESET hnsw.ef_search")
    conn.execute("SELECT pgrecall.set_setting('leg_depth', '300')")
    state, remedy = health(conn)["hnsw.ef_search"]
    assert state == "warn"
    conn.execute(str(remedy).encode())
    with psycopg.connect(dsn) as fresh:
        found = health(fresh)
        assert found["hnsw.ef_search"] == found["hnsw.iterative_scan"] == ("ok", None)

    conn.execute("SET pgrecall.k = '400'")  # a leg is never shorter than k
    assert health(conn)["hnsw.ef_search"][0] == "warn"
    conn.execute("SET pgrecall.k = '10'")
    conn.execute("SET pgrecall.dense_pool = '40'")
    assert health(conn)["hnsw.ef_search"][0] == "warn"
    conn.execute("RESET pgrecall.dense_pool")
    conn.execute("SET pgrecall.k = 'many'")
    found = health(conn)
    assert (found["settings"][0], found["hnsw.ef_search"][0]) == ("fail", "ok")


@pytest.mark.parametrize(
    ("setting", "loud"),
    [
        ("log_error_verbosity", "default"),
        ("log_min_error_statement", "error"),
        ("log_parameter_max_length", "-1"),
        ("log_parameter_max_length_on_error", "-1"),
    ],
)
def test_a_server_whose_log_may_quote_memories(conn: Connection[Any], setting: str, loud: str) -> None:
    conn.execute(f"SET {setting} = '{loud}'".encode())
    status, remedy = health(conn)["server log"]
    assert status == "warn"
    assert remedy is not None
    quiet = f"SET {setting} = {QUIET_LOG[setting]}"
    assert f"ALTER SYSTEM {quiet}; SELECT pg_reload_conf()" in remedy
    assert "provider's parameter group" in remedy
    assert f"ALTER DATABASE {conn.info.dbname} {quiet}" in remedy
    assert detail(conn, "server log") == f"it may quote memories and queries: {setting} = {loud}"
    conn.execute(f"SET {setting} = '{QUIET_LOG[setting]}'".encode())
    assert health(conn)["server log"] == ("ok", None)


def test_statistics_were_never_made_or_are_old(conn: Connection[Any]) -> None:
    conn.execute("ALTER TABLE pgrecall.memories SET (autovacuum_enabled = off)")
    remember(conn, *(f"memory {number}" for number in range(1000)))
    assert health(conn)["statistics"] == ("warn", "SELECT pgrecall.analyze()")
    run(conn, "statistics")
    # The changes count, not what the triggers do for each of them.
    conn.execute("SET session_replication_role = replica")
    for _ in range(11):
        conn.execute("UPDATE pgrecall.memories SET importance = random()")
    conn.execute("RESET session_replication_role")
    settle(conn)
    assert health(conn)["statistics"][0] == "warn"
    run(conn, "statistics")


def test_dead_rows(conn: Connection[Any]) -> None:
    conn.execute("ALTER TABLE pgrecall.llm_usage SET (autovacuum_enabled = off)")
    conn.execute("ALTER TABLE pgrecall.workers SET (autovacuum_enabled = off)")
    conn.execute(
        "INSERT INTO pgrecall.workers (id, hostname, pid, model, bundle_hash) "
        "SELECT gen_random_uuid(), 'host', i, '', '' FROM generate_series(1, 12000) i"
    )
    conn.execute("DELETE FROM pgrecall.workers")
    settle(conn)
    assert health(conn)["dead rows"] == ("warn", "VACUUM (ANALYZE) pgrecall.workers")
    assert detail(conn, "dead rows") == "workers: 12000 dead of 12000"
    run(conn, "dead rows")


def test_autovacuum_is_off_for_a_table(conn: Connection[Any]) -> None:
    for value in ("off", "false", "0"):
        conn.execute(f"ALTER TABLE pgrecall.postings SET (autovacuum_enabled = {value})".encode())
        remedy = "ALTER TABLE pgrecall.postings RESET (autovacuum_enabled)"
        assert health(conn)["vacuum"] == ("warn", remedy)
        assert detail(conn, "vacuum") == "autovacuum is off for postings"
        run(conn, "vacuum")


def test_an_old_transaction_keeps_dead_rows(conn: Connection[Any], dsn: str) -> None:
    conn.execute(
        "INSERT INTO pgrecall.llm_usage (day, model) SELECT '2020-01-01', i::text FROM generate_series(1, 60000) i"
    )
    with psycopg.connect(dsn) as old:
        old.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        old.execute("SELECT count(*) FROM pgrecall.llm_usage")
        conn.execute("DELETE FROM pgrecall.llm_usage")
        settle(conn)
        conn.execute("VACUUM pgrecall.llm_usage")
        settle(conn)
        assert detail(conn, "vacuum") == "an old transaction keeps dead rows of llm_usage"
        assert "pg_stat_activity" in (health(conn)["vacuum"][1] or "")
    run(conn, "vacuum", "VACUUM pgrecall.llm_usage")


def test_postings_are_swollen(conn: Connection[Any]) -> None:
    conn.execute("ALTER TABLE pgrecall.postings SET (autovacuum_enabled = off)")
    conn.execute(
        "INSERT INTO pgrecall.postings (namespace_id, term, top_impact, memory_ids, impacts) "
        "SELECT 1, 'w' || i, 1, array_fill(1::bigint, ARRAY[128]), array_fill(1::real, ARRAY[128]) FROM generate_series(1, 20000) i"
    )
    conn.execute(
        "INSERT INTO pgrecall.term_stats (namespace_id, term, documents, small_blocks) VALUES (1, 'w1', 128, 0)"
    )
    assert health(conn)["size of postings"][0] == "warn"
    with conn.transaction():
        conn.execute("SET LOCAL ROLE pgrecall_reader")
        assert health(conn)["size of postings"][0] == "ok"
    conn.execute("DELETE FROM pgrecall.postings WHERE term <> 'w1'")
    run(conn, "size of postings", "VACUUM FULL pgrecall.postings")


def test_postings_of_the_past_are_not_apart_yet(conn: Connection[Any]) -> None:
    remember(conn, "tea")
    conn.execute("SELECT pgrecall.flush_pending_postings(1)")
    conn.execute("UPDATE pgrecall.posting_states SET separated_at = NULL")
    assert health(conn)["postings of the past"] == ("warn", "CALL pgrecall.rebuild_all_postings()")
    run(conn, "postings of the past")


def test_postings_lag_behind(conn: Connection[Any]) -> None:
    remember(conn, *(f"memory {number}" for number in range(1001)))
    conn.execute("SET session_replication_role = replica")  # so that no trigger folds them at once
    conn.execute(
        "INSERT INTO pgrecall.pending_postings (memory_id, namespace_id, indexed_vector) "
        "SELECT m.id, m.namespace_id, m.search_vector FROM pgrecall.memories m ON CONFLICT DO NOTHING"
    )
    conn.execute("RESET session_replication_role")
    state, remedy = health(conn)["postings"]
    assert state == "warn"
    statement = str(remedy).partition(",")[0]
    while conn.execute(statement.encode()).fetchone() != (0,):
        pass
    assert health(conn)["postings"] == ("ok", None)


def test_doctor_prints_what_is_worth_knowing_and_does_not_fail_for_it(
    dsn: str, conn: Connection[Any], capsys: pytest.CaptureFixture[str]
) -> None:
    beat(conn, generations=[1])
    with pytest.raises(SystemExit) as caught:
        main(["doctor", "--dsn", dsn])
    assert not caught.value.code
    out = capsys.readouterr().out
    assert re.search(r"^info  embedder's role: host:17 works as \w+\n +hint: CREATE ROLE ", out, re.MULTILINE)


@pytest.mark.skipif(pgbouncer.PROGRAM is None, reason="there is no pgbouncer here")
def test_a_pooler_that_loses_prepared_statements(
    dsn: str, public_dir: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    with pgbouncer.pooled(dsn, public_dir) as pooled:
        for prepare in ("off", "on"):
            monkeypatch.setenv("PGRECALL_PREPARE", prepare)
            with pytest.raises(SystemExit):
                main(["doctor", "--dsn", pooled])
            out = capsys.readouterr().out
            found += re.findall(r"^(\w+) +prepared statements: (.*)$", out, re.MULTILINE)
    assert [state for state, _ in found] == ["ok", "warn"]
    assert "PGRECALL_PREPARE" in found[1][1]


def test_who_may_create_in_a_schema_of_the_path_is_named(conn: Connection[Any], dsn: str) -> None:
    """Not the owner of pgrecall, nor superusers; PUBLIC is named once, not as every role."""
    role = f"creator_{conn.info.backend_pid}"
    conn.execute(f"CREATE ROLE {role}".encode())
    try:
        assert health(conn)["functions' search_path"] == ("ok", None)
        conn.execute(f"GRANT CREATE ON SCHEMA pgrecall TO {role}".encode())
        assert health(conn)["functions' search_path"][0] == "warn"
        assert detail(conn, "functions' search_path") == f"may create there: {role} in pgrecall"
        assert [text for text in migrate(dsn).messages if f"{role} in pgrecall" in text] != []
        conn.execute("GRANT CREATE ON SCHEMA pgrecall TO PUBLIC")
        assert detail(conn, "functions' search_path") == "may create there: PUBLIC in pgrecall"
        conn.execute("REVOKE CREATE ON SCHEMA pgrecall FROM PUBLIC")
        conn.execute(f"REVOKE CREATE ON SCHEMA pgrecall FROM {role}".encode())
        assert migrate(dsn).messages == ()
        # A schema's owner, who is not who installed.
        conn.execute(f"ALTER SCHEMA pgrecall OWNER TO {role}".encode())
        assert detail(conn, "functions' search_path") == f"may create there: {role} in pgrecall"
    finally:
        conn.execute("ALTER SCHEMA pgrecall OWNER TO CURRENT_USER")
        conn.execute(f"DROP OWNED BY {role}".encode())
        conn.execute(f"DROP ROLE {role}".encode())
