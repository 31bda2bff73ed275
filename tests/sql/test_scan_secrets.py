"""A scan of stored memories: what each policy does with them, what is left of a secret, batches, and who writes meanwhile."""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from benchmarks.quality.secrets.labels import labels
from support.extraction import INVARIANTS, extract, fact, mention
from support.memories import (
    call,
    contents,
    embed,
    refused,
    remember,
    remember_many,
    rows,
    scalar,
    stored,
    waits,
)
from support.notes import claim, note, notes_in, switch_on, talk

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

# Joined here, so that no scanner of a code host takes them for real.
KEY = "AK" + "IA" + "QX7RZ2M5N8P3T6W9"
PASSWORD = "tiger" + "2041"
SAID = f"my password is {PASSWORD}"
CLEAN = "my password is [redacted: password]"


def policy(conn: Connection[Any], memories: str = "default", messages: str = "default") -> None:
    call(conn, "pgrecall.set_secrets", "default", memories, messages)


def scan(conn: Connection[Any], **options: object) -> tuple[int | None, int, int, int, dict[str, int]]:
    told: tuple[int | None, int, int, int, dict[str, int]]
    (told,) = rows(conn, "pgrecall.scan_secrets", **options)
    return told


@pytest.fixture
def old(conn: Connection[Any]) -> int:
    """A memory that was stored when its namespace allowed secrets."""
    policy(conn, "allow", "allow")
    return remember(conn, SAID)


def found(conn: Connection[Any]) -> dict[str, int]:
    counts: dict[str, int] = scalar(
        conn, "SELECT l.found FROM pgrecall.list_secrets() l WHERE l.namespace = 'default'"
    )
    return counts


@pytest.mark.parametrize(
    ("one", "redacted", "marked"),
    [("redact", 1, 0), ("sensitive", 0, 1), ("refuse", 0, 1), ("allow", 0, 0)],
)
def test_each_policy_once(conn: Connection[Any], one: str, redacted: int, marked: int) -> None:
    """As from before the upgrade: without kinds."""
    conn.execute("ALTER TABLE pgrecall.memories DISABLE TRIGGER memories_05_secrets_insert")
    memory_id = remember(conn, SAID)
    plain = remember(conn, "the boat leaves at nine")
    policy(conn, one)
    before = stored(conn, plain)
    assert scan(conn, dry_run=True) == (None, 2, redacted, marked, {"password": 1})
    assert found(conn) == {}
    assert scan(conn) == (None, 2, redacted, marked, {"password": 1})
    memory = stored(conn, memory_id)
    assert memory["content"] == (CLEAN if one == "redact" else SAID)
    assert memory["is_sensitive"] == bool(marked)
    assert memory["secrets"] == ["password"]
    assert found(conn) == {"password": 1}
    assert stored(conn, plain) == before
    after = contents(conn)
    left = {} if one == "redact" else {"password": 1}
    assert scan(conn) == (None, 2, 0, 0, left)
    assert contents(conn) == after


def test_a_dry_run_changes_nothing(conn: Connection[Any], old: int) -> None:
    policy(conn, "redact")
    call(conn, "update_memory", old, content=f"{SAID}.")
    before = contents(conn)
    scan(conn, dry_run=True)
    assert contents(conn) == before


