"""A first statement for every SECURITY DEFINER function, which refuses to run for another owner than ours.

A restore without owners (`pg_restore --no-owner`) gives the functions to the role that restores. Policies
do not apply to a superuser or to the tables' owner, so every caller would see every row until the next
migration.
"""

from __future__ import annotations

import re

from .ours import OWNERS

__all__ = ["guarded"]

_FUNCTION = re.compile(
    r"^CREATE OR REPLACE FUNCTION .*?(?=^AS \$|^BEGIN ATOMIC$|^RETURN )", re.MULTILINE | re.DOTALL
)
_BLOCK = re.compile(r"\AAS (\$\w*\$)\n((?:#[^\n]*\n)*)(.*?)\nEND;?\n\1", re.DOTALL)
_IS_OURS = f"current_user IN {OWNERS}"
_REFUSE = "_pgrecall.refuse_other_owner()"


def guarded(text: str) -> str:
    """Return the SQL of a file with the check in each SECURITY DEFINER function."""
    found = [head for head in _FUNCTION.finditer(text) if "SECURITY DEFINER" in head.group()]
    for head in reversed(found):
        text = text[: head.end()] + _with_check(text[head.end() :])
    return text


def _with_check(body: str) -> str:
    if body.startswith("BEGIN ATOMIC"):
        check = f"BEGIN ATOMIC\n    SELECT {_REFUSE} WHERE NOT {_IS_OURS};"
        return body.replace("BEGIN ATOMIC", check, 1)
    if body.startswith("RETURN "):
        expression, rest = body.removeprefix("RETURN ").split(";\n", 1)
        return f"RETURN CASE WHEN {_IS_OURS} OR {_REFUSE} THEN ({expression}) END;\n{rest}"
    # A block around the function's own, so that nothing is declared before the check.
    check = f"BEGIN\n    IF NOT {_IS_OURS} THEN PERFORM {_REFUSE}; END IF;"
    return _BLOCK.sub(
        lambda own: f"AS {own[1]}\n{own[2]}{check}\n{own[3]}\nEND;\nEND\n{own[1]}", body, count=1
    )
