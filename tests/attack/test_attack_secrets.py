"""Attacks by way of secrets: on the policy, on the counts, on the scan itself; and what the server's log has of a refusal."""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrecall.admin.migrate import migrate
from pgrecall.server import EmbeddedServer
from support.log import DEFAULT_LOG
from support.memories import call, remember, rows, scalar, stored
from support.notes import WORKER, queue
from support.roles import denied, role

if TYPE_CHECKING:
    from pathlib import Path

    from psycopg import Connection

KEY = "AK" + "IA" + "QX7RZ2M5N8P3T6W9"
HUB = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
PASSWORD = "tiger" + "2041"
SAID = f"my password is {PASSWORD}"


@pytest.mark.rollback
@pytest.mark.parametrize(
    "name", ["pgrecall_reader", "pgrecall_writer", "pgrecall_embedder", "pgrecall_everywhere"]
)
def test_only_an_administrator_sets_the_policy(conn: Connection[Any], name: str) -> None:
    with role(conn, name):
        denied(
            conn,
            "SELECT pgrecall.set_secrets('default', 'allow', 'allow')",
            "SELECT pgrecall.set_setting('secrets', 'allow')",
            "UPDATE pgrecall.namespaces SET secrets = 'allow'",
            "ALTER TABLE pgrecall.memories DISABLE TRIGGER memories_05_secrets_insert",
        )


