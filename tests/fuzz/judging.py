"""What a statement's outcome says: an answer, a refusal that is meant, or a finding."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from support.attack import said

if TYPE_CHECKING:
    from psycopg import Connection

    from fuzz.statements import Statement

STANDARDS = Path(__file__).resolve().parents[2] / "sql" / "STANDARDS.md"

REFERENCE = STANDARDS.parent.parent / "docs" / "sql-api.md"
# A configuration that the catalog does not have is PostgreSQL's to refuse, which it does by this.
DANGLING = "cache lookup failed for text search configuration"
# What a helper says of a value that the functions in front of it never give it.
DATA = ("22", "23", "42601", "42602", "42704", "54", "0A000", "55000", "P0002")

# What PostgreSQL itself says to a role that may not, to a session that waited or lost, or at the time limit.
ANYWHERE = {"42501", "57014", "55P03", "40001", "40P01"}
# To a statement of the caller's own on a table: a value, a constraint, a column that nobody writes.
ON_TABLES = (
    "22",
    "23",
    "428C9",
    "44000",
    "42P10",
    "54",
    "0A000",
    "55000",
    "42883",
    "42804",
    "42704",
    "42725",
)


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, and the statement that showed it."""

    kind: str
    role: str
    seed: str
    of: str
    statement: str
    detail: str

    @property
    def key(self) -> tuple[str, ...]:
        """The same for the same cause: numbers and quoted values apart."""
        return (self.kind, self.of, re.sub(r"\d+|\"[^\"]*\"|'[^']*'", "…", self.detail)[:200])

    def __str__(self) -> str:
        shown = self.statement if len(self.statement) < 3000 else self.statement[:3000] + "…"
        return f"{self.kind} [{self.role}, seed {self.seed}] {self.of}\n    {self.detail}\n    {shown};"


@cache
def documented() -> frozenset[str]:
    """SQLSTATEs that sql/STANDARDS.md lists for our own errors."""
    return frozenset(re.findall(r"(?m)^\| ([0-9A-Z]{5}) \|", STANDARDS.read_text(encoding="utf-8"))) | {
        "42501"
    }


@cache
def public() -> frozenset[str]:
    """Names of the functions that are documented for callers: these check what they are given."""
    return frozenset(re.findall(r"(?m)^### (?:pgrecall\.)?(\w+)", REFERENCE.read_text(encoding="utf-8")))


def fault(error: psycopg.Error, statement: Statement, asking: Connection[Any]) -> tuple[str, str] | None:
    """Kind and detail of what is wrong with an error; None for a refusal that is meant.

    A helper, which no page documents, may leave a refusal of its arguments to PostgreSQL: that is the kind `helper`, and no
    finding. Every public function says itself what is wrong.

    asking  a session of the same role, which evaluates the arguments alone
    """
    state, told = error.sqlstate or "", error.diag
    detail = f"{state} {told.message_primary} {told.message_detail or ''} / {(told.context or '').splitlines()[:1]}"
    if DANGLING in (told.message_primary or "") and "::oid)::regconfig" in statement.text:
        return None
    if not state or state.startswith(("XX", "58", "57P", "53")):
        return "internal", detail
    if told.source_function == "exec_stmt_raise":
        return None if state in documented() else ("undocumented", detail)
    if state in ANYWHERE:
        return None
    # A transaction that a procedure would end is its caller's; a NULL where none may be is named by its column.
    if state == "2D000" or (state == "23502" and "NULL::" in statement.text):
        return None
    if statement.on_table and not told.context and state.startswith(ON_TABLES):
        return None
    # A trigger's constraint or a policy that a table's own statement meets.
    if statement.on_table and state.startswith("23"):
        return None
    if _arguments_alone(statement, asking) == state:
        return None
    name = statement.of.split("(", 1)[0].rsplit(".", 1)[-1]
    return "helper" if state.startswith(DATA) and name not in public() else "raw", detail


def _arguments_alone(statement: Statement, asking: Connection[Any]) -> str | None:
    """SQLSTATE with which PostgreSQL refuses the arguments themselves."""
    try:
        asking.execute(f"SELECT {', '.join(statement.values) or '1'}".encode())
    except psycopg.Error as error:
        return error.sqlstate
    return None


def leak(text: str, canaries: tuple[str, ...]) -> str | None:
    """The line of an answer that has a canary in it."""
    lowered = text.lower()
    for canary in canaries:
        place = lowered.find(canary)
        if place >= 0:
            return text[max(0, place - 200) : place + 200]
    return None


def told(error: psycopg.Error) -> str:
    """All fields of an error."""
    return said(error)
