"""A router has every function that the client calls, or says why not. It asks a database's catalog, not a list."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall.admin.bundle import sql_files
from pgrecall.contrib.sharding.routes import DECLARED, EVERYWHERE, NOT_ROUTED, Route
from pgrecall.contrib.sharding.routing import route_of, routed_functions, signatures
from tools.contract import named_functions

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

_OF_CLIENTS = r"""
    SELECT n.nspname || '.' || p.proname
    FROM pg_proc p
    JOIN pg_namespace n ON n.oid = p.pronamespace
    CROSS JOIN LATERAL aclexplode(p.proacl) a
    JOIN pg_roles r ON r.oid = a.grantee
    WHERE n.nspname || '.' || p.proname = ANY (%s) AND r.rolname LIKE 'pgrecall\_%%'
    GROUP BY 1
    HAVING bool_or(r.rolname IN ('pgrecall_reader', 'pgrecall_writer')) OR bool_and(r.rolname <> 'pgrecall_embedder')
"""


def routes(conn: Connection[Any]) -> dict[str, Route | None]:
    return {signature.full_name: route_of(signature) for signature in signatures(conn)}


def test_every_function_that_the_client_calls_has_a_route_or_a_reason(conn: Connection[Any]) -> None:
    called = {name for (name,) in conn.execute(_OF_CLIENTS, [named_functions("pyclient/pgrecall")])}
    assert len(called) > 90
    assert called - set(routes(conn)) - set(NOT_ROUTED) == set()


def test_what_is_declared_is_a_function_and_a_reason_is_a_sentence(conn: Connection[Any]) -> None:
    present = {
        name
        for (name,) in conn.execute(
            "SELECT n.nspname || '.' || p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace"
        )
    }
    declared = {name for name in DECLARED if not name.startswith("pgrecall_shard.")}
    assert (declared | EVERYWHERE | set(NOT_ROUTED)) - present == set()
    assert not declared & set(NOT_ROUTED)
    assert {len(reason.split()) > 5 for reason in NOT_ROUTED.values()} == {True}


def test_where_null_means_every_namespace_the_router_asks_every_shard() -> None:
    """The header of a function says what NULL means; `export_records` refers to `export_memories`."""
    means_all = {
        name
        for file in sql_files()
        if re.search(r"^-- namespace +.*NULL: (all|every)", file.text, re.MULTILINE)
        for name in re.findall(r"CREATE OR REPLACE FUNCTION ((?:public|pgrecall)\.\w+)", file.text)
    }
    assert means_all - set(NOT_ROUTED) == EVERYWHERE


@pytest.mark.parametrize(
    ("signature", "route"),
    [
        ("public.new_thing(namespace text, other bigint)", Route("namespace", "namespace")),
        ("pgrecall.new_thing(ids bigint[], namespace text DEFAULT NULL)", Route("namespace", "namespace")),
        ("pgrecall.new_thing(id bigint, label text)", Route("memory", "id")),
        ("pgrecall.new_thing(memory_id bigint)", Route("memory", "memory_id")),
        ("pgrecall.new_thing(ids bigint[])", Route("memories", "ids")),
        ("pgrecall.new_thing(id uuid)", None),
        ("pgrecall.new_thing(concept_id bigint)", None),
        ("pgrecall.new_thing(namespace integer)", None),
        ("pgrecall.new_thing()", None),
    ],
)
def test_a_new_function_is_routed_by_its_arguments(
    conn: Connection[Any], signature: str, route: Route | None
) -> None:
    conn.execute(f"CREATE FUNCTION {signature} RETURNS bigint LANGUAGE sql RETURN 1".encode())
    conn.execute(f"ALTER FUNCTION {signature} OWNER TO pgrecall_gate".replace(" DEFAULT NULL", "").encode())
    conn.execute(
        "UPDATE pgrecall.installation SET public_functions = public_functions || 'new_thing(text,int8)'::text"
    )
    conn.execute(f"GRANT EXECUTE ON FUNCTION {signature.partition('(')[0]} TO pgrecall_writer".encode())
    assert routes(conn).get(signature.partition("(")[0]) == route
    made = [one for one in routed_functions(signatures(conn)) if "run_new_thing(" in one]
    assert bool(made) == (route is not None)


@pytest.mark.parametrize(
    ("result", "is_routed"), [("SETOF bigint", True), ("void", True), ("integer", True), ("text", False)]
)
def test_ids_of_several_shards_need_an_answer_that_can_be_put_together(
    conn: Connection[Any], result: str, is_routed: bool
) -> None:
    made = (
        f"CREATE FUNCTION pgrecall.new_thing(ids bigint[]) RETURNS {result} LANGUAGE plpgsql AS 'BEGIN END'"
    )
    conn.execute(made.encode())
    conn.execute("GRANT EXECUTE ON FUNCTION pgrecall.new_thing TO pgrecall_reader")
    assert ("pgrecall.new_thing" in routes(conn)) is is_routed


def test_what_embedders_alone_call_is_not_routed(conn: Connection[Any]) -> None:
    assert {"pgrecall.claim", "pgrecall.heartbeat", "pgrecall.message_context"}.isdisjoint(routes(conn))
    conn.execute("CREATE FUNCTION pgrecall.new_queue(memory_id bigint) RETURNS void LANGUAGE sql AS ''")
    conn.execute("GRANT EXECUTE ON FUNCTION pgrecall.new_queue TO pgrecall_embedder")
    assert "pgrecall.new_queue" not in routes(conn)
