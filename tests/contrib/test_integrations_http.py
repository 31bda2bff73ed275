"""What PostgREST and Hasura send to the database for a call of a function, and the wrappers of docs/postgrest.md."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from support.memories import rows, scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from psycopg import Connection

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "postgrest.md").read_text(encoding="utf-8")
ROLES, BEFORE_REQUEST, WRAPPERS = re.findall(r"(?ms)^```sql\n(.*?)^```$", PAGE)
UNIT = [1.0, *[0.0] * 383]

# One statement for any function: arguments by name from one JSON object, the rows as one JSON array.
CALL = """
WITH pgrst_source AS (
    SELECT {columns}
    FROM (SELECT %s::json AS json_data) pgrst_payload,
         LATERAL (SELECT {names} FROM json_to_record(pgrst_payload.json_data) AS _({typed}) LIMIT 1) pgrst_body,
         LATERAL {function}({arguments}) pgrst_call
)
SELECT coalesce(json_agg(_postgrest_t), '[]') FROM (SELECT * FROM pgrst_source) _postgrest_t
"""


class Gateway:
    """What PostgREST does with a request, over one connection of its login."""

    def __init__(self, conn: Connection[Any], before: str | None = None, **claims: str) -> None:
        self._conn = conn
        self._before = before
        self._claims = claims

    def post(self, role: str, function: str, select: str = "pgrst_call.*", /, **body: object) -> Any:
        """POST a body to /rpc/function, with a token for a role."""
        with self._conn.transaction():
            types = dict(self._conn.execute(
                "SELECT a.name, format_type(a.type, NULL) FROM pg_proc p,"
                " unnest(p.proargnames, coalesce(p.proallargtypes, p.proargtypes::oid[])) AS a (name, type)"
                " WHERE p.pronamespace = 'public'::regnamespace AND p.proname = %s AND a.name = ANY (%s)",
                (function, list(body)),
            ).fetchall())  # fmt: skip
            volatility = scalar(
                self._conn,
                "SELECT provolatile::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND proname = %s",
                function,
            )
        names = [sql.Identifier(name) for name in body]
        call = sql.SQL(CALL).format(
            columns=sql.SQL(select),
            names=sql.SQL(", ").join(names),
            typed=sql.SQL(", ").join(
                sql.SQL("{} " + types[name]).format(identifier)
                for name, identifier in zip(body, names, strict=True)
            ),
            function=sql.Identifier("public", function),
            arguments=sql.SQL(", ").join(sql.SQL("{} := pgrst_body.{}").format(name, name) for name in names),
        )
        with self._conn.transaction():
            if volatility != "v":
                self._conn.execute("SET TRANSACTION READ ONLY")
            self._conn.execute(
                "SELECT set_config('search_path', '\"public\"', true), set_config('role', %s, true),"
                " set_config('request.jwt.claims', %s, true)",
                (role, json.dumps({"role": role, **self._claims})),
            )
            if self._before is not None:
                self._conn.execute(f"SELECT {self._before}()".encode())
            return scalar(self._conn, call.as_string(self._conn), json.dumps(body))


@pytest.fixture(scope="module")
def app(
    database: Callable[..., AbstractContextManager[str]], template: str, server_dsn: str
) -> Iterator[str]:
    """A database with the roles and the wrappers of the page, and a login for Hasura."""
    with ExitStack() as stack:
        admin = stack.enter_context(psycopg.connect(server_dsn, autocommit=True))
        stack.callback(admin.execute, "DROP ROLE IF EXISTS authenticator, assistant, hasura, stranger")
        dsn = stack.enter_context(database(template))
        with psycopg.connect(dsn, autocommit=True) as owner:
            owner.execute(ROLES.encode())
            owner.execute("CREATE ROLE stranger; GRANT stranger TO authenticator")
            owner.execute(BEFORE_REQUEST.encode())
            owner.execute(WRAPPERS.encode())
            owner.execute("CREATE ROLE hasura LOGIN IN ROLE pgrecall_writer")
            owner.execute("GRANT USAGE ON SCHEMA api TO hasura; GRANT SELECT ON api.recalled TO hasura")
            owner.execute("SELECT pgrecall.grant_namespace('hasura', 'assistant', 'write')")
        yield dsn


def login(dsn: str, role: str) -> Connection[Any]:
    """Connect as a superuser and become a login for good: the test's server may know no passwords."""
    conn = psycopg.connect(make_conninfo(dsn), autocommit=True)
    conn.execute(sql.SQL("SET SESSION AUTHORIZATION {}").format(sql.Identifier(role)))
    return conn


@pytest.fixture(scope="module")
def gateway(app: str) -> Iterator[Gateway]:
    with login(app, "authenticator") as conn:
        yield Gateway(conn)


def test_the_login_itself_may_do_nothing(app: str) -> None:
    with login(app, "authenticator") as conn, pytest.raises(psycopg.errors.InsufficientPrivilege):
        conn.execute("SELECT * FROM recall('x')")


def test_a_request_stores_and_finds(gateway: Gateway) -> None:
    stored = {
        "content": "Priya prefers trains",
        "tags": ["Priya", "travel"],
        "metadata": {"channel": "mail"},
        "importance": 0.8,
        "occurred_at": "2026-03-04T10:00:00Z",
        "namespace": "assistant",
    }
    ((number,),) = [one.values() for one in gateway.post("assistant", "remember", **stored)]
    found = gateway.post(
        "assistant", "recall", query="which trains?", k=5, namespace="assistant", tags_any=["travel", "food"],
        metadata_contains={"channel": "mail"}, timeframe="[2026-03-01,2026-04-01)", settings={"rrf_k": 10},
    )  # fmt: skip
    assert [one["id"] for one in found] == [number]
    assert found[0]["content"] == "Priya prefers trains"
    assert found[0]["tags"] == ["Priya", "travel"]
    assert found[0]["metadata"] == {"channel": "mail"}
    assert gateway.post("assistant", "recall", query="trains", namespace="assistant", tags_any=["food"]) == []
    changed = gateway.post("assistant", "supersede", id=number, content="Priya takes no trains now")
    ((successor,),) = [one.values() for one in changed]
    found = gateway.post(
        "assistant", "recall", "pgrst_call.id, pgrst_call.content", query="trains", namespace="assistant"
    )
    assert found == [{"id": successor, "content": "Priya takes no trains now"}]