def test_nothing_is_left_of_what_is_redacted(conn: Connection[Any]) -> None:
    policy(conn, "allow", "allow")
    memory_id = remember(
        conn,
        f"{SAID} and {KEY}",
        title=f"of {KEY}",
        tags=["server", KEY],
        expanded_keywords=[KEY],
        category=KEY,
        speaker=KEY,
        source=f"https://ana:{PASSWORD}@example.org/",
        metadata={"password": PASSWORD, KEY: [KEY]},
    )
    call(conn, "update_memory", memory_id, content=f"{SAID}, or {KEY}", title=f"for {KEY}")
    call(conn, "update_memory", memory_id, tags=["server", f"x {KEY}"])
    extract(
        conn,
        {
            memory_id: {
                "mentions": [mention(f"Host {KEY}", "ORG"), mention("Ana", "PERSON")],
                "facts": [fact("Ana", "uses", f"Host {KEY}", statement=f"Ana uses {KEY}")],
            }
        },
    )
    embed(conn, memory_id)
    conn.execute(
        "INSERT INTO pgrecall.llm_answers (key, memory_id, answer) VALUES ('k', %s, %s)",
        (memory_id, Jsonb({"said": SAID})),
    )
    while call(conn, "pgrecall.flush_pending_postings", 1):
        pass
    conn.execute(
        "INSERT INTO pgrecall.pages (namespace_id, name, sections, budget, unit) "
        "SELECT m.namespace_id, 'p', '{facts}', 2000, 'tokens' FROM pgrecall.memories m"
    )
    conn.execute(
        'INSERT INTO pgrecall.page_lines (namespace_id, page, memory_id, "position", section, text, said_at) '
        "SELECT m.namespace_id, 'p', m.id, 1, 'facts', m.content, now() FROM pgrecall.memories m"
    )
    words = (PASSWORD, KEY.lower())
    told = {
        name: [word for word in words if word in "\n".join(lines).lower()]
        for name, lines in contents(conn).items()
    }
    for table in (
        "memories",
        "memory_changes",
        "postings",
        "concepts",
        "relationship_evidence",
        "page_lines",
    ):
        assert told[table], f"{table} would hold nothing to remove"
    policy(conn, "redact")
    assert scan(conn)[2] == 1
    for name, lines in contents(conn).items():
        whole = "\n".join(lines).lower()
        assert not [word for word in words if word in whole], name
    for lines in (rows(conn, "pgrecall.export_memories"), rows(conn, "pgrecall.export_records")):
        assert not [line for line in lines if PASSWORD in line or KEY in line]
    memory = stored(conn, memory_id)
    assert memory["embedding"] is None
    assert memory["tags"] == ["server", "x [redacted: aws-access-key]"]
    assert [row[0] for row in rows(conn, "pgrecall.claim", "00000000-0000-0000-0000-000000000007")] == [
        memory_id
    ]
    assert scalar(conn, "SELECT count(*) FROM recall('password server', k => 1)") == 1
    for name, query in INVARIANTS.items():
        assert conn.execute(query.encode()).fetchall() == [], name


def test_the_history_keeps_that_something_was_changed(conn: Connection[Any], old: int) -> None:
    call(conn, "update_memory", old, content=f"{SAID} now", importance=0.9)
    policy(conn, "redact")
    scan(conn)
    changes = conn.execute(
        "SELECT c.action, c.before, c.after, c.bytes = octet_length(c.before::text) + octet_length(c.after::text) "
        "FROM pgrecall.memory_changes c ORDER BY c.id"
    ).fetchall()
    assert [(action, exact) for action, _, _, exact in changes] == [("update", True), ("update", True)]
    assert [(before["content"], after["content"]) for _, before, after, _ in changes] == [
        (CLEAN, f"{CLEAN} now"),
        (f"{CLEAN} now", f"{CLEAN} now"),
    ]
    assert changes[0][2]["importance"] == 0.9
    assert scalar(
        conn, "SELECT c.role = session_user FROM pgrecall.memory_changes c ORDER BY c.id DESC LIMIT 1"
    )


def test_a_secret_that_only_the_history_has_goes_where_the_policy_redacts(
    conn: Connection[Any], old: int
) -> None:
    call(conn, "update_memory", old, content="my password is in the vault", session=KEY)
    for one in ("sensitive", "refuse", "allow"):
        policy(conn, one)
        assert scan(conn) == (None, 1, 0, 0, {})
    policy(conn, "redact")
    assert scan(conn) == (None, 1, 1, 0, {"password": 1})
    (change,) = conn.execute("SELECT c.before, c.after FROM pgrecall.memory_changes c").fetchall()
    assert change[0]["content"] == CLEAN
    assert change[1]["session"] == KEY, "ids of the caller are not read"
    memory = stored(conn, old)
    assert (memory["content"], memory["secrets"]) == ("my password is in the vault", ["password"])
    assert scan(conn) == (None, 1, 0, 0, {})


def test_memories_in_every_state_are_read(conn: Connection[Any]) -> None:
    policy(conn, "allow")
    forgotten, superseded, hidden, gone = (
        remember(conn, f"{SAID} {n}", is_sensitive=n == 2) for n in range(4)
    )
    call(conn, "forget", forgotten)
    call(conn, "supersede", superseded, "another")
    call(conn, "update_memory", gone, expires_at="2024-01-01")
    policy(conn, "redact")
    assert scan(conn)[1:] == (5, 4, 0, {"password": 4})
    for number, memory_id in enumerate((forgotten, superseded, hidden, gone)):
        assert stored(conn, memory_id)["content"] == f"{CLEAN} {number}"
    assert stored(conn, forgotten)["deleted_at"] is not None
    assert stored(conn, hidden)["is_sensitive"]
    assert scalar(conn, "SELECT count(*) FROM pgrecall.jobs j WHERE j.memory_id = %s", forgotten) == 0
    assert PASSWORD not in "".join("".join(lines) for lines in contents(conn).values())


