"""The plans of a recall's searches: as the server logs them, and as recall_plan() shows them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pgrecall.query.legs import LEGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import psycopg
    from psycopg.errors import Diagnostic

__all__ = ["executed", "scans", "shown"]

# They size a search, or are called by one. Any other statement below a leg is a search.
_HELPERS = {
    "namespace_size", "with_keys", "namespace_keys", "private_exact_rows", "stored_setting", "shared_visits", "dense_exact_limit",
    "matching_memories", "passage_statement", "parse_row_limit", "sees_all", "is_embedder", "session_role",
}  # fmt: skip
_LEGS = re.compile(rf"function _pgrecall\.(?:{'|'.join(LEGS)})_leg\(")
_FRAME = re.compile(r"^(?:PL/pgSQL|SQL) function (?:_pgrecall\.|pgrecall\.|\")?(\w+)", re.MULTILINE)
_DETAILS = ("Index Cond", "Recheck Cond", "Order By", "Sort Key", "Group Key", "Hash Cond", "Merge Cond")


def _plan(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the nodes of a plan with what they read and by which conditions, without figures and numbers of parameters."""
    kept = []
    for line in lines:
        text = line.strip()
        is_node = "(actual" in line or "(never executed)" in line
        if is_node:
            rows = re.search(r"rows=([\d.]+) loops=(\d+)", line.split("(actual")[-1])
            figures = f" rows={float(rows[1]):.2f} loops={rows[2]}" if rows else " never"
            text = re.sub(r" \((?:cost|actual|never)[^()]*\)", "", text).strip().removeprefix("->  ")
            # A constant is evaluated when it is first needed: on PostgreSQL 15 not always as often.
            text += "" if text == "Result" else figures
        elif not text.startswith(_DETAILS):
            continue
        kept.append(re.sub(r"'\[[-\d.,e]+\]'", "vector", re.sub(r"\$\d+", "$", text)))
    return tuple(kept)


def executed(
    conn: psycopg.Connection[Any], call: str, values: Mapping[str, Any], role: str
) -> list[tuple[str, ...]]:
    """Run a recall and return the plans of its searches, sorted, from auto_explain.

    Args:
        conn: A superuser's connection.
        call: The arguments of recall().
        values: Their values.
        role: The role that recalls.
    """
    told: list[tuple[str, ...]] = []

    def note(notice: Diagnostic) -> None:
        context, message = notice.context or "", notice.message_primary or ""
        frame = _FRAME.search(context)
        if "plan:" in message and _LEGS.search(context) and frame is not None and frame[1] not in _HELPERS:
            told.append(_plan(message.splitlines()))

    conn.execute("LOAD 'auto_explain'")
    conn.add_notice_handler(note)
    try:
        with conn.transaction(force_rollback=True):
            for name, value in (
                ("min_duration", "0"), ("nested_statements", "on"), ("analyze", "on"), ("timing", "off"), ("buffers", "off"),
            ):  # fmt: skip
                conn.execute("SELECT set_config('auto_explain.log_' || %s, %s, true)", (name, value))
            conn.execute("SET LOCAL client_min_messages = log")
            conn.execute(f"SET LOCAL ROLE {role}".encode())
            conn.execute(f"SELECT id FROM recall({call})".encode(), values)
    finally:
        conn.remove_notice_handler(note)
    # A statement that only calls a search reads no table.
    return sorted(plan for plan in told if scans([plan]))


def shown(
    conn: psycopg.Connection[Any], call: str, values: Mapping[str, Any], role: str
) -> list[tuple[str, ...]]:
    """Return the plans that recall_plan() shows for the same arguments, sorted."""
    with conn.transaction(force_rollback=True):
        conn.execute(f"SET LOCAL ROLE {role}".encode())
        rows = conn.execute(f"SELECT plan FROM pgrecall.recall_plan({call})".encode(), values).fetchall()
    return sorted(
        _plan(text.splitlines()) for text in "\n".join(row[0] for row in rows).split("\n\n") if text
    )


def scans(plans: Iterable[tuple[str, ...]]) -> set[str]:
    """Return the scans of tables and indexes in some plans: node type and what it reads."""
    return {
        found[0]
        for plan in plans
        for line in plan
        if (
            found := re.search(
                r"(?:Index|Seq|Bitmap|Index Only)[\w ]* Scan(?: Backward)?(?: using \w+)? on [\w.]+", line
            )
        )
    }
