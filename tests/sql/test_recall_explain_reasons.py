"""The documentation names every reason that recall_explain gives, and no other.

The reasons are asked for: every filter that recall() takes, with a value of its type that excludes a memory.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

pytestmark = pytest.mark.rollback

ROOT = Path(__file__).resolve().parents[2]

# The filters: what recall() and list_memories() both take, in the order of recall(). `filter` holds the others.
_FILTERS = """
    SELECT a.name, format_type(a.type, NULL)
    FROM pg_proc p
    CROSS JOIN LATERAL unnest(p.proargnames[:p.pronargs], p.proargtypes::oid[]) WITH ORDINALITY a (name, type, place)
    WHERE p.oid = 'public.recall'::regproc
      AND a.name = ANY (SELECT unnest(l.proargnames[:l.pronargs]) FROM pg_proc l WHERE l.oid = 'public.list_memories'::regproc)
      AND a.name <> ALL (ARRAY['namespace', 'namespaces', 'filter'])
    ORDER BY a.place
"""
# Values that exclude some memory, whatever the filter is about.
_VALUES = {
    "boolean": ["true", "false"],
    "jsonb": ['{"no": "such"}'],
    "text": ["no such"],
    "text[]": ["{no such}"],
    "timestamp with time zone": ["1980-01-01", "2200-01-01"],
    "tstzrange": ["[1980-01-01,1980-01-02)"],
}
_STORED = {
    "plain": "",
    "sensitive": "is_sensitive => true",
    "expired": "expires_at => now() + interval '1 hour'",
    "no longer valid": "valid_from => '2001-01-01', valid_to => '2002-01-01'",
    "of another namespace": "namespace => 'another', create_namespace => true",
    "superseded": "",
    "forgotten": "",
}


def documented(lines: Iterator[str] | list[str]) -> set[str]:
    """The reasons of a list: `a b c, d` is two, a b c and a b d; what changes from memory to memory goes."""
    found = set()
    for line in lines:
        first, *others = re.sub(r"(:|…| \d).*", "", line.strip()).split(", ")
        found.add(first.strip())
        found.update(f"{first.rpartition(' ')[0]} {other.strip()}" for other in others)
    return found


def in_header() -> set[str]:
    text = (ROOT / "sql" / "core" / "api" / "recall_explain.sql").read_text(encoding="utf-8")
    [block] = re.findall(r"The first that applies:(.*?)\. For a memory", text, re.DOTALL)
    return documented(re.sub(r"\s+(-- +)?", " ", block).split(";"))


def in_docs() -> set[str]:
    text = (ROOT / "docs" / "explaining.md").read_text(encoding="utf-8")
    [table] = re.findall(r"\| reason \|.*?\n\|---\|---\|\n(.*?)\n\n", text, re.DOTALL)
    return documented([row.split("|")[1] for row in table.splitlines()])


def asked(conn: Connection[Any]) -> dict[tuple[str, str], set[str]]:
    """The reasons that each filter and value gives for the memories."""
    ids = {}
    for kind, options in _STORED.items():
        call = f"SELECT remember('tea {kind}'{', ' + options if options else ''})"
        [(ids[kind],)] = conn.execute(call.encode()).fetchall()
    conn.execute(
        "UPDATE pgrecall.memories SET expires_at = now() - interval '1 s' WHERE id = %s", [ids["expired"]]
    )
    conn.execute("SELECT supersede(%s, 'coffee')", [ids["superseded"]])
    conn.execute("SELECT forget(%s)", [ids["forgotten"]])
    found = {}
    filters = conn.execute(_FILTERS).fetchall()
    for name, value in [("k", "1"), *((name, value) for name, type_ in filters for value in _VALUES[type_])]:
        rows = conn.execute(
            f"SELECT reason FROM recall_explain('tea', ids => %s, {name} => %s) WHERE reason IS NOT NULL".encode(),
            [[*ids.values(), 2**40], value],
        ).fetchall()
        found[name, value] = documented([reason for (reason,) in rows])
    # A condition that has no argument.
    less_trusted = conn.execute(
        "SELECT reason FROM recall_explain('tea', ids => %s, filter => '{\"min_trust\": \"user\"}') WHERE reason IS NOT NULL",
        [[*ids.values()]],
    ).fetchall()
    found["min_trust", "user"] = documented([reason for (reason,) in less_trusted])
    return found


def test_the_header_and_the_page_name_the_same_reasons() -> None:
    assert len(in_docs()) > 20
    assert in_header() == in_docs()


def test_every_reason_that_is_given_is_documented(conn: Connection[Any]) -> None:
    given = set().union(*asked(conn).values())
    assert given - in_docs() == set()
    assert {name for name in in_docs() if name.startswith("filtered by ")} - given == set()
    assert {"forgotten", "expired at", "superseded by", "valid until", "no such memory"} <= given


def test_every_reason_why_a_candidate_is_not_returned_is_documented() -> None:
    text = (ROOT / "sql" / "core" / "explain" / "explain_outranked.sql").read_text(encoding="utf-8")
    given = re.findall(r"(?:THEN|ELSE)\s+format\(\s*'([^']+)'", text)
    assert len(given) == len(re.findall(r"\b(?:THEN|ELSE)\b", text)) > 5
    assert documented([reason.replace("%s", "1") for reason in given]) - in_docs() == set()


def test_every_filter_gives_a_reason(conn: Connection[Any]) -> None:
    found = asked(conn)
    named = {name for (name, _), reasons in found.items() if any(name in reason for reason in reasons)}
    assert {name for name, _ in conn.execute(_FILTERS).fetchall()} - named == {"include_superseded"}