def test_batches_go_on_from_the_last_id(conn: Connection[Any]) -> None:
    policy(conn, "allow")
    ids = remember_many(conn, [{"content": f"{SAID} {n}"} for n in range(5)])
    policy(conn, "redact")
    told = [scan(conn, max_memories=2)]
    while told[-1][0] is not None:
        told.append(scan(conn, after_id=told[-1][0], max_memories=2))
    assert [batch[0] for batch in told] == [ids[1], ids[3], None]
    assert [batch[1:4] for batch in told] == [(2, 2, 0), (2, 2, 0), (1, 1, 0)]
    # A full last batch does not know that it is the last.
    assert scan(conn, max_memories=5)[:3] == (ids[4], 5, 0)
    assert scan(conn, after_id=ids[4]) == (None, 0, 0, 0, {})


def test_a_scan_that_is_killed_in_the_middle_is_finished_by_the_next(conn: Connection[Any], dsn: str) -> None:
    policy(conn, "allow")
    ids = remember_many(conn, [{"content": f"{SAID} {n}"} for n in range(6)])
    policy(conn, "redact")
    with psycopg.connect(dsn, autocommit=True) as killed, psycopg.connect(dsn) as holder:
        assert scan(killed, max_memories=2)[:3] == (ids[1], 2, 2)
        holder.execute("SELECT FROM pgrecall.memories WHERE id = %s FOR UPDATE", (ids[3],))
        told = waits(killed, lambda: scan(killed, after_id=ids[1], max_memories=4))
        conn.execute("SELECT pg_terminate_backend(%s)", (killed.info.backend_pid,))
        with pytest.raises(psycopg.OperationalError):
            told()
    assert [PASSWORD in stored(conn, one)["content"] for one in ids] == [False] * 2 + [True] * 4
    assert scan(conn) == (None, 6, 4, 0, {"password": 4})
    assert PASSWORD not in "".join("".join(lines) for lines in contents(conn).values())


def test_markers_that_make_a_field_too_long_make_the_memory_sensitive(conn: Connection[Any]) -> None:
    policy(conn, "allow")
    memory_id = remember(conn, "x", title="pwd=a1b2 " * 400)
    policy(conn, "redact")
    assert scan(conn) == (None, 1, 0, 1, {"password": 1})
    assert stored(conn, memory_id)["is_sensitive"]
    assert scan(conn) == (None, 1, 0, 0, {"password": 1})


def raw_key(session: str, speaker: str, content: str, *rest: str) -> str:
    text = json.dumps([session, speaker, content], ensure_ascii=False)
    return "message:" + hashlib.sha256(text.encode()).hexdigest() + "".join(rest)


def test_the_key_of_an_old_message_is_made_without_its_secret(conn: Connection[Any]) -> None:
    policy(conn, "allow", "allow")
    said = Jsonb([{"role": "user", "content": SAID}])
    memory_id = rows(conn, "remember_messages", said, "s")[0][1]
    key = stored(conn, memory_id)["external_id"]
    was = raw_key("s", "user", SAID, key[72:])
    conn.execute("UPDATE pgrecall.memories SET external_id = %s WHERE id = %s", (was, memory_id))
    policy(conn, "allow", "redact")
    assert scan(conn)[1:4] == (1, 1, 0)
    assert stored(conn, memory_id)["external_id"] == key
    assert was not in "".join("".join(lines) for lines in contents(conn).values())
    assert rows(conn, "remember_messages", said, "s") == [(1, memory_id, False)]


def test_a_message_that_was_stored_once_more_keeps_its_key(conn: Connection[Any]) -> None:
    policy(conn, "allow", "allow")
    said = Jsonb([{"role": "user", "content": SAID, "created_at": "2025-01-31T12:00:00Z"}])
    first = rows(conn, "remember_messages", said, "s")[0][1]
    key = stored(conn, first)["external_id"]
    was = raw_key("s", "user", SAID, key[72:])
    conn.execute("UPDATE pgrecall.memories SET external_id = %s WHERE id = %s", (was, first))
    second = rows(conn, "remember_messages", said, "s")[0][1]
    assert first != second
    policy(conn, "redact", "redact")
    assert scan(conn)[1:4] == (2, 2, 0)
    assert [stored(conn, one)["external_id"] for one in (first, second)] == [f"{key}#{first}", key]
    assert scan(conn)[1:4] == (2, 0, 0)


