"""Export and import: every field comes back, nothing sensitive gets out unasked, and importing again changes nothing."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import dict_row
from typer.testing import CliRunner

from pgrecall import Client, PermissionDenied, UnknownNamespace
from pgrecall.cli import app
from pgrecall.jsonl.load import ImportReport, Rejection, import_jsonl
from support.backup import DIMENSION, MODEL, OTHER_DIMENSION, OTHER_MODEL, SECRET, embed_all, fill, prepared
from support.memories import contents, refused, remember, remember_many, rows, share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from psycopg import Connection

ALL = """
    SELECT n.name AS namespace, n.language AS namespace_language, s.external_id AS successor, s.content AS follows,
           to_jsonb(m) - ARRAY['id', 'namespace_id', 'superseded_by', 'embedding', 'embedding_2'] AS fields,
           m.embedding::text AS embedding
    FROM pgrecall.memories m
    JOIN pgrecall.namespaces n ON n.id = m.namespace_id
    LEFT JOIN pgrecall.memories s ON s.id = m.superseded_by
    ORDER BY 1, m.created_at, m.content, m.external_id
"""


@pytest.fixture(scope="module")
def full(new_database: Callable[..., str]) -> Iterator[Client]:
    """A database with everything in it; no test writes there."""
    dsn = new_database()
    fill(dsn)
    with Client(dsn) as client:
        yield client


@pytest.fixture(scope="module")
def empty(new_database: Callable[..., str]) -> str:
    """Name of a database for the embeddings of the other one, that nobody connects to."""
    return str(conninfo_to_dict(prepared(new_database()))["dbname"])


@pytest.fixture
def target(new_database: Callable[..., str], empty: str) -> Iterator[Client]:
    with Client(new_database(empty)) as client:
        yield client


def stored(client: Client) -> list[dict[str, Any]]:
    with psycopg.connect(client.open().dsn, autocommit=True, row_factory=dict_row) as conn:
        return conn.execute(ALL.encode()).fetchall()


def bring(client: Client, lines: Sequence[str]) -> ImportReport:
    return import_jsonl(client, [f"{line}\n".encode() for line in lines], keep_origins=True)


def everything(client: Client) -> list[str]:
    return list(client.transfer.export_memories(include_sensitive=True, include_forgotten=True))


def changed(line: str, **fields: Any) -> str:
    return json.dumps({key: value for key, value in (json.loads(line) | fields).items() if value is not None})


# -- the round trip


@pytest.mark.parametrize("seed", [None, 1])
def test_everything_comes_back(full: Client, target: Client, seed: int | None) -> None:
    lines = everything(full)
    if seed is not None:
        random.Random(seed).shuffle(lines)
    report = bring(target, lines)
    assert (report.stored, report.present, report.differing, report.rejected) == (len(lines), 0, 0, ())
    assert set(report.namespaces) == {"priya", "lea"}
    assert stored(target) == stored(full)
    assert report.embedded == sum(row["embedding"] is not None for row in stored(full)) > 10
    # The other generation is not there.
    assert report.left_out == {f"{OTHER_MODEL} ({OTHER_DIMENSION})": report.embedded}


def test_importing_again_changes_nothing(full: Client, target: Client) -> None:
    lines = everything(full)
    bring(target, lines)
    with psycopg.connect(target.open().dsn, autocommit=True) as conn:
        before = contents(conn)
        report = bring(target, lines)
        assert (report.stored, report.present) == (0, len(lines))
        assert (report.embedded, report.left_out) == (0, {})
        assert contents(conn) == before


def test_numbers_keep_their_digits(target: Client) -> None:
    """Whatever a database, a role or PGOPTIONS sets for how numbers are shown."""
    seventh = 0.14285715  # the nearest real to a seventh
    with Client(make_conninfo(target.open().dsn, options="-c extra_float_digits=-3")) as rounding:
        id = rounding.remember("a seventh", importance=seventh)
        lines = everything(rounding)
        assert [json.loads(line)["importance"] for line in lines] == [seventh]
        report = bring(rounding, lines)
        assert (report.present, report.differing) == (1, 0)
        rounding.update(id, importance=2 * seventh)
        shown = [(one.before, one.after) for one in rounding.history(id)]
    assert shown[1:] == [({"importance": seventh}, {"importance": 2 * seventh})]


def test_an_import_that_was_interrupted_is_completed(full: Client, target: Client) -> None:
    lines = everything(full)
    superseded = next(place for place, line in enumerate(lines) if "superseded_by" in json.loads(line))
    target.transfer.import_memories(lines[: superseded + 1], keep_origins=True)
    # Until it is known what supersedes it, it is not recalled as if it still held.
    fields = stored(target)[superseded]["fields"]
    assert (fields["deleted_at"], stored(target)[superseded]["follows"]) == (
        "1000-01-01T00:00:00+00:00",
        None,
    )
    bring(target, lines)
    assert stored(target) == stored(full)


texts = st.text(
    st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=30
).filter(str.strip)
labels = st.text("aäß7 Ж語", min_size=1, max_size=12).filter(str.strip)
# What every time zone has.
times = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001
plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | labels
memories = st.lists(
    st.fixed_dictionaries(
        {"content": texts.map(lambda text: f"{text} x")},
        optional={
            "title": labels,
            "category": labels,
            "tags": st.lists(labels, max_size=3),
            "expanded_keywords": st.lists(labels, max_size=3),
            "importance": st.floats(0, 1, width=32),
            "metadata": st.dictionaries(
                labels, plain | st.lists(plain, max_size=2) | st.just({"deep": None})
            ),
            "source": labels,
            "session": labels,
            "speaker": labels,
            "position": st.integers(-(2**31), 2**31 - 1),
            "language": st.sampled_from(["english", "german", "simple"]),
            "is_sensitive": st.booleans(),
            "occurred_at": times.map(lambda time: time.isoformat()),
            "created_at": times.map(lambda time: time.isoformat()),
            "valid_from": times.map(lambda time: time.isoformat()),
            "namespace": labels,
        },
    ),
    min_size=1,
    max_size=5,
    unique_by=lambda memory: memory["content"],
)


@given(memories)
@settings(max_examples=15)
def test_any_memory_comes_back(pair_of_databases: tuple[Client, Client], given_memories: Any) -> None:
    there, here = pair_of_databases
    for client in (there, here):
        with psycopg.connect(client.open().dsn, autocommit=True) as conn:
            conn.execute("TRUNCATE pgrecall.memories CASCADE")
    with psycopg.connect(there.open().dsn, autocommit=True) as conn:
        remember_many(conn, given_memories, create_namespace=True)
        embed_all(conn)
    report = bring(here, everything(there))
    assert (report.stored, report.rejected) == (len(given_memories), ())
    assert stored(here) == stored(there)


@pytest.fixture(scope="module")
def pair_of_databases(new_database: Callable[..., str], empty: str) -> Iterator[tuple[Client, Client]]:
    with Client(new_database(empty)) as there, Client(new_database(empty)) as here:
        yield there, here


# -- what is left out


def test_sensitive_and_forgotten_ones_only_if_asked_for(full: Client) -> None:
    assert not any(SECRET in line for line in full.transfer.export_memories(include_forgotten=True))
    assert sum(SECRET in line for line in full.transfer.export_memories(include_sensitive=True)) == 1
    assert not any(
        "deleted_at" in json.loads(line) for line in full.transfer.export_memories(include_sensitive=True)
    )
    forgotten = [
        line
        for line in full.transfer.export_memories(include_forgotten=True)
        if "deleted_at" in json.loads(line)
    ]
    assert len(forgotten) == 1


def test_one_namespace(full: Client) -> None:
    found = [json.loads(line) for line in full.transfer.export_memories("lea")]
    assert {(line["namespace"], line["namespace_language"]) for line in found} == {("lea", "german")}
    assert len(found) == 5
    with pytest.raises(UnknownNamespace):
        next(full.transfer.export_memories("nobody"))


def test_what_supersedes_and_is_left_out_is_passed_over(
    dsn: str, conn: Connection[Any], client: Client
) -> None:
    first, lost = remember(conn, "one"), remember(conn, "alone")
    (second,) = rows(conn, "supersede", first, "two")
    (third,) = rows(conn, "supersede", second, "three")
    (_,) = rows(conn, "supersede", lost, "a secret")
    conn.execute("UPDATE pgrecall.memories SET is_sensitive = true WHERE content IN ('two', 'a secret')")
    found = {
        line["content"]: line.get("superseded_by")
        for line in map(json.loads, client.transfer.export_memories())
    }
    assert found == {"one": third, "three": None}
    assert len(list(client.transfer.export_memories(include_sensitive=True))) == 5


# -- embeddings


def test_an_embedding_of_another_text_is_left_out(full: Client, target: Client) -> None:
    line = next(full.transfer.export_memories("lea"))
    report = bring(target, [changed(line, content="another text")])
    assert (report.stored, report.embedded) == (1, 0)
    assert report.left_out[f"{MODEL} ({DIMENSION})"] == 1
    assert target.admin.status().pending == 1


def test_an_embedding_of_a_memory_that_became_sensitive_is_left_out(full: Client, target: Client) -> None:
    bring(target, [changed(next(full.transfer.export_memories("lea")), is_sensitive=True)])
    [row] = stored(target)
    assert (row["embedding"], row["fields"]["is_sensitive"]) == (None, True)


def test_what_is_no_embedding_is_refused(full: Client, target: Client) -> None:
    lines = list(full.transfer.export_memories("lea"))
    for place, vec in enumerate(["[1,2]", "[0,0,0,0,0,0,0,0]", "[1,2,3,4,5,6,7,NaN]", "nothing"]):
        wrong = [{"model": MODEL, "dimension": DIMENSION, "vector": vec}]
        lines[place] = changed(lines[place], embeddings=wrong)
    report = bring(target, lines)
    assert (report.stored, [rejection.line for rejection in report.rejected]) == (1, [1, 2, 3, 4])


# -- what is refused, and what stays


def test_what_is_there_stays(target: Client, full: Client) -> None:
    line = changed(next(full.transfer.export_memories("lea")), external_id="mine")
    target.remember("my own", external_id="mine", namespace="lea", create_namespace=True)
    before = stored(target)
    report = bring(target, [line])
    assert (report.stored, report.present, report.differing) == (0, 1, 1)
    assert stored(target) == before


def test_lines_that_say_the_same_are_one_memory(full: Client, target: Client) -> None:
    line = next(full.transfer.export_memories("lea"))
    report = bring(target, [line, changed(line, id=10_001), changed(line, external_id="e"), line])
    assert (report.stored, report.present) == (2, 2)


BAD: list[dict[str, Any]] = [
    {"pgrecall": 2},
    {"id": None},
    {"id": "7"},
    {"id": 1.5},
    {"namespace": None},
    {"namespace": 7},
    {"created_at": None},
    {"created_at": "soon"},
    {"updated_at": "soon"},
    {"superseded_by": -1},
    {"text_hash": "xyz"},
    {"embeddings": [1]},
    {"embeddings": {}},
    {"content": None},
    {"language": "klingon"},
    {"colour": "red"},
    {"importance": 2},
]


def test_bad_lines_cost_only_themselves(full: Client, target: Client) -> None:
    good, bad = list(full.transfer.export_memories("lea"))[:2]
    lines = [changed(bad, **fields, title=SECRET) for fields in BAD]
    report = bring(target, [good, *lines, bad])
    assert report.stored == 2
    assert [rejection.line for rejection in report.rejected] == list(range(2, len(BAD) + 2))
    assert not any(SECRET in rejection.reason for rejection in report.rejected)


def test_superseded_by_what_is_not_there(full: Client, target: Client) -> None:
    line = changed(next(full.transfer.export_memories("lea")), superseded_by=10_001)
    report = bring(target, [line])
    assert report.rejected == (
        Rejection(
            1, "its successor is not among the lines, or its id is that of several: it stays forgotten"
        ),
    )
    assert target.admin.status().memories == 0


def test_superseded_in_a_circle(full: Client, target: Client) -> None:
    one, two = (json.loads(line) for line in list(full.transfer.export_memories("lea"))[:2])
    lines = [json.dumps(one | {"superseded_by": two["id"]}), json.dumps(two | {"superseded_by": one["id"]})]
    report = bring(target, lines)
    assert [rejection.line for rejection in report.rejected] == [2]
    assert "in a circle" in report.rejected[0].reason


def test_nothing_is_stored_of_a_call_that_is_refused(full: Client, conn: Connection[Any]) -> None:
    line = next(full.transfer.export_memories("lea"))
    for lines in ([line, changed(line, id="x")], "no array"):
        with refused(conn, "22023"):
            conn.execute(
                "SELECT pgrecall.import_memories(%s)",
                (f"[{','.join(lines)}]" if isinstance(lines, list) else json.dumps(lines),),
            )
    with refused(conn, "22023"):
        conn.execute("SELECT pgrecall.link_imported_memories('{}')")


def test_new_memories_and_lines_of_an_export_in_one_file(full: Client, target: Client) -> None:
    line = changed(next(full.transfer.export_memories("lea")), external_id="e")
    new = [json.dumps({"id": name, "content": f"new {name}"}) for name in ("a", "b")]
    report = bring(target, [new[0], line, new[1], new[0], line])
    assert (report.stored, report.present, report.without_id) == (3, 2, 0)


def test_lines_of_an_export_are_not_moved_to_another_namespace(full: Client, target: Client) -> None:
    lines = [f"{line}\n".encode() for line, _ in full.transfer.export("lea")]
    new = json.dumps({"id": "n", "content": "new"}).encode()
    report = import_jsonl(target, [*lines, new], namespace="elsewhere")
    refused_lines = [one.line for one in report.rejected]
    assert refused_lines == [
        place for place, line in enumerate(lines, 1) if json.loads(line).get("namespace") == "lea"
    ]
    assert "another namespace" in report.rejected[0].reason
    assert [one.content for one in target.list(namespace="elsewhere")] == ["new"]
    with psycopg.connect(target.open().dsn) as conn:
        assert conn.execute("SELECT count(*) FROM pgrecall.memories").fetchall() == [(1,)]
    # Named as the export names it, they are taken.
    report = import_jsonl(target, lines, namespace="lea", keep_origins=True)
    assert (report.stored, report.rejected) == (5, ())


# -- who may


def test_roles(full: Client, target: Client) -> None:
    lines = list(full.transfer.export_memories("lea"))
    dsn = target.open().dsn
    with Client(make_conninfo(dsn, options="-c role=pgrecall_writer")) as writer:
        # A tenant makes no namespaces: it imports into what it was given.
        with pytest.raises(PermissionDenied):
            bring(writer, lines)
        with psycopg.connect(dsn, autocommit=True) as owner:
            owner.execute("SELECT pgrecall.create_namespace('lea')")
            share(owner, "lea")
        assert bring(writer, lines).embedded == len(lines)
    with Client(make_conninfo(dsn, options="-c role=pgrecall_reader")) as reader:
        assert len(list(reader.transfer.export_memories())) == len(lines)
        with pytest.raises(PermissionDenied):
            bring(reader, lines)
    with (
        Client(make_conninfo(dsn, options="-c role=pgrecall_embedder")) as embedder,
        pytest.raises(PermissionDenied),
    ):
        list(embedder.transfer.export_memories())


# -- the command line


def test_commands(full: Client, target: Client, tmp_path: Path) -> None:
    file = tmp_path / "export.jsonl"
    run = CliRunner().invoke
    source, dsn = full.open().dsn, target.open().dsn
    done = run(app, ["export", "--dsn", source, "--include-forgotten", str(file)])
    memories = [line for line in file.read_bytes().splitlines() if b'"kind": ' not in line]
    assert (done.exit_code, done.stderr) == (0, f"{len(memories)} memories exported\n")
    assert file.stat().st_mode & 0o777 == 0o600
    assert SECRET not in file.read_text("utf-8")
    done = run(app, ["import", "--dsn", dsn, str(file)])
    assert done.exit_code == 0, done.output
    assert f"{OTHER_MODEL} ({OTHER_DIMENSION}) skipped" in done.stderr
    assert "embeddings stored" in done.stdout
    again = run(app, ["export", "--dsn", dsn, "--include-forgotten", "-n", "lea"])
    assert again.exit_code == 0
    assert sum('"kind": ' not in line for line in again.stdout.splitlines()) == 5


def test_an_export_that_fails_leaves_no_file(full: Client, tmp_path: Path) -> None:
    file = tmp_path / "export.jsonl"
    file.write_text("before")
    source = full.open().dsn
    done = CliRunner().invoke(app, ["export", "--dsn", source, "-n", "nobody", str(file)])
    assert done.exit_code == 1
    assert [path.name for path in tmp_path.iterdir()] == ["export.jsonl"]
    assert file.read_text() == "before"
    assert CliRunner().invoke(app, ["export", "--dsn", source, str(tmp_path)]).exit_code == 2
    assert CliRunner().invoke(app, ["export", "--dsn", source, str(tmp_path / "no" / "file")]).exit_code == 1


def test_an_import_says_for_itself_that_it_is_one(target: Client) -> None:
    times = {"pgrecall": 1, "namespace": "files", "created_at": "2026-01-01T00:00:00Z"}
    lines = [
        json.dumps({**times, "id": number, "content": f"tea {origin}", "origin": origin})
        for number, origin in enumerate(("web", "import", "user"))
    ]
    ids = [row["id"] for row in target.transfer.import_memories(lines)]
    assert [memory.origin for memory in target.get_many(ids)] == ["web", "import", "import"]
    assert [row["outcome"] for row in target.transfer.import_memories(lines)] == ["present"] * 3
    again = [line.replace('"files"', '"kept"') for line in lines]
    ids = [row["id"] for row in target.transfer.import_memories(again, keep_origins=True)]
    assert [memory.origin for memory in target.get_many(ids)] == ["web", "import", "user"]
    import_jsonl(target, [b'{"id": "x", "content": "milk", "origin": "user"}'], namespace="files")
    [memory] = target.get_many(external_ids=["x"], namespace="files")
    assert memory.origin == "import"