@pytest.mark.parametrize("vector", [UNIT, json.dumps(UNIT)], ids=["list", "text"])
def test_a_vector_is_a_list_or_a_text(gateway: Gateway, app: str, vector: object) -> None:
    with psycopg.connect(app, autocommit=True) as owner:
        number = scalar(owner, "SELECT remember('Nothing of what is asked', namespace => 'assistant')")
        # The embedder's part.
        owner.execute("SELECT FROM pgrecall.claim(gen_random_uuid())")
        owner.execute(
            "SELECT pgrecall.complete(j.worker_id, ARRAY[m.id], ARRAY[m.content_hash], ARRAY[%s])"
            " FROM pgrecall.memories m JOIN pgrecall.jobs j ON j.memory_id = m.id AND j.kind = 'embedding' WHERE m.id = %s",
            (json.dumps(UNIT), number),
        )
        owner.execute("DELETE FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NULL")
    found = gateway.post("assistant", "recall", query="zzz", query_vec=vector, k=1, namespace="assistant")
    assert [(one["id"], one["similarity"]) for one in found] == [(number, pytest.approx(1, abs=0.001))]
    with psycopg.connect(app, autocommit=True) as owner:
        owner.execute("SELECT forget(%s)", (number,))


def test_what_only_reads_is_read_only(gateway: Gateway) -> None:
    gateway.post("assistant", "remember", content="Otto feeds otters", namespace="assistant")
    assert isinstance(gateway.post("assistant", "recall_facts", query="otters", namespace="assistant"), list)
    briefing = gateway.post("assistant", "recall_briefing", query="otters", namespace="assistant")
    assert "Otto feeds otters" in json.dumps(briefing)


def test_who_is_no_reader_may_call_nothing(gateway: Gateway) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        gateway.post("stranger", "recall", query="trains", namespace="assistant")


def test_another_namespace_is_not_there(gateway: Gateway, app: str) -> None:
    with psycopg.connect(app, autocommit=True) as owner:
        owner.execute("SELECT remember('trains of others', namespace => 'others', create_namespace => true)")
    assert gateway.post("assistant", "recall", query="trains", namespace="others") == []


def test_the_namespace_may_come_from_the_token(app: str) -> None:
    with login(app, "authenticator") as conn:
        own = Gateway(conn, "gateway.use_namespace", namespace="assistant")
        own.post("assistant", "remember", content="Anna tunes pianos")
        asked = {"query": "who tunes pianos?", "k": 1}
        assert [one["content"] for one in own.post("assistant", "recall", **asked)] == ["Anna tunes pianos"]
        # Nothing of it is left in the session.
        assert Gateway(conn).post("assistant", "recall", **asked) == []


def test_errors_have_a_code_and_a_hint(gateway: Gateway) -> None:
    with pytest.raises(psycopg.Error) as caught:
        gateway.post("assistant", "recall", query="trains", k=0)
    assert caught.value.sqlstate == "22023"
    assert caught.value.diag.message_hint
    with pytest.raises(psycopg.Error) as caught:
        gateway.post("assistant", "remember", content="x", namespace="no such namespace")
    assert caught.value.sqlstate == "42704"


# -- Hasura


def test_a_native_query_is_a_prepared_statement(app: str) -> None:
    (code,) = re.findall(r"code: \|\n +(.*)", PAGE)
    prepared = code.replace("{{query}}", "$1").replace("{{k}}", "$2")
    with login(app, "hasura") as conn:
        conn.execute("SELECT remember('Tomasz repairs clocks', namespace => 'assistant')")
        conn.execute(f"PREPARE native (text, integer) AS {prepared}".encode())
        found = conn.execute("EXECUTE native ('who repairs clocks?', 1)").fetchall()
        assert [row[2] for row in found] == ["Tomasz repairs clocks"]
        # An argument that was not given is NULL.
        assert conn.execute("EXECUTE native ('who repairs clocks?', NULL)").fetchall() == found


def test_the_namespace_comes_from_the_session(app: str) -> None:
    session = {"x-hasura-role": "user", "x-hasura-namespace": "assistant"}
    with login(app, "hasura") as conn:
        stored = rows(conn, "api.remember_memory", "Vera keeps bees", hasura_session=json.dumps(session))
        assert stored[0][2] == "Vera keeps bees"
        found = rows(conn, "api.recall_memories", "bees", hasura_session=json.dumps(session))
        assert [row[2] for row in found] == ["Vera keeps bees"]
        for other in ({"x-hasura-namespace": "others"}, {}):
            assert rows(conn, "api.recall_memories", "trains", hasura_session=json.dumps(other)) == []
        # Hasura tracks it because it returns rows of a table, and takes it for a query because it is STABLE.
        kinds = conn.execute(
            "SELECT p.proretset, t.typtype::text, c.relkind::text, p.provolatile::text FROM pg_proc p"
            " JOIN pg_type t ON t.oid = p.prorettype JOIN pg_class c ON c.oid = t.typrelid"
            " WHERE p.oid = 'api.recall_memories'::regproc"
        ).fetchall()
        assert kinds == [(True, "c", "r", "s")]
