"""Lists of the pages name what the catalog of a database has, no less and no more."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tools.sql_reference import GROUPS

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

ROOT = Path(__file__).resolve().parents[2]
PAGES = [page for page in sorted((ROOT / "docs").glob("*.md")) if page.name != "sql-api.md"]


def first_column(page: str, head: str) -> set[str]:
    """What stands in backticks in the first column of the table whose first head is this."""
    text = (ROOT / page).read_text(encoding="utf-8")
    [rows] = re.findall(rf"(?m)^\| {re.escape(head)} \|.*\n\|(?:---\|)+\n((?:\|.*\n)+)", text)
    return set(re.findall(r"`([^`]+)`", " ".join(row.split("|")[1] for row in rows.splitlines())))


def names(conn: Connection[Any], query: str) -> set[str]:
    return {name for (name,) in conn.execute(query.encode())}


def test_every_finding_of_doctor_is_on_its_page(conn: Connection[Any]) -> None:
    source = (ROOT / "pyclient/pgrecall/cli/doctor.py").read_text(encoding="utf-8")
    of_client = set(re.findall(r'check_name="([^"]+)"', source))
    assert len(of_client) > 2
    found = names(conn, "SELECT check_name FROM pgrecall.health()") | of_client
    assert first_column("docs/operations.md", "finding") == found


def test_every_table_that_names_a_memory_is_on_the_page_of_erasure(conn: Connection[Any]) -> None:
    query = r"""
        SELECT DISTINCT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
        WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'r' AND a.attname ~ '^(memory|note)_ids?$'
    """
    named = names(conn, query)
    assert {"mentions", "postings", "memory_changes", "note_evidence"} <= named
    text = (ROOT / "docs" / "erasure.md").read_text(encoding="utf-8")
    stays = set(re.findall(r"`pgrecall\.(\w+)`", text[text.index("## What stays") :]))
    goes = first_column("docs/erasure.md", "table")
    assert named - goes - stays == set()
    assert (
        goes - names(conn, "SELECT relname FROM pg_class WHERE relnamespace = 'pgrecall'::regnamespace")
        == set()
    )


def test_every_trigger_of_memories_is_on_the_map(conn: Connection[Any]) -> None:
    found = set()
    for row in re.findall(
        r"(?m)^\| (`memories_\d.*?) \| \[", (ROOT / "sql/README.md").read_text(encoding="utf-8")
    ):
        first, *others = re.findall(r"`(\w+)`", row)
        found |= {first, *(re.sub(r"_(insert|update|delete|truncate)$", other, first) for other in others)}
    query = "SELECT tgname FROM pg_trigger WHERE tgrelid = 'pgrecall.memories'::regclass AND NOT tgisinternal"
    assert found == names(conn, query)


def test_every_function_that_a_page_calls_is_in_the_reference(conn: Connection[Any]) -> None:
    query = "SELECT proname FROM pg_proc WHERE pronamespace = 'pgrecall'::regnamespace AND prokind = 'f'"
    called = {
        name
        for page in PAGES
        for name in re.findall(r"(?:\bpgrecall\.|`)(\w+)\(", page.read_text(encoding="utf-8"))
    }
    reference = {name for group in GROUPS.values() for name in group}
    assert (called & names(conn, query)) - reference == set()


def test_every_granted_function_is_in_the_reference_or_called(conn: Connection[Any]) -> None:
    """A function that a role may call is for callers, so a page says what it does; or client, daemon or SQL call it."""
    query = """
        SELECT DISTINCT p.proname FROM pg_proc p, aclexplode(p.proacl) a
        WHERE p.pronamespace = 'pgrecall'::regnamespace AND p.prokind = 'f'
          AND a.grantee IN (SELECT oid FROM pg_roles WHERE rolname IN ('pgrecall_reader', 'pgrecall_writer', 'pgrecall_embedder'))
    """
    reference = {name for group in GROUPS.values() for name in group}
    contract = (ROOT / "tools" / "contract.json").read_text(encoding="utf-8")
    elsewhere = {name for name in names(conn, query) - reference if f"pgrecall.{name}" not in contract}
    texts = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "sql").rglob("*.sql")}
    alone = {
        name
        for name in elsewhere
        if not any(
            f"pgrecall.{name}(" in text for stem, text in texts.items() if stem not in (name, "schema")
        )
    }
    assert alone == set()


def test_every_role_is_explained_where_roles_are(conn: Connection[Any]) -> None:
    roles = names(conn, r"SELECT rolname FROM pg_roles WHERE rolname LIKE 'pgrecall\_%' AND NOT rolcanlogin")
    page = (ROOT / "docs" / "tenants.md").read_text(encoding="utf-8")
    assert {role for role in roles if f"`{role}`" not in page} == set()
    numbers = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    said = re.findall(r"needs (\w+) roles", (ROOT / "docs" / "migrations.md").read_text(encoding="utf-8"))
    assert said == [numbers[len(roles)]]


def test_every_filter_is_in_the_table_of_filters(conn: Connection[Any]) -> None:
    query = """
        SELECT attname::text FROM pg_attribute
        WHERE attrelid = 'pgrecall.recall_conditions'::regclass AND attnum > 0 AND NOT attisdropped
    """
    assert first_column("docs/managing.md", "filter") == names(conn, query)


def test_every_kind_of_line_of_an_export_is_on_its_page() -> None:
    source = (ROOT / "sql/features/sync/export_records.sql").read_text(encoding="utf-8")
    kinds = set(re.findall(r"'kind', '(\w+)'", source))
    page = (ROOT / "docs/backup.md").read_text(encoding="utf-8")
    [said] = re.findall(r"(?s)After the memories the file has what else(.*?)The import stores", page)
    assert set(re.findall(r"\(`(\w+)`\)", said)) == kinds - {"header"}
    assert len(kinds) > 5


def test_every_strategy_is_in_the_table_of_strategies(conn: Connection[Any]) -> None:
    query = "SELECT unnest(choices) FROM pgrecall.setting_definitions WHERE name = 'strategy'"
    assert first_column("docs/strategies.md", "strategy") == names(conn, query)
