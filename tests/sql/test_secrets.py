"""Secrets in memories: what is found, what is done with it by policy, and how it is counted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from benchmarks.quality.secrets.labels import labels
from support.memories import call, refused, remember, remember_many, rows, scalar, stored
from support.notes import claim, note, switch_on, talk

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

# Joined here, so that no scanner of a code host takes them for real.
KEY = "AK" + "IA" + "QX7RZ2M5N8P3T6W9"
JWT = "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N"
PASSWORD = "tiger" + "2041"
SAID = f"my password is {PASSWORD}"
MARK = "[redacted: password]"
POLICIES = ("refuse", "redact", "sensitive", "allow")


def policy(conn: Connection[Any], memories: str = "default", messages: str = "default") -> None:
    call(conn, "pgrecall.set_secrets", "default", memories, messages)


def found(conn: Connection[Any]) -> dict[str, int]:
    counts: dict[str, int] = scalar(
        conn, "SELECT l.found FROM pgrecall.list_secrets() l WHERE l.namespace = 'default'"
    )
    return counts


def redacted(conn: Connection[Any], text: str) -> tuple[str, list[str] | None]:
    (clean, kinds) = rows(conn, "_pgrecall.redact_text", text)[0]
    return clean, kinds


def test_by_default_a_memory_becomes_sensitive_and_a_message_is_redacted(conn: Connection[Any]) -> None:
    memory = stored(conn, remember(conn, SAID))
    assert (memory["content"], memory["is_sensitive"], memory["secrets"]) == (SAID, True, ["password"])
    (said,) = rows(conn, "remember_messages", Jsonb([{"role": "user", "content": f"use {KEY} there"}]), "s")
    message = stored(conn, said[1])
    assert (message["content"], message["is_sensitive"]) == ("use [redacted: aws-access-key] there", False)
    assert found(conn) == {"password": 1, "aws-access-key": 1}


def test_a_memory_without_a_secret_is_as_it_was(conn: Connection[Any]) -> None:
    for text in (
        "the boat leaves at nine",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "reset your password",
    ):
        memory = stored(
            conn, remember(conn, text, metadata={"id": "9fceb02d0ae598e95dc970b74767f19372d61af8"})
        )
        assert (memory["content"], memory["is_sensitive"], memory["secrets"]) == (text, False, None)
    assert found(conn) == {}


def test_every_policy_of_a_namespace(conn: Connection[Any]) -> None:
    for one in POLICIES:
        policy(conn, one, one)
        if one == "refuse":
            with refused(conn, "22023"):
                remember(conn, SAID)
            with refused(conn, "22023"):
                rows(conn, "remember_messages", Jsonb([{"role": "user", "content": SAID}]), "s")
            continue
        memory = stored(conn, remember(conn, SAID))
        assert (PASSWORD in memory["content"]) == (one != "redact")
        assert memory["is_sensitive"] == (one == "sensitive")
        assert memory["secrets"] == ["password"]


def test_what_is_set_for_the_database_holds_where_a_namespace_says_nothing(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.create_namespace", "own")
    call(conn, "pgrecall.set_secrets", "own", "allow")
    call(conn, "pgrecall.set_setting", "secrets", "redact")
    call(conn, "pgrecall.set_setting", "secrets_in_messages", "sensitive")
    assert [row[:3] for row in rows(conn, "pgrecall.list_secrets")] == [
        ("default", "redact", "sensitive"),
        ("own", "allow", "sensitive"),
    ]
    assert stored(conn, remember(conn, SAID))["content"] == "my password is [redacted: password]"
    assert stored(conn, remember(conn, SAID, namespace="own"))["content"] == SAID


def test_wrong_policies_are_refused(conn: Connection[Any]) -> None:
    for wrong in (("default", "off"), ("default", None, "")):
        with refused(conn, "22023"):
            call(conn, "pgrecall.set_secrets", *wrong)
    with refused(conn, "42704"):
        call(conn, "pgrecall.set_secrets", "nowhere", "allow")


def test_all_texts_of_a_memory_are_read(conn: Connection[Any]) -> None:
    policy(conn, "redact")
    memory = stored(
        conn,
        remember(
            conn,
            "of the old server",
            title=f"key {KEY}",
            category=KEY,
            source=f"https://ana:{PASSWORD}@git.example.org/a",
            speaker=KEY,
            tags=["a", KEY],
            expanded_keywords=[KEY],
            metadata={"password": PASSWORD, "deep": [{"token": JWT}, 7, None], KEY: True, "kept": "yes"},
            session=KEY,
            external_id=KEY,
        ),
    )
    mark = "[redacted: aws-access-key]"
    assert (memory["title"], memory["category"], memory["speaker"]) == (f"key {mark}", mark, mark)
    assert (memory["tags"], memory["expanded_keywords"]) == (["a", mark], [mark])
    assert memory["source"] == "https://ana:[redacted: password-in-url]@git.example.org/a"
    assert memory["metadata"] == {
        "password": "[redacted: password]",
        "deep": [{"token": "[redacted: jwt]"}, 7, None],
        mark: True,
        "kept": "yes",
    }
    assert (memory["session"], memory["external_id"]) == (KEY, KEY), "ids of the caller are not read"
    assert "redact" in memory["words"]
    assert KEY.lower() not in memory["words"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (
            {"password": [{"note": "mine"}, PASSWORD]},
            {"password": [{"note": "mine"}, "[redacted: password]"]},
        ),
        (
            {"password": [[], [PASSWORD]], "a": PASSWORD},
            {"password": [[], ["[redacted: password]"]], "a": PASSWORD},
        ),
        ([{"password": {"hint": PASSWORD}}], [{"password": {"hint": PASSWORD}}]),
        (
            {'{"[': 'a "quoted" \\ {[', "k": [JWT, "}]"]},
            {'{"[': 'a "quoted" \\ {[', "k": ["[redacted: jwt]", "}]"]},
        ),
        (JWT, "[redacted: jwt]"),
    ],
)
def test_a_string_is_read_after_its_own_key(conn: Connection[Any], given: object, kept: object) -> None:
    assert rows(conn, "_pgrecall.redact_json", Jsonb(given))[0][0] == kept


HUBS = ["gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7" + end for end in ("A1", "B2", "C3")]
HUB = "[redacted: github-token"
AWS = "[redacted: aws-access-key"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({HUBS[0]: 1, HUBS[1]: 2, HUBS[2]: 3}, {f"{HUB}]": 1, f"{HUB} 2]": 2, f"{HUB} 3]": 3}),
        ([{HUBS[0]: {HUBS[1]: 1}}, {HUBS[2]: 2}], [{f"{HUB}]": {f"{HUB}]": 1}}, {f"{HUB}]": 2}]),
        ({f"{HUB}]": 1, f"{HUB} 2]": 2, HUBS[0]: 3}, {f"{HUB}]": 1, f"{HUB} 2]": 2, f"{HUB} 3]": 3}),
        ({KEY: 1, f"{AWS}]": 2, f"{AWS} 2]": 3}, {f"{AWS}]": 1, f"{AWS} 2]": 2, f"{AWS} 3]": 3}),
        ({f"{KEY} a": 1, f"{KEY} b": 2}, {f"{AWS}] a": 1, f"{AWS}] b": 2}),
        ({f"{HUB} 7]": 1, HUBS[0]: 2, "a": KEY}, {f"{HUB}]": 1, f"{HUB} 2]": 2, "a": f"{AWS}]"}),
    ],
)
def test_no_key_takes_the_place_of_another(conn: Connection[Any], given: object, kept: object) -> None:
    clean, kinds = rows(conn, "_pgrecall.redact_json", Jsonb(given))[0]
    assert clean == kept
    assert kinds
    assert rows(conn, "_pgrecall.redact_json", Jsonb(clean))[0] == (clean, None)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"password": 83920174, "n": 83920174}, {"password": MARK, "n": 83920174}),
        ({"password": [83920174, -83920174, 1.5, 12]}, {"password": [MARK, -83920174, 1.5, 12]}),
        ({"password": {"value": PASSWORD}}, {"password": {"value": MARK}}),
        ({"name": "DB_PASSWORD", "value": PASSWORD}, {"name": "DB_PASSWORD", "value": MARK}),
        ([{"key": "password", "value": 83920174}], [{"key": "password", "value": MARK}]),
        ({"name": "color", "value": PASSWORD}, {"name": "color", "value": PASSWORD}),
        ({"name": "password", "in": {"value": PASSWORD}}, {"name": "password", "in": {"value": PASSWORD}}),
        ({"password": True, "value": 83920174}, {"password": True, "value": 83920174}),
        ({"value": PASSWORD}, {"value": PASSWORD}),
    ],
)
def test_a_number_and_a_named_value_are_read_after_their_key(
    conn: Connection[Any], given: object, kept: object
) -> None:
    assert rows(conn, "_pgrecall.redact_json", Jsonb(given))[0][0] == kept


def test_fields_that_are_null_are_said_to_be_null(conn: Connection[Any]) -> None:
    assert rows(conn, "_pgrecall.redact_json", None) == [(None, None)]
    for one in POLICIES[1:]:
        policy(conn, one)
        for column in ("tags", "metadata"):
            with pytest.raises(psycopg.errors.NotNullViolation), conn.transaction():
                conn.execute(
                    f"INSERT INTO pgrecall.memories (namespace_id, content, {column}) "
                    "SELECT n.id, %s, NULL FROM pgrecall.namespaces n WHERE n.name = 'default'",
                    [SAID],
                )


@pytest.mark.parametrize("brackets", [("[", "]"), ('{"a":', "}")])
def test_a_deeply_nested_value_is_read_to_its_end(conn: Connection[Any], brackets: tuple[str, str]) -> None:
    opening, closing = brackets
    deep = f'{opening * 3000}"password: {PASSWORD}"{closing * 3000}'
    (clean, kinds) = conn.execute(
        "SELECT clean::text, kinds FROM _pgrecall.redact_json(%s)", [deep]
    ).fetchone() or ("", [])
    assert (PASSWORD in clean, "[redacted: password]" in clean, kinds) == (False, True, ["password"])


def test_update_and_supersede_and_import(conn: Connection[Any]) -> None:
    policy(conn, "redact")
    memory_id = remember(conn, "the old server")
    assert call(conn, "update_memory", memory_id, content=SAID)
    assert stored(conn, memory_id)["content"] == "my password is [redacted: password]"
    history = scalar(conn, "SELECT string_agg(c.after::text, '') FROM pgrecall.memory_changes c")
    assert PASSWORD not in history
    successor = call(conn, "supersede", memory_id, f"use {KEY}")
    assert stored(conn, successor)["content"] == "use [redacted: aws-access-key]"
    row = {
        "memory": {"content": SAID, "external_id": "e"},
        "import": {"kind": "k", "id": "1", "fingerprint": "f"},
    }
    (imported,) = rows(conn, "pgrecall.import_rows", Jsonb([row]))
    assert stored(conn, imported[1])["content"] == "my password is [redacted: password]"


def test_an_import_of_an_export_is_scanned_and_done_twice_changes_nothing(conn: Connection[Any]) -> None:
    policy(conn, "allow")
    memory_id = remember(conn, SAID)
    line = scalar(conn, "SELECT e.line FROM pgrecall.export_memories() e (line) LIMIT 1")
    rows(conn, "erase", memory_id)
    policy(conn, "redact")
    first = rows(conn, "pgrecall.import_memories", Jsonb([json.loads(line)]))[0]
    assert first[2] == "stored"
    assert stored(conn, first[1])["content"] == "my password is [redacted: password]"
    assert rows(conn, "pgrecall.import_memories", Jsonb([json.loads(line)]))[0][1] == first[1]


@pytest.mark.parametrize("field", ["title", "speaker", "source"])
def test_an_import_finds_what_it_has_stored_without_its_secret(conn: Connection[Any], field: str) -> None:
    policy(conn, "allow")
    number = remember(conn, "noted", **{field: SAID})
    call(conn, "forget", number)
    line = scalar(
        conn, "SELECT e.line FROM pgrecall.export_memories(include_forgotten => true) e (line) LIMIT 1"
    )
    rows(conn, "erase", number)
    policy(conn, "redact")
    for outcome in ("stored", "present"):
        ((_, new, said, *_),) = rows(conn, "pgrecall.import_memories", Jsonb([json.loads(line)]))
        assert said == outcome
        assert stored(conn, new)["deleted_at"] is not None
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories") == 1


@pytest.mark.parametrize("one", POLICIES[1:])
@pytest.mark.parametrize("function", ["import_memories", "import_lines"])
def test_what_an_import_stored_by_a_policy_does_not_differ(
    conn: Connection[Any], one: str, function: str
) -> None:
    policy(conn, "allow")
    fields = {"external_id": "e", "tags": [SAID], "metadata": {"password": PASSWORD}, "is_sensitive": False}
    number = remember(conn, SAID, **{**fields, "metadata": Jsonb(fields["metadata"])})
    (line,) = rows(conn, "pgrecall.export_memories")
    given = json.loads(line) if function == "import_memories" else {"content": SAID, **fields}
    rows(conn, "erase", number)
    policy(conn, one)
    outcomes = [rows(conn, f"pgrecall.{function}", Jsonb([given]))[0][2] for _ in range(2)]
    assert outcomes == ["stored", "present"]
    for other in (
        {"content": f"{SAID} now"}, {"tags": ["a"]}, {"metadata": {"a": 1}}, {"title": "T"}, {"is_sensitive": True},
    ):  # fmt: skip
        expected = "present" if one == "sensitive" and "is_sensitive" in other else "differs"
        assert rows(conn, f"pgrecall.{function}", Jsonb([given | other]))[0][2] == expected, other


def test_the_same_text_twice_is_one_memory_also_without_its_secret(conn: Connection[Any]) -> None:
    for one in POLICIES[1:]:
        policy(conn, one)
        assert remember(conn, SAID, external_id=one) == remember(conn, SAID, external_id=one)
    with refused(conn, "23505"):
        remember(conn, f"{SAID} now", external_id="redact")


def test_messages_are_the_same_whatever_the_policy_and_their_key_is_of_no_secret(
    conn: Connection[Any],
) -> None:
    messages = [{"role": "user", "content": SAID}, {"role": "assistant", "content": "noted"}]
    for one in POLICIES[1:]:
        policy(conn, "default", one)
        rows(conn, "remember_messages", Jsonb(messages), "s")
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories") == 2
    keys = []
    for secret in (PASSWORD, "lion" + "1234"):
        talked = rows(
            conn, "remember_messages", Jsonb([{"role": "user", "content": f"password: {secret}"}]), "t"
        )
        keys.append(stored(conn, talked[0][1])["external_id"][:72])
        conn.execute("DELETE FROM pgrecall.memories WHERE id = %s", (talked[0][1],))
    assert keys[0] == keys[1], "nobody can try passwords against it"


def test_a_memory_with_a_secret_stays_sensitive_until_the_secret_goes(conn: Connection[Any]) -> None:
    memory_id = remember(conn, SAID)
    call(conn, "update_memory", memory_id, is_sensitive=False)
    assert stored(conn, memory_id)["is_sensitive"]
    call(conn, "update_memory", memory_id, content="my password is in the vault", is_sensitive=False)
    memory = stored(conn, memory_id)
    assert not memory["is_sensitive"]
    assert memory["secrets"] == ["password"], "its history still has it"


def test_an_old_memory_is_scanned_when_its_text_changes(conn: Connection[Any]) -> None:
    policy(conn, "allow")
    memory_id = remember(conn, SAID)
    policy(conn, "redact")
    call(conn, "update_memory", memory_id, importance=0.9)
    assert stored(conn, memory_id)["content"] == SAID
    call(conn, "update_memory", memory_id, content=f"{SAID}.")
    assert PASSWORD not in stored(conn, memory_id)["content"]


def test_a_refused_memory_of_a_batch_stores_none(conn: Connection[Any]) -> None:
    policy(conn, "refuse")
    with refused(conn, "22023"):
        remember_many(conn, [{"content": "fine"}, {"content": KEY}])
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories") == 0


def test_a_marker_that_makes_a_field_too_long_is_an_error_without_the_text(conn: Connection[Any]) -> None:
    policy(conn, "redact")
    title = "pwd=a1b2 " * 400
    with refused(conn, "54000"):
        remember(conn, "x", title=title)


def test_a_note_is_scanned_and_never_refused(conn: Connection[Any]) -> None:
    switch_on(conn)
    ids = talk(conn)
    policy(conn, "refuse", "refuse")
    assert note(conn, claim(conn), **{f"The_password_is_{PASSWORD}": ids[:1]}) > 0
    assert scalar(conn, "SELECT m.content FROM pgrecall.memories m WHERE m.category = 'note'") == (
        "The password is [redacted: password]"
    )


def test_a_second_scan_finds_nothing(conn: Connection[Any]) -> None:
    for label in labels(7):
        clean, kinds = redacted(conn, label.text)
        if kinds is not None:
            assert redacted(conn, clean) == (clean, None)


def test_the_counts_go_with_the_memories(conn: Connection[Any]) -> None:
    memory_id = remember(conn, f"{SAID} and {KEY}")
    assert found(conn) == {"password": 1, "aws-access-key": 1}
    rows(conn, "erase", memory_id)
    assert found(conn) == {}


def test_the_history_that_an_import_brings_has_no_secret_either(conn: Connection[Any]) -> None:
    policy(conn, "allow")
    memory_id = remember(conn, SAID)
    call(conn, "update_memory", memory_id, content="my password is in the vault")
    lines = [json.loads(line) for line in rows(conn, "pgrecall.export_records")]
    change = next(line for line in lines if line["kind"] == "change") | {"memory": memory_id}
    conn.execute("DELETE FROM pgrecall.memory_changes")
    policy(conn, "redact")
    outcomes = [rows(conn, "pgrecall.import_records", Jsonb([change]))[0][1] for _ in range(2)]
    assert outcomes == ["stored", "present"]
    before = scalar(conn, "SELECT c.before FROM pgrecall.memory_changes c")
    assert before["content"] == "my password is [redacted: password]"
