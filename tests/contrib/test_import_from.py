"""Adopting: nothing is lost, nothing comes twice, what is sensitive is so from the first, and runs can be repeated."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall import Client, InvalidInput
from pgrecall.contrib.importers import verify
from pgrecall.contrib.importers.git import git_source
from pgrecall.contrib.importers.jsonl import jsonl_source
from pgrecall.contrib.importers.markdown import markdown_source
from pgrecall.contrib.importers.rows import MAX_ROW_BYTES
from pgrecall.contrib.importers.sqlite import sqlite_source
from support.import_from import COLUMNS, note, older_file, outcome, run, stored_memories
from support.memories import remember, scalar

if TYPE_CHECKING:
    from pathlib import Path

    import psycopg

# -- what comes along


def test_every_field_comes_along(client: Client, conn: psycopg.Connection[Any], tmp_path: Path) -> None:
    record = {
        "id": 17,
        "content": "Tea at four",
        "title": "Tea",
        "category": "habit",
        "tags": '["tea", "four", "tea"]',
        "expanded_keywords": "beverage, afternoon ,",
        "importance": 8,
        "is_sensitive": 0,
        "deleted_at": None,
        "created_at": 1735787045,
        "updated_at": "2025-02-03 04:05:06.5+02:00",
        "source": "chat",
        "session": 5,
        "speaker": "Lea",
        "position": "4",
        "language": "de",
        "occurred_at": "2025-01-01",
        "metadata": '{"room": 3}',
        "mood": "glad",
        "embedding": b"\xff\x00",
        "picture": b"\xff\x00",
    }
    columns = [f"{name} BLOB" if name == "picture" else name for name in record]
    file = older_file(tmp_path / "m.db", [dict(zip(columns, record.values(), strict=True))], columns)
    with sqlite_source(file, most=10) as source:
        assert any("mood" in sentence for sentence in source.found)
        assert "left out: embedding, picture" in source.found
    report, compared, rejected = run(client, sqlite_source(file, most=10))
    assert (outcome(report), rejected, compared.same, compared.holds) == ((1, 0, 0, 0), [], 1, True)
    memory = stored_memories(conn)["sqlite:17"]
    expected = {
        "content": "Tea at four",
        "title": "Tea",
        "category": "habit",
        "tags": ["tea", "four"],
        "expanded_keywords": ["beverage", "afternoon"],
        "importance": pytest.approx(0.8),
        "is_sensitive": False,
        "deleted_at": None,
        "created_at": datetime(2025, 1, 2, 3, 4, 5, tzinfo=UTC),
        "updated_at": datetime(2025, 2, 3, 2, 5, 6, 500_000, tzinfo=UTC),
        "source": "chat",
        "session": "5",
        "speaker": "Lea",
        "position": 4,
        "language": "german",
        "occurred_at": datetime(2025, 1, 1, tzinfo=UTC),
        "metadata": {"room": 3, "mood": "glad"},
    }
    assert {name: memory[name] for name in expected} == expected
    assert memory["origin"].items() >= {"kind": "sqlite", "id": "17", "is_deleted": False}.items()


def test_only_id_and_content_are_needed(
    client: Client, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    file = older_file(tmp_path / "m.db", [{"id": 1, "content": "tea"}], ("id", "content"))
    with sqlite_source(file) as source:
        assert "no column is_sensitive" in source.found[-1]
    assert outcome(run(client, sqlite_source(file))[0]) == (1, 0, 0, 0)
    assert stored_memories(conn)["sqlite:1"]["importance"] == 0.5


@pytest.mark.parametrize(("columns", "missing"), [(("content",), "'id'"), (("id", "text"), "'content'")])
def test_a_table_without_id_or_content_is_refused(
    tmp_path: Path, columns: tuple[str, ...], missing: str
) -> None:
    file = older_file(tmp_path / "m.db", [], columns)
    with pytest.raises(InvalidInput, match=missing), sqlite_source(file):
        pass


def test_what_is_sensitive_is_never_anything_else(
    client: Client, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    # Every version of every row that any transaction wrote is looked at by a trigger of the test's own.
    conn.execute("CREATE TABLE public.seen (is_sensitive boolean, external_id text)")
    conn.execute("""
        CREATE FUNCTION public.see() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
            INSERT INTO public.seen VALUES (NEW.is_sensitive, NEW.external_id);
            RETURN NULL;
        END $$;
        CREATE TRIGGER see AFTER INSERT OR UPDATE ON pgrecall.memories FOR EACH ROW EXECUTE FUNCTION public.see();
    """)
    flags = {1: 1, 2: "true", 3: None, 4: 0, 5: "f", 6: None}
    records = [note(number, is_sensitive=said, tags='["Zanzibar"]') for number, said in flags.items()]
    records[2]["metadata"] = '{"sensitive": "YES"}'
    file = older_file(tmp_path / "m.db", records, (*COLUMNS, "metadata"))
    report, compared, _ = run(client, sqlite_source(file))
    assert (report.sensitive, compared.same) == (3, 6)
    seen = conn.execute("SELECT DISTINCT external_id, is_sensitive FROM public.seen ORDER BY 1").fetchall()
    assert seen == [(f"sqlite:{number}", number <= 3) for number in flags]
    mentioning = "SELECT array_agg(DISTINCT m.memory_id ORDER BY m.memory_id) FROM pgrecall.mentions m"
    open_ones = [row["id"] for row in stored_memories(conn).values() if not row["is_sensitive"]]
    assert scalar(conn, mentioning) == open_ones


def test_a_flag_that_is_not_understood_costs_the_row(client: Client, tmp_path: Path) -> None:
    file = older_file(tmp_path / "m.db", [note(1, is_sensitive="maybe"), note(2, is_sensitive=2), note(3)])
    report, _, rejected = run(client, sqlite_source(file))
    assert (report.stored, [row.place for row in rejected]) == (1, ["id 1", "id 2"])
    assert {row.reason for row in rejected} == {"is_sensitive is neither true nor false"}


def test_deleted_rows_are_tombstones(client: Client, conn: psycopg.Connection[Any], tmp_path: Path) -> None:
    records = [note(1, deleted_at="2025-03-04 05:06:07"), note(2, deleted_at=0), note(3, deleted_at="")]
    report, compared, _ = run(client, sqlite_source(older_file(tmp_path / "m.db", records)))
    assert (report.stored, report.deleted, compared.same) == (3, 1, 3)
    stored = stored_memories(conn)
    assert stored["sqlite:1"]["deleted_at"] == datetime(2025, 3, 4, 5, 6, 7, tzinfo=UTC)
    assert {memory.external_id for memory in client.recall("fact number", embed=False)} == {
        "sqlite:2",
        "sqlite:3",
    }
    assert (
        scalar(
            conn, "SELECT count(*) FROM pgrecall.extractions WHERE memory_id = %s", stored["sqlite:1"]["id"]
        )
        == 0
    )


def test_deleted_rows_may_be_left_out_but_are_forgotten_if_they_are_here(
    client: Client, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    file = older_file(tmp_path / "m.db", [note(1), note(2, deleted_at="2025-03-04")])
    report, compared, _ = run(client, sqlite_source(file), keep_deleted=False)
    assert (report.stored, report.left_out, compared.holds) == (1, 1, True)
    older_file(file, [note(1, deleted_at="2025-03-04"), note(2, deleted_at="2025-03-04")])
    report, compared, _ = run(client, sqlite_source(file), keep_deleted=False)
    assert (report.updated, report.left_out, compared.holds) == (1, 1, True)
    assert stored_memories(conn)["sqlite:1"]["deleted_at"] is not None


# -- again


def test_a_second_run_adds_nothing(client: Client, conn: psycopg.Connection[Any], tmp_path: Path) -> None:
    file = older_file(tmp_path / "m.db", [note(number) for number in range(1200)])
    assert outcome(run(client, sqlite_source(file))[0]) == (1200, 0, 0, 0)
    before = stored_memories(conn)
    report, compared, _ = run(client, sqlite_source(file))
    assert (outcome(report), compared.same) == ((0, 0, 1200, 0), 1200)
    assert stored_memories(conn) == before


def test_what_has_changed_is_updated_and_the_rest_left_alone(
    client: Client, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    file = older_file(
        tmp_path / "m.db",
        [note(1, category="a", tags="x"), note(2), note(3), note(4), note(5, deleted_at="2025-03-04")],
    )
    run(client, sqlite_source(file))
    first = stored_memories(conn)
    client.update(first["sqlite:2"]["id"], content="said otherwise here")
    older_file(
        file,
        [
            note(1, content="another fact", updated_at="2026-01-01"),
            note(2),
            note(3, is_sensitive=1),
            note(4, deleted_at="2026-01-01"),
            note(5),
            note(6),
        ],
    )
    report, compared, rejected = run(client, sqlite_source(file))
    assert (outcome(report), rejected) == ((1, 4, 1, 0), [])
    assert (compared.same, compared.changed_here, compared.holds) == (5, 1, True)
    now = stored_memories(conn)
    assert {name: now[name]["id"] for name in first} == {name: first[name]["id"] for name in first}
    assert now["sqlite:1"]["content"] == "another fact"
    # What the row does not say any more is gone.
    assert (now["sqlite:1"]["category"], now["sqlite:1"]["tags"]) == (None, [])
    assert now["sqlite:1"]["updated_at"] == datetime(2026, 1, 1, tzinfo=UTC)
    assert now["sqlite:2"]["content"] == "said otherwise here"
    assert now["sqlite:3"]["is_sensitive"]
    assert now["sqlite:4"]["deleted_at"] == datetime(2026, 1, 1, tzinfo=UTC)
    assert now["sqlite:5"]["deleted_at"] is None


def test_a_memory_that_is_sensitive_here_stays_so(
    client: Client, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    file = older_file(tmp_path / "m.db", [note(1, is_sensitive=1), note(2)])
    run(client, sqlite_source(file))
    client.update(stored_memories(conn)["sqlite:2"]["id"], is_sensitive=True)
    older_file(file, [note(1, content="now open"), note(2, content="changed")])
    report, compared, _ = run(client, sqlite_source(file))
    assert (report.updated, compared.holds) == (2, True)
    assert all(memory["is_sensitive"] for memory in stored_memories(conn).values())


def test_what_was_forgotten_or_superseded_here_stays_so(
    client: Client, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    file = older_file(tmp_path / "m.db", [note(1), note(2)])
    run(client, sqlite_source(file))
    before = stored_memories(conn)
    client.forget(before["sqlite:1"]["id"])
    client.supersede(before["sqlite:2"]["id"], "what holds now")
    older_file(file, [note(1, content="changed"), note(2, content="changed")])
    report, compared, rejected = run(client, sqlite_source(file))
    assert (report.kept, report.updated, rejected) == (2, 0, [])
    assert (compared.changed_here, compared.holds) == (2, True)
    assert {row["content"] for row in stored_memories(conn).values()} == {
        "fact number 1",
        "fact number 2",
        "what holds now",
    }


def test_a_memory_that_was_not_imported_is_not_touched(
    client: Client, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    remember(conn, "mine", external_id="sqlite:1")
    report, _, rejected = run(client, sqlite_source(older_file(tmp_path / "m.db", [note(1), note(2)])))
    assert (report.stored, report.rejected) == (1, 1)
    assert [(row.place, "not imported" in row.reason) for row in rejected] == [("id 1", True)]
    assert stored_memories(conn)["sqlite:1"]["content"] == "mine"


def test_two_sources_of_a_kind_have_a_prefix_each(
    client: Client, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    file = older_file(tmp_path / "m.db", [note(1)])
    run(client, sqlite_source(file))
    assert outcome(run(client, sqlite_source(file), prefix="laptop")[0]) == (1, 0, 0, 0)
    assert set(stored_memories(conn)) == {"sqlite:1", "laptop:1"}


def test_an_id_twice_is_one_memory_and_is_told(client: Client, tmp_path: Path) -> None:
    file = older_file(tmp_path / "m.db", [note(1, content="first"), note(1, content="second"), note(2)])
    report, compared, rejected = run(client, sqlite_source(file))
    assert outcome(report) == (2, 1, 0, 0)
    assert (compared.same, compared.differing) == (2, 1)
    assert [row.place for row in rejected] == ["id 1"]


def test_a_dry_run_writes_nothing_and_foresees_everything(
    client: Client, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    file = older_file(tmp_path / "m.db", [note(1), note(2)])
    run(client, sqlite_source(file), namespace="there")
    records = [note(1), note(2, content="changed"), note(3), note(4, importance=7), note(5, deleted_at=1e9)]
    older_file(file, records)
    before = stored_memories(conn, "there"), scalar(conn, "SELECT last_value FROM pgrecall.memories_id_seq")
    report, _, _ = run(client, sqlite_source(file), namespace="there", dry_run=True)
    foreseen = outcome(report)
    assert foreseen == (2, 1, 1, 1)
    assert before == (
        stored_memories(conn, "there"),
        scalar(conn, "SELECT last_value FROM pgrecall.memories_id_seq"),
    )
    run(client, sqlite_source(file), namespace="nowhere", dry_run=True)
    assert scalar(conn, "SELECT count(*) FROM pgrecall.namespaces WHERE name = 'nowhere'") == 0
    assert outcome(run(client, sqlite_source(file), namespace="there")[0]) == foreseen


# -- what cannot come along

BAD: list[tuple[dict[str, Any], str]] = [
    ({"content": None}, "content is missing"),
    ({"content": "  "}, "content is blank"),
    ({"content": "a\x00secret"}, "content contains a NUL"),
    ({"content": b"secret \xff"}, "content is not UTF-8 at byte 8"),
    ({"content": "secret" * 50_000}, "content has 300000 bytes"),
    ({"content": "x", "category": "secret" * 2_000_000}, "more than"),
    ({"category": "secret" * 500}, "category is too long"),
    ({"tags": '["secret", '}, "tags is neither"),
    ({"tags": "[{}]"}, "tags must hold texts"),
    ({"tags": 7}, "tags must be a list"),
    ({"importance": "secret"}, "importance is not a number"),
    ({"importance": 7}, "importance must lie between 0 and 1"),
    ({"importance": float("inf")}, "importance must lie"),
    ({"created_at": "secret"}, "created_at is not an ISO 8601 time"),
    ({"created_at": "99999-01-01"}, "created_at is not an ISO 8601 time"),
    ({"created_at": 1e300}, "created_at is outside the years"),
    ({"deleted_at": "secret"}, "deleted_at is not an ISO 8601 time"),
    ({"updated_at": "0001-01-01T00:00:00+09:00"}, "updated_at is outside the years"),
    ({"id": None}, "it has no id"),
    ({"id": 1.5}, "id must be a text or a whole number"),
]


def test_bad_rows_cost_only_themselves(client: Client, conn: psycopg.Connection[Any], tmp_path: Path) -> None:
    conn.execute("ALTER TABLE pgrecall.memories ADD CHECK (content <> 'only the server refuses this')")
    records = [
        record for number, (bad, _) in enumerate(BAD) for record in (note(number), note(100 + number) | bad)
    ]
    records.append(note(999, content="only the server refuses this"))
    report, compared, rejected = run(client, sqlite_source(older_file(tmp_path / "m.db", records)))
    assert (report.stored, report.rejected) == (len(BAD), len(BAD) + 1)
    assert (compared.same, compared.holds) == (len(BAD), True)
    reasons = {row.place: row.reason for row in rejected}
    for number, (bad, reason) in enumerate(BAD):
        if "id" not in bad:
            assert reason in reasons[f"id {100 + number}"]
        else:
            assert any(reason in said for said in reasons.values())
    assert "violates check constraint" in reasons["id 999"]
    assert "secret" not in " ".join(reasons.values())


def test_a_row_of_ten_megabytes(client: Client, tmp_path: Path) -> None:
    assert MAX_ROW_BYTES < 10_000_000
    lines = [note(1), note(2, mood="x" * 10_000_000), note(3)]
    file = tmp_path / "m.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    report, compared, rejected = run(client, jsonl_source(file))
    assert (report.stored, compared.same, [row.place for row in rejected]) == (2, 2, ["line 2"])


# -- the comparison


def test_a_comparison_finds_what_is_missing_and_what_differs(
    client: Client, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    file = older_file(tmp_path / "m.db", [note(number, is_sensitive=number == 3) for number in range(1, 6)])
    run(client, sqlite_source(file))
    conn.execute("DELETE FROM pgrecall.memories WHERE external_id = 'sqlite:1'")
    conn.execute("UPDATE pgrecall.memories SET content = 'lost' WHERE external_id = 'sqlite:2'")
    conn.execute("UPDATE pgrecall.memories SET is_sensitive = false WHERE external_id = 'sqlite:3'")
    report, _, _ = run(client, sqlite_source(file), dry_run=True)
    assert outcome(report) == (1, 0, 4, 0)
    with sqlite_source(file) as source:
        told: list[Any] = []
        compared = verify(client, source, report, found=told.append)
    assert (compared.same, compared.missing, compared.differing) == (2, 1, 2)
    assert [row.place for row in told] == ["id 1", "id 2", "id 3"]


# -- folders and repositories


def test_folders_and_repositories_can_be_imported_again(
    client: Client, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    page = tmp_path / "notes" / "tea.md"
    page.parent.mkdir()
    page.write_text("# Tea\n\nhot\n\n# Ice\n\ncold\n")
    assert outcome(run(client, markdown_source(page.parent))[0]) == (2, 0, 0, 0)
    page.write_text("# Tea\n\nhot\n\n# Ice\n\nvery cold\n\n# Snow\n\nwhite\n")
    report, compared, _ = run(client, markdown_source(page.parent))
    assert (outcome(report), compared.same) == ((1, 1, 1, 0), 3)
    assert stored_memories(conn)["markdown:tea.md#Ice"]["content"] == "very cold"
    git = ["git", "-C", str(page.parent), "-c", "user.name=Lea", "-c", "user.email=lea@example.org"]
    for words in (["init"], ["add", "."], ["commit", "-m", "Tea"], ["notes", "add", "-m", "Good"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    assert outcome(run(client, git_source(page.parent))[0]) == (2, 0, 0, 0)
    subprocess.run([*git, "notes", "add", "-f", "-m", "Better"], check=True, capture_output=True)
    assert outcome(run(client, git_source(page.parent))[0]) == (0, 1, 1, 0)