def test_a_message_goes_by_the_policy_of_messages_and_its_notes_go(conn: Connection[Any]) -> None:
    switch_on(conn)
    policy(conn, "allow", "allow")
    ids = talk(conn, [{"role": "user", "content": SAID}, {"role": "user", "content": "I like trains"}])
    note(conn, claim(conn), **{f"The_password_is_{PASSWORD}": ids[:1], "Likes_trains": ids[1:]})
    policy(conn, "allow", "refuse")
    # A message cannot be refused any more; a note never is.
    assert scan(conn) == (None, 4, 1, 1, {"password": 2})
    assert stored(conn, ids[0])["is_sensitive"]
    assert sorted(notes_in(conn)) == [("Likes trains", False), ("The password is [redacted: password]", True)]
    policy(conn, "allow", "redact")
    assert scan(conn) == (None, 4, 1, 0, {"password": 1})
    assert PASSWORD not in "".join("".join(lines) for lines in contents(conn).values())
    assert scan(conn) == (None, 4, 0, 0, {})


def test_a_note_is_the_same_note_after_a_scan(conn: Connection[Any]) -> None:
    switch_on(conn)
    policy(conn, "allow", "allow")
    ids = talk(conn)
    said = f"The_password_is_{PASSWORD}"
    note(conn, claim(conn), **{said: ids[:1]})
    was = "note:" + hashlib.sha256(json.dumps(["trip", f"the password is {PASSWORD}"]).encode()).hexdigest()
    conn.execute("UPDATE pgrecall.memories SET external_id = %s WHERE category = 'note'", (was,))
    policy(conn, "redact", "redact")
    assert scan(conn)[2] == 1
    assert was not in "".join("".join(lines) for lines in contents(conn).values())
    call(conn, "pgrecall.reextract", enricher="notes")
    note(conn, claim(conn), **{said: ids[:1]})
    assert notes_in(conn) == [("The password is [redacted: password]", False)]


def test_every_labelled_text_is_left_as_it_would_be_stored(conn: Connection[Any]) -> None:
    texts = [label.text for label in labels(7)]
    policy(conn, "redact")
    as_stored = [stored(conn, one)["content"] for one in remember_many(conn, [{"content": t} for t in texts])]
    call(conn, "pgrecall.create_namespace", "earlier")
    call(conn, "pgrecall.set_secrets", "earlier", "allow")
    ids = remember_many(conn, [{"content": text} for text in texts], namespace="earlier")
    for number in ids:
        call(conn, "update_memory", number, title="seen")
    call(conn, "pgrecall.set_secrets", "earlier", "redact")
    assert scan(conn, namespace="earlier")[2] > 200
    assert [stored(conn, one)["content"] for one in ids] == as_stored
    assert scan(conn, namespace="earlier")[2:] == (0, 0, {})


def test_wrong_arguments(conn: Connection[Any]) -> None:
    for wrong in (0, 100_001, None):
        with refused(conn, "22023"):
            scan(conn, max_memories=wrong)
    with refused(conn, "42704"):
        scan(conn, namespace="nowhere")


@pytest.mark.usefixtures("dsn")
def test_an_older_snapshot_is_refused(conn: Connection[Any]) -> None:
    conn.execute("SET default_transaction_isolation = 'repeatable read'")
    with refused(conn, "55000"):
        scan(conn)


@pytest.mark.parametrize("keeps", ["the secret", "none"])
def test_a_text_that_is_edited_meanwhile_is_read_again(conn: Connection[Any], dsn: str, keeps: str) -> None:
    policy(conn, "allow")
    memory_id = remember(conn, SAID)
    policy(conn, "sensitive")
    edited = f"{SAID}, still" if keeps == "the secret" else "in the vault"
    with psycopg.connect(dsn) as other, psycopg.connect(dsn, autocommit=True) as scanner:
        other.execute("SELECT pgrecall.set_secrets('default', 'allow')")
        other.execute("SELECT update_memory(%s, content => %s)", (memory_id, edited))
        other.execute("SELECT pgrecall.set_secrets('default', 'sensitive')")
        told = waits(scanner, lambda: scan(scanner))
        other.commit()
        assert told()[2:4] == ((0, 1) if keeps == "the secret" else (0, 0))
    memory = stored(conn, memory_id)
    assert (memory["content"], memory["is_sensitive"]) == (edited, keeps == "the secret")


def test_two_scans_at_once(conn: Connection[Any], dsn: str) -> None:
    policy(conn, "allow")
    ids = remember_many(conn, [{"content": f"{SAID} {n}", "tags": [f"t{n % 3}", KEY]} for n in range(60)])
    policy(conn, "redact")

    def scanning(_: int) -> int:
        with psycopg.connect(dsn, autocommit=True) as scanner:
            return scan(scanner)[2]

    with ThreadPoolExecutor(3) as pool:
        assert sum(pool.map(scanning, range(3))) == len(ids)
    assert PASSWORD not in "".join("".join(lines) for lines in contents(conn).values())
