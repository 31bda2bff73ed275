"""JSON Lines into memories: what a line means, which lines are refused and why, and that nothing is lost."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo

from pgrecall import Client, InvalidInput, NewMemory, PermissionDenied, PgrecallError
from pgrecall.jsonl.load import FIELDS, LANGUAGES, ImportReport, Rejection, import_jsonl, parse_line

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    import psycopg


def _line(**record: Any) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _parse(**record: Any) -> NewMemory:
    memory = parse_line(_line(**record))
    assert memory is not None
    return memory


# -- what a line means


def test_known_keys_and_their_short_forms() -> None:
    memory = _parse(
        id=17,
        content="Tee",
        title="t",
        lang="de",
        category="c",
        tags=["a"],
        expanded_keywords=["k"],
        importance=1,
        metadata={"m": 1},
        source="chat",
        session="s",
        speaker="Lea",
        position=4,
        occurred_at="2026-05-17T12:00:00+02:00",
        created_at="2026-05-18",
        valid_from="2026-05-17T00:00:00Z",
        valid_to="2026-05-19T00:00:00.5",
        is_sensitive=True,
        mood={"glad": True},
        room=3,
    )
    assert memory == NewMemory(
        external_id="17",
        content="Tee",
        title="t",
        language="german",
        category="c",
        tags=["a"],
        expanded_keywords=["k"],
        importance=1,
        metadata={"m": 1, "mood": {"glad": True}, "room": 3},
        source="chat",
        session="s",
        speaker="Lea",
        position=4,
        occurred_at=datetime.fromisoformat("2026-05-17T12:00:00+02:00"),
        created_at=datetime(2026, 5, 18),  # noqa: DTZ001 - the client takes it as UTC
        valid_from=datetime(2026, 5, 17, tzinfo=UTC),
        valid_to=datetime(2026, 5, 19, 0, 0, 0, 500_000),  # noqa: DTZ001
        is_sensitive=True,
    )


def test_null_is_absent() -> None:
    assert _parse(content="x", id=None, tags=None, metadata=None, position=None, odd=None) == NewMemory(
        content="x"
    )


def test_ids() -> None:
    assert _parse(content="x", id="a/b").external_id == "a/b"
    assert _parse(content="x", external_id=3).external_id == "3"
    assert _parse(content="x", id="").external_id is None
    both = _parse(content="x", external_id="e", id=9)
    assert both.external_id == "e"
    assert both.metadata == {"id": 9}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("de", "german"),
        ("EN", "english"),
        ("pt-BR", "portuguese"),
        ("es_MX", "spanish"),
        ("german", "german"),
        ("simple", "simple"),
        ("zh", "simple"),
        ("klingon", "simple"),
    ],
)
def test_languages(given: str, meant: str) -> None:
    assert _parse(content="x", lang=given).language == meant
    assert _parse(content="x", language=given).language == meant


def test_every_language_is_known_to_the_server(conn: psycopg.Connection[Any]) -> None:
    known = {row[0] for row in conn.execute("SELECT cfgname FROM pg_ts_config")}
    assert set(LANGUAGES.values()) <= known


def test_every_field_of_a_memory_has_its_key(conn: psycopg.Connection[Any]) -> None:
    query = "SELECT attname FROM pg_attribute WHERE attrelid = 'pgrecall.memory_fields'::regclass"
    assert {name for (name,) in conn.execute(query)} == FIELDS - {"id", "lang"}


@pytest.mark.parametrize(
    ("line", "origin", "kept"),
    [
        ({}, "import", "import"),
        ({"origin": "web"}, "web", "web"),
        ({"origin": "tool"}, "tool", "tool"),
        ({"origin": "user"}, "import", "user"),
        ({"origin": "Oaxaca"}, "import", "import"),
        ({"origin": ["web"]}, "import", "import"),
    ],
)
def test_a_line_may_say_that_it_is_less_trusted(
    client: Client, line: dict[str, Any], origin: str, kept: str
) -> None:
    for keeps, expected in ((False, origin), (True, kept)):
        lines = [_line(content="tea", id=str(keeps), **line)]
        assert import_jsonl(client, lines, keep_origins=keeps).stored == 1
        [memory] = [one for one in client.list() if one.external_id == str(keeps)]
        assert memory.origin == expected
        is_known = isinstance(line.get("origin"), str) and line["origin"] != "Oaxaca"
        assert memory.metadata == ({} if is_known else line)


@pytest.mark.parametrize("raw", [b"", b"\n", b"  \t\r\n"])
def test_blank_lines_are_passed_over(raw: bytes) -> None:
    assert parse_line(raw) is None


# -- which lines are refused

REFUSED: list[tuple[bytes, str]] = [
    (b"no json", "not JSON"),
    (b'{"content": "x"', "not JSON"),
    (b'{"content": "x"} {}', "not JSON"),
    (b'{"content": "x", "importance": NaN}', "not JSON"),
    (b'{"content": "x", "v": Infinity}', "not JSON"),
    (b'{"content": "x", "v": 1e999}', "metadata holds a number"),
    (b'{"content": "x", "v": ' + b"9" * 5000 + b"}", "a number that is too large"),
    (b'["x"]', "not a JSON object"),
    (b'"x"', "not a JSON object"),
    (b'{"content": "\xff"}', "not UTF-8 at byte 14"),
    (b"[" * 100_000, "nested too deeply"),
    (_line(title="x"), "content is missing"),
    (_line(content=None), "content is missing"),
    (_line(content=""), "content is blank"),
    (_line(content=" \n\t"), "content is blank"),
    (_line(content=7), "content must be text, not int"),
    (_line(content="a\x00b"), "content contains a NUL"),
    (b'{"content": "\\ud83d"}', "content contains half a surrogate"),
    (_line(content="é" * 131_073), "content has 262146 bytes"),
    (_line(content="x", title="a\x00b"), "title contains a NUL"),
    (_line(content="x", title=7), "title must be text"),
    (_line(content="x", title="x" * 5000), "title is too long"),
    (_line(content="x", category=["c"]), "category must be text"),
    (_line(content="x", speaker=7), "speaker must be text"),
    (_line(content="x", session=True), "session must be a string or an integer, not a boolean"),
    (_line(content="x", id=1.5), "external_id must be a string or an integer, not a number"),
    (_line(content="x", id=False), "external_id must be a string or an integer, not a boolean"),
    (_line(content="x", id=[1]), "external_id must be a string or an integer, not a list"),
    (_line(content="x", id={"a": 1}), "external_id must be a string or an integer, not an object"),
    (_line(content="x", tags="a"), "tags must be a list"),
    (_line(content="x", tags=[1]), "must be text, not int"),
    (_line(content="x", tags=["a\x00b"]), "contains a NUL"),
    (_line(content="x", tags=["t"] * 300), "tags has 300 items"),
    (_line(content="x", tags=["t" * 9000] * 2), "tags is too long"),
    (_line(content="x", expanded_keywords={"a": 1}), "expanded_keywords must be a list"),
    (_line(content="x", importance=1.01), "importance must lie between 0 and 1"),
    (_line(content="x", importance=-1), "importance must lie between 0 and 1"),
    (_line(content="x", importance=True), "importance must be a number, not bool"),
    (_line(content="x", importance="0.5"), "importance must be a number, not str"),
    (_line(content="x", position=1.5), "position must be a whole number"),
    (_line(content="x", position=True), "position must be a whole number"),
    (_line(content="x", position="1"), "position must be a whole number"),
    (_line(content="x", position=2**31), "position is out of range"),
    (_line(content="x", metadata=[1]), "metadata must be an object, not a list"),
    (_line(content="x", metadata={"a": 1}, a=2), "inside and outside metadata"),
    (_line(content="x", is_sensitive="yes"), "is_sensitive must be true or false"),
    (_line(content="x", is_sensitive=1), "is_sensitive must be true or false"),
    (_line(content="x", lang=7), "lang must be a string"),
    (_line(content="x", occurred_at="yesterday"), "occurred_at is not an ISO 8601 time"),
    (_line(content="x", occurred_at="2026-02-30"), "occurred_at is not an ISO 8601 time"),
    (_line(content="x", created_at=1_700_000_000), "created_at must be an ISO 8601 string"),
    (_line(content="x", occurred_at="0001-01-01T00:00:00+09:00"), "occurred_at is outside the years"),
    (_line(content="x", valid_from="2026-05-18", valid_to="2026-05-17"), "valid_to is before valid_from"),
]


@pytest.mark.parametrize(("raw", "reason"), REFUSED, ids=[reason for _, reason in REFUSED])
def test_refused_lines(raw: bytes, reason: str) -> None:
    with pytest.raises(PgrecallError) as caught:
        parse_line(raw)
    assert reason in caught.value.message


def test_a_reason_quotes_nothing_of_the_line() -> None:
    raw = _line(content="x", title="a secret" * 1000, occurred_at="another secret")
    with pytest.raises(InvalidInput) as caught:
        parse_line(raw)
    assert "secret" not in str(caught.value)


def test_bad_lines_are_reported_and_cost_only_themselves(client: Client) -> None:
    good = [_line(id=number, content=f"fact {number}") for number in range(len(REFUSED))]
    lines = [line for pair in zip(good, (raw for raw, _ in REFUSED), strict=True) for line in pair]
    report = import_jsonl(client, lines)
    assert report.stored == len(good)
    assert report.present == 0
    assert [rejection.line for rejection in report.rejected] == list(range(2, 2 * len(good) + 1, 2))
    assert all(
        reason in rejection.reason for rejection, (_, reason) in zip(report.rejected, REFUSED, strict=True)
    )
    assert client.admin.status().memories == len(good)


def test_what_only_the_server_refuses_is_found_by_halving(
    client: Client, conn: psycopg.Connection[Any]
) -> None:
    conn.execute("ALTER TABLE pgrecall.memories ADD CONSTRAINT no_coffee CHECK (content NOT LIKE '%coffee%')")
    drinks = ["coffee" if number in (0, 7, 8, 99) else "tea" for number in range(100)]
    # Without ids: what is stored before the refusal must not be stored again after it.
    report = import_jsonl(client, [_line(content=f"{drink} {n}") for n, drink in enumerate(drinks)])
    assert [rejection.line for rejection in report.rejected] == [1, 8, 9, 100]
    assert "coffee" not in " ".join(rejection.reason for rejection in report.rejected).replace(
        "no_coffee", ""
    )
    assert (report.stored, report.without_id) == (96, 96)
    assert client.admin.status().memories == 96


def test_errors_that_are_no_lines_fault_end_the_import(dsn: str) -> None:
    with (
        Client(make_conninfo(dsn, options="-c role=pgrecall_reader")) as reader,
        pytest.raises(PermissionDenied) as caught,
    ):
        import_jsonl(reader, [_line(content="x")])
    assert caught.value.sqlstate == "42501"
    assert caught.value.hint


# -- importing again


def test_importing_twice_changes_nothing(client: Client, conn: psycopg.Connection[Any]) -> None:
    lines = [_line(id=number, content=f"fact {number}") for number in range(1200)]
    first = import_jsonl(client, lines)
    assert (first.stored, first.present) == (1200, 0)
    before = conn.execute("SELECT id, content, updated_at FROM pgrecall.memories ORDER BY id").fetchall()
    second = import_jsonl(client, [*lines, _line(id="new", content="one more")])
    assert (second.stored, second.present, second.rejected) == (1, 1200, ())
    after = conn.execute("SELECT id, content, updated_at FROM pgrecall.memories ORDER BY id").fetchall()
    assert after[:1200] == before


def test_an_id_twice_in_one_file_is_stored_once(client: Client) -> None:
    lines = [_line(id=number % 600, content=f"fact {number % 600}") for number in range(1200)]
    report = import_jsonl(client, [lines[0], *lines])
    assert (report.stored, report.present) == (600, 601)


def test_a_changed_or_forgotten_memory_stays_as_it_is(client: Client) -> None:
    import_jsonl(client, [_line(id=1, content="old"), _line(id=2, content="gone")])
    client.forget(client.recall("gone", embed=False)[0].id)
    report = import_jsonl(client, [_line(id=1, content="new"), _line(id=2, content="gone")])
    assert (report.stored, report.present) == (0, 2)
    assert [memory.content for memory in client.recall("old", embed=False)] == ["old"]
    assert len(client.recall("gone", embed=False)) == 0


def test_lines_without_an_id_are_counted(client: Client) -> None:
    report = import_jsonl(client, [_line(content="a"), _line(content="b", id=1), _line(content="c", id="")])
    assert (report.stored, report.without_id) == (3, 2)


# -- namespaces


def _found(client: Client, namespace: str) -> list[dict[str, Any]]:
    return [dict(memory.metadata) for memory in client.recall("tea", namespace=namespace, embed=False)]


def test_one_namespace_for_all(client: Client) -> None:
    report = import_jsonl(client, [_line(content="tea")], namespace="mine")
    assert report.namespaces == ("mine",)
    assert len(_found(client, "mine")) == 1
    assert _found(client, "default") == []


def test_without_a_name_the_database_decides(client: Client) -> None:
    assert import_jsonl(client, [_line(content="tea")]).namespaces == ()
    assert len(_found(client, "default")) == 1


def test_one_namespace_a_value(client: Client) -> None:
    lines = [
        _line(content="tea", id=1, conversation="c1", extra=1),
        _line(content="tea", id=1, conversation=2),
        _line(content="tea", id=2),
        _line(content="tea", conversation=" "),
        _line(content="tea", conversation=["c1"]),
        _line(content="tea", conversation="x" * 300),
    ]
    report = import_jsonl(client, lines, namespace_field="conversation")
    assert report.stored == 2
    assert set(report.namespaces) == {"c1", "2"}
    assert [rejection.line for rejection in report.rejected] == [3, 4, 5, 6]
    assert "'conversation'" in report.rejected[0].reason
    # The namespace says it already.
    assert _found(client, "c1") == [{"extra": 1}]


def test_lines_that_name_no_namespace_go_to_the_given_one(client: Client) -> None:
    lines = [_line(content="tea", conversation="c1"), _line(content="tea")]
    report = import_jsonl(client, lines, namespace="rest", namespace_field="conversation")
    assert set(report.namespaces) == {"c1", "rest"}
    assert len(_found(client, "rest")) == 1


def test_a_column_may_name_the_namespace_and_keeps_its_value(client: Client) -> None:
    import_jsonl(client, [_line(content="tea", session=5)], namespace_field="session")
    (memory,) = client.recall("tea", namespace="5", embed=False)
    assert memory.session == "5"


# -- files


def test_nothing_to_import(client: Client) -> None:
    empty = ImportReport(stored=0, present=0, without_id=0, namespaces=(), rejected=())
    assert import_jsonl(client, []) == empty
    assert import_jsonl(client, [b"\n", b"  \n"]) == empty


def test_a_byte_order_mark_and_line_ends_of_windows(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + b'{"content": "tea"}\r\n\r\n{"content": "more tea"}')
    with file.open("rb") as lines:
        assert import_jsonl(client, lines).stored == 2


def test_lines_of_more_than_a_megabyte(client: Client) -> None:
    large = _line(content="tea", notes="x" * 200_000).replace(b"{", b"{" + b" " * 1_500_000, 1)
    lines = [large, _line(content="x" * 1_500_000), large, large, _line(content="tea", notes="x" * 1_500_000)]
    report = import_jsonl(client, lines)
    assert report.stored == 3
    assert report.rejected[0] == Rejection(2, "content has 1500000 bytes; the limit is 262144")
    assert [(one.line, "metadata" in one.reason) for one in report.rejected[1:]] == [(5, True)]


def test_lines_are_read_as_they_are_stored(client: Client) -> None:
    stored: list[int] = []

    def lines() -> Iterable[bytes]:
        for number in range(1001):
            if number in (600, 1000):
                stored.append(client.admin.status().memories)
            yield _line(content=f"fact {number}")

    assert import_jsonl(client, lines()).stored == 1001
    assert stored == [500, 1000]


def test_progress_adds_up_to_the_size_of_the_file(client: Client) -> None:
    lines = [_line(content=f"fact {number}") for number in range(700)] + [b"bad\n", b"\n"]
    seen: list[int] = []
    import_jsonl(client, lines, progress=seen.append)
    assert sum(seen) == sum(map(len, lines))
    assert len(seen) > 1


def test_lines_of_a_session_get_positions_in_their_order(
    client: Client, conn: psycopg.Connection[Any]
) -> None:
    lines = [
        _line(content="a1", session="a"),
        _line(content="b1", session="b"),
        _line(content="a2", session="a"),
        _line(content="alone"),
        _line(content="a3", session="a", position=9),
        _line(content="a4", session="a"),
        _line(content="other", session="a", team="elsewhere"),
        _line(content="late", session="z", position=2**31 - 1),
        _line(content="later", session="z"),
    ]
    report = import_jsonl(client, lines, namespace_field="team", namespace="default")
    assert (report.stored, report.placed) == (9, 6)
    found = dict(conn.execute('SELECT content, "position" FROM pgrecall.memories').fetchall())
    assert found == {
        "a1": 0, "b1": 0, "a2": 1, "alone": None, "a3": 9, "a4": 10, "other": 0, "late": 2**31 - 1, "later": 2**31 - 1,
    }  # fmt: skip