@pytest.mark.rollback
def test_a_writer_gets_round_no_policy(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.set_secrets", "default", "redact", "redact")
    conn.execute("CREATE ROLE writing IN ROLE pgrecall_writer")
    call(conn, "pgrecall.grant_namespace", "writing", "default", "write")
    with role(conn, "writing"):
        # Nothing that a session sets is asked, and no field of a memory.
        conn.execute("SELECT set_config('pgrecall.secrets', 'allow', false)")
        with contextlib.suppress(psycopg.Error), conn.transaction():
            rows(conn, "remember_many", Jsonb([{"content": SAID, "secrets": []}]))
        with pytest.raises(psycopg.errors.InsufficientPrivilege), conn.transaction():
            conn.execute("SET session_replication_role = replica")
        remember(conn, SAID, is_sensitive=False)
        remember(conn, SAID, external_id="message:" + "0" * 64)
        remember(conn, SAID, external_id="note:" + "0" * 64)
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories") == 3
    assert (
        scalar(conn, "SELECT count(*) FROM pgrecall.memories m WHERE strpos(m.content, %s) > 0", PASSWORD)
        == 0
    )


@pytest.mark.rollback
def test_the_counts_are_of_the_namespaces_that_a_role_reads(conn: Connection[Any]) -> None:
    for name in ("mine", "theirs"):
        call(conn, "pgrecall.create_namespace", name)
        remember(conn, SAID, namespace=name)
    conn.execute("CREATE ROLE counting LOGIN IN ROLE pgrecall_reader")
    call(conn, "pgrecall.grant_namespace", "counting", "mine")
    with role(conn, "counting"):
        assert [(row[0], row[3]) for row in rows(conn, "pgrecall.list_secrets")] == [
            ("mine", {"password": 1})
        ]
    statistics = "SELECT count(*) FROM pg_stats WHERE schemaname = 'pgrecall' AND attname IN ('secrets', 'secrets_in_messages')"
    conn.execute("ANALYZE pgrecall.memories")
    assert scalar(conn, f"{statistics} AND tablename = 'memories'") == 0


@pytest.mark.rollback
@pytest.mark.parametrize(
    "split",
    [
        KEY[:9] + "\u200b" + KEY[9:],
        "\u2060".join(KEY),
        KEY[:11] + "\n" + KEY[11:],
        "\ufeff" + KEY + "\u00ad",
    ],
)
def test_a_token_that_is_split_is_found(conn: Connection[Any], split: str) -> None:
    call(conn, "pgrecall.set_secrets", "default", "redact")
    assert (
        stored(conn, remember(conn, f"it is {split} today"))["content"]
        == "it is [redacted: aws-access-key] today"
    )


@pytest.mark.rollback
def test_no_secret_waits_for_a_language_model(conn: Connection[Any]) -> None:
    for setting in ("extract_notes", "extract_llm"):
        call(conn, "pgrecall.set_setting", setting, "on")
    remember(conn, SAID)
    rows(conn, "remember_messages", Jsonb([{"role": "user", "content": f"use {HUB}"}]), "s")
    queue(conn)
    with role(conn, "pgrecall_embedder"):
        texts = [
            str(row)
            for function, arguments in (
                ("pgrecall.claim", (WORKER, 10)),
                ("pgrecall.claim_extractions", (WORKER, "llm")),
                ("pgrecall.claim_extractions", (WORKER, "notes")),
            )
            for row in rows(conn, function, *arguments)
        ]
        assert any("[redacted: github-token]" in text for text in texts)
        assert not any(PASSWORD in text or HUB in text for text in texts)


@pytest.mark.rollback
def test_a_text_of_secrets_leaves_none_in_history_or_words(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.set_secrets", "default", "redact")
    memory_id = remember(conn, "nothing yet")
    call(conn, "update_memory", memory_id, content=f"{SAID} {HUB}", metadata=Jsonb({"token": HUB}))
    for table in ("memories", "memory_changes", "postings", "pending_postings"):
        whole = scalar(conn, f"SELECT COALESCE(string_agg(t::text, ''), '') FROM pgrecall.{table} t")
        assert PASSWORD not in whole, table
        assert HUB.lower() not in whole.lower(), table


SCAN = "SELECT * FROM pgrecall.scan_secrets(%s)"


@pytest.fixture
def scanning(conn: Connection[Any]) -> Connection[Any]:
    """Namespaces with a secret each, in text and history: one to write, one to read, one that another tenant has."""
    conn.execute("CREATE ROLE scanning LOGIN IN ROLE pgrecall_writer")
    for name, access in (("mine", "write"), ("library", "read"), ("theirs", None)):
        call(conn, "pgrecall.create_namespace", name)
        call(conn, "pgrecall.set_secrets", name, "allow", "allow")
        memory_id = remember(conn, SAID, namespace=name)
        call(conn, "update_memory", memory_id, content=f"use {HUB}")
        call(conn, "pgrecall.set_secrets", name, "redact", "redact")
        if access is not None:
            call(conn, "pgrecall.grant_namespace", "scanning", name, access)
    return conn


def whole(conn: Connection[Any], namespace: str) -> str:
    """All memories and changes of a namespace."""
    query = """
        SELECT string_agg(t.row, ' ') FROM pgrecall.namespaces n CROSS JOIN LATERAL (
            SELECT m::text FROM pgrecall.memories m WHERE m.namespace_id = n.id
            UNION ALL SELECT c::text FROM pgrecall.memory_changes c WHERE c.namespace_id = n.id
        ) t (row) WHERE n.name = %s
    """
    return str(scalar(conn, query, namespace))


@pytest.mark.rollback
def test_a_writer_scans_its_own_namespace_alone(scanning: Connection[Any]) -> None:
    conn = scanning
    before = whole(conn, "library"), whole(conn, "theirs")
    with role(conn, "scanning"):
        assert conn.execute(SCAN.encode(), ["mine"]).fetchone() == (
            None, 1, 1, 0, {"password": 1, "github-token": 1},
        )  # fmt: skip
        told = []
        for name in ("theirs", "nowhere"):
            with pytest.raises(psycopg.errors.UndefinedObject) as caught, conn.transaction():
                conn.execute(SCAN.encode(), [name])
            told.append(str(caught.value).replace(name, "…"))
        assert told[0] == told[1]
        with pytest.raises(psycopg.errors.InsufficientPrivilege), conn.transaction():
            conn.execute(SCAN.encode(), ["library"])
        # Not even what it may write: only functions change a history.
        denied(
            conn,
            "UPDATE pgrecall.memory_changes SET before = '{}'",
            "SELECT _pgrecall.redact_history(1, NULL, NULL, false)",
            "SELECT _pgrecall.scan_granted(1, NULL, 10, false)",
            "SELECT _pgrecall.scan_memory(NULL, false)",
        )
    assert PASSWORD not in whole(conn, "mine")
    assert HUB not in whole(conn, "mine")
    assert (whole(conn, "library"), whole(conn, "theirs")) == before


@pytest.mark.rollback
@pytest.mark.parametrize("name", ["pgrecall_reader", "pgrecall_embedder"])
def test_who_does_not_write_does_not_scan(scanning: Connection[Any], name: str) -> None:
    call(scanning, "pgrecall.grant_namespace", "pgrecall_reader", "mine", "read")
    with role(scanning, name):
        denied(scanning, "SELECT * FROM pgrecall.scan_secrets('mine', dry_run => true)")


@pytest.mark.rollback
def test_the_engine_looks_the_grant_up_itself(scanning: Connection[Any]) -> None:
    """Called as the gate calls it, for namespaces that nobody has checked."""
    conn = scanning
    conn.execute("CREATE SCHEMA breach")
    conn.execute("GRANT USAGE ON SCHEMA breach TO PUBLIC")
    conn.execute(
        "CREATE FUNCTION breach.scan(home integer) RETURNS text LANGUAGE sql SECURITY DEFINER "
        "RETURN (SELECT s::text FROM _pgrecall.scan_granted(home, NULL, 10, false) s)"
    )
    conn.execute("ALTER FUNCTION breach.scan OWNER TO pgrecall_gate")
    homes = dict(conn.execute("SELECT n.name, n.id FROM pgrecall.namespaces n").fetchall())
    before = whole(conn, "library"), whole(conn, "theirs")
    with role(conn, "scanning"):
        for home in (homes["library"], homes["theirs"], 10**8, None):
            assert scalar(conn, "SELECT breach.scan(%s::integer)", home) == "(,0,0,0,{})"
        assert scalar(conn, "SELECT breach.scan(%s)", homes["mine"]).startswith("(,1,1,0,")
    assert (whole(conn, "library"), whole(conn, "theirs")) == before


@pytest.mark.rollback
def test_a_scan_tells_no_text(scanning: Connection[Any]) -> None:
    notices: list[str] = []
    scanning.add_notice_handler(lambda notice: notices.append(str(notice.message_primary)))
    for dry_run in (True, False):
        told = str(rows(scanning, "pgrecall.scan_secrets", "theirs", dry_run=dry_run))
        assert PASSWORD not in told
        assert HUB not in told
    assert notices == []


# What each pattern would have to try again and again, if it did.
HOSTILE = (
    "password",
    "password is ",
    "password: a",
    "password for a ",
    "clave para ",
    'password: "',
    "eyJ",
    "eyJa.eyJ",
    "://a:",
    "a://b:c",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN A PRIVATE KEY-----aaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "sk-proj-",
    "token=a1",
    "secret_access_key ",
    "aws key ",
    "authorization: bearer a",
    "curl -u ",
    "AKIA",
    "1",
    "a_",
    "\n",
    "\u200b",
    "discord MAAAAAAAAAAAAAAAAAAAAAAAA.",
    "token=a-1_",
    "token: a-1-b2.",
    "password: a_",
    "password: a1,",
    "password is set to ",
    "password on a is ",
    "密码是",
    "<password>",
    "passphrase: aaa-",
    "mysql -p ",
    "docker login -p ",
    "password a1",
    "pw: pass=",
    "sig=",
)


@pytest.mark.rollback
@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_text_takes_time_in_proportion_to_its_length(conn: Connection[Any], piece: str) -> None:
    took = []
    for length in (30_000, 240_000):
        text = (piece * (length // len(piece) + 1))[:length]
        scalar(conn, "SELECT (_pgrecall.redact_text(%s)).clean IS NULL", text[:300])
        begun = time.perf_counter()
        scalar(conn, "SELECT (_pgrecall.redact_text(%s)).clean IS NULL", text)
        took.append(time.perf_counter() - begun)
    # Eight times the text; a quadratic pattern would take 64 times as long, and minutes.
    assert took[1] < 30 * max(took[0], 0.01), took
    assert took[1] < 60


@pytest.mark.pg15
@pytest.mark.parametrize("settings", [DEFAULT_LOG, {}], ids=["default", "pgrecall up"])
def test_the_log_of_the_server_has_no_refused_secret(public_dir: Path, settings: dict[str, str]) -> None:
    """A client that sends its text as a parameter leaves nothing of it in the log, whatever is done with the secret."""
    folder = public_dir / f"log-{len(settings)}"
    server = EmbeddedServer(folder, settings={"fsync": "off", **settings})
    dsn = server.up()
    try:
        migrate(dsn)
        with psycopg.connect(dsn, autocommit=True) as conn:
            for policy in ("refuse", "redact", "sensitive"):
                call(conn, "pgrecall.set_secrets", "default", policy, policy)
                for text in (SAID, KEY, f"https://ana:{PASSWORD}@example.org/"):
                    with contextlib.suppress(psycopg.errors.InvalidParameterValue):
                        remember(conn, text, metadata={"password": PASSWORD})
                    with contextlib.suppress(psycopg.errors.InvalidParameterValue):
                        rows(conn, "remember_messages", Jsonb([{"role": "user", "content": text}]), "s")
            call(conn, "pgrecall.set_secrets", "default", "redact", "redact")
            rows(conn, "pgrecall.scan_secrets")
            # A scan that fails in the middle of a memory.
            conn.execute("ALTER TABLE pgrecall.memory_changes ADD CHECK (action <> 'update') NOT VALID")
            call(conn, "pgrecall.set_secrets", "default", "allow", "allow")
            remember(conn, SAID)
            call(conn, "pgrecall.set_secrets", "default", "redact", "redact")
            with pytest.raises(psycopg.errors.CheckViolation):
                rows(conn, "pgrecall.scan_secrets")
    finally:
        server.down()
    log = "".join(path.read_text(errors="replace") for path in folder.rglob("*.log"))
    assert "database system is ready" in log
    assert "what looks like a secret" in log
    assert PASSWORD not in log
    assert KEY not in log
