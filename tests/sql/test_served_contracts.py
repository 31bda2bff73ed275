"""The database keeps the contracts that it says it serves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall.admin.bundle import spoken_contract
from tools.contract import FILE, named_functions, problems, served

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

CONTRACTS = json.loads(FILE.read_text(encoding="utf-8"))


def test_the_served_contracts_are_kept(conn: Connection[Any]) -> None:
    assert served(conn)[1] == spoken_contract()
    assert problems(conn, CONTRACTS) == []


@pytest.mark.parametrize(
    "change",
    [
        "ALTER FUNCTION public.forget RENAME TO forget_one",
        "DROP FUNCTION pgrecall.retire",
        "DROP FUNCTION pgrecall.retire; CREATE FUNCTION pgrecall.retire(id uuid) RETURNS void LANGUAGE sql AS ''",
        "CREATE OR REPLACE FUNCTION pgrecall.contract() RETURNS TABLE (oldest integer, newest integer) "
        "LANGUAGE sql BEGIN ATOMIC SELECT 1, 2; END",
    ],
    ids=[
        "a function is renamed",
        "a function is dropped",
        "an argument is renamed",
        "a contract nobody wrote down",
    ],
)
def test_a_broken_promise_is_told(conn: Connection[Any], change: str) -> None:
    conn.execute(change.encode())
    assert problems(conn, CONTRACTS) != []


def test_a_released_contract_gains_no_functions(conn: Connection[Any]) -> None:
    newest = str(served(conn)[1])
    functions = {name: one for name, one in CONTRACTS[newest]["functions"].items() if name != "public.recall"}
    released = {**CONTRACTS, newest: {"is_released": True, "functions": functions}}
    assert [problem for problem in problems(conn, released) if "public.recall" in problem] != []


def test_a_function_that_no_source_names_any_more_stays_promised(conn: Connection[Any]) -> None:
    newest = str(served(conn)[1])
    assert "pgrecall.judge" in CONTRACTS[newest]["functions"]
    assert "pgrecall.judge" not in named_functions()
    conn.execute("ALTER FUNCTION pgrecall.judge RENAME TO label")
    assert [problem.partition(".")[0] for problem in problems(conn, CONTRACTS)] == [
        f"contract {newest}: pgrecall"
    ]
