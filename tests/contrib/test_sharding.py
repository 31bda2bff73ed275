"""A router of three shards: the client works on it as on one database, and each shard keeps to its own."""

from __future__ import annotations

import os
import signal
import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

from pgrecall import Client, LlmExpander
from pgrecall.cli import app
from pgrecall.contrib.sharding import check, init, placements, shards
from pgrecall.errors import (
    ConnectionFailed,
    InvalidInput,
    NotFound,
    PermissionDenied,
    PgrecallError,
    SchemaMismatch,
    UnknownLanguage,
    UnknownNamespace,
)
from support.llm import completion, served
from support.memories import scalar
from support.sharding import NAMESPACES, RANGE, Cluster, as_role, asked, cluster_in, make_role, routed_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.server_extras

# What asks a shard is stable at best.
_SIGNATURES = """
    SELECT n.nspname || '.' || p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid),
           p.provolatile = 'v', obj_description(p.oid) IS NOT NULL
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE n.nspname || '.' || p.proname = ANY (%s) ORDER BY 1
"""


@pytest.fixture(scope="module")
def cluster(public_dir: Path) -> Iterator[Cluster]:
    with cluster_in(public_dir) as made:
        with Client(made.router) as client:
            for name in NAMESPACES.values():
                client.remember(f"{name} walks in the mountains", namespace=name, create_namespace=True)
        yield made


@pytest.fixture
def client(cluster: Cluster) -> Iterator[Client]:
    with Client(cluster.router) as opened:
        yield opened


def test_a_namespace_is_on_the_shard_of_its_hash_alone(cluster: Cluster) -> None:
    for shard, name in NAMESPACES.items():
        assert cluster.holders(name) == [shard]
        [(content,)] = cluster.on(
            shard,
            "SELECT m.content FROM pgrecall.memories m JOIN pgrecall.namespaces n ON n.id = m.namespace_id "
            "WHERE n.name = %s ORDER BY m.id LIMIT 1",
            name,
        )
        assert content == f"{name} walks in the mountains"


def test_the_client_works_as_on_one_database(client: Client) -> None:
    for shard, name in NAMESPACES.items():
        id = client.remember("The lake is cold in May", namespace=name, external_id="lake")
        assert id // RANGE == shard
        assert client.remember("The lake is cold in May", namespace=name, external_id="lake") == id
        assert client.update(id, title="Lake") is True
        later = client.supersede(id, "The lake is warm in July")
        assert later // RANGE == shard
        found = client.recall("lake", namespace=name, embed=False)
        assert [memory.id for memory in found] == [later]
        assert [one.id for one in client.explain("lake", ids=[later], namespace=name, embed=False)] == [later]
        assert [one.id for one in client.timeline("lake", namespace=name, embed=False)] == [later]
        assert "warm in July" in client.briefing("lake", namespace=name, embed=False)
        assert client.recall_facts("lake", namespace=name, embed=False).facts == ()
        assert client.forget(later) is True
        assert client.forget(later) is False
        assert not client.recall("lake", namespace=name, embed=False)


def test_several_namespaces_must_be_on_one_shard(cluster: Cluster, client: Client) -> None:
    first, second = NAMESPACES[0], NAMESPACES[1]
    with psycopg.connect(cluster.router, autocommit=True) as router:
        near = next(
            name
            for name in (f"near {place}" for place in range(100))
            if scalar(router, "SELECT pgrecall_router.shard_of(%s)", name) == 0
        )
        client.remember("The glacier is old", namespace=near, create_namespace=True)
        client.remember("The glacier is cold", namespace=first)
        both = {first, near}
        found = client.recall("glacier", namespaces=both, embed=False)
        assert {one.namespace_name for one in found} == both
        assert client.count(namespaces=both, tags_any=["nothing"]) == 0
        assert "<memory" in client.briefing("glacier", namespaces=both, embed=False)
        with pytest.raises(PgrecallError) as refusal:
            client.recall("glacier", namespaces=[first, second], embed=False)
        assert refusal.value.sqlstate == "0A000"
        assert refusal.value.hint
        array = "{" + ",".join(f'"{name}"' for name in both) + "}"
        router.execute("SELECT set_config('pgrecall.namespaces', %s, false)", (array,))
        rows = router.execute("SELECT DISTINCT namespace_name FROM recall('glacier')").fetchall()
        assert {row[0] for row in rows} == both


def test_memories_are_managed_as_on_one_database(cluster: Cluster, client: Client) -> None:
    talk = [
        {"role": "user", "content": "I walk in the woods"},
        {"role": "assistant", "content": "Which ones?"},
    ]
    stored = {
        name: [message.id for message in client.remember_messages(talk, "woods", namespace=name)]
        for name in NAMESPACES.values()
    }
    for shard, name in NAMESPACES.items():
        first, second = stored[name]
        assert first // RANGE == shard
        assert [one.is_new for one in client.remember_messages(talk, "woods", namespace=name)] == [
            False,
            False,
        ]
        assert [session.session for session in client.sessions(namespace=name)] == ["woods"]
        assert client.count(namespace=name, sessions=["woods"]) == 2
        assert [one.id for one in client.list(namespace=name, sessions=["woods"])] == [second, first]
        assert [change.action for change in client.history(first)] == ["remember"]
        assert client.forget_many(namespace=name, sessions=["woods"]) == 2
        assert client.get(first) is None
        assert client.restore(first) is True
        client.admin.set_retention(name, timedelta(days=30), category="talk")
        client.pages.set_defaults(namespace=name)
        page = client.pages.get("recent", namespace=name)
        assert page is not None
        assert "I walk in the woods" in [line.text.removeprefix("user: ") for line in page.lines]
        assert [one.name for one in client.pages.list(namespace=name)] == ["about-user", "recent"]
        assert client.pages.drop("recent", namespace=name) is True
        assert client.pages.drop("about-user", namespace=name) is True
    ids = [stored[name][0] for name in ("ida", "mia", "dora")]
    found = client.get_many([ids[0], 2**62, *ids[1:]])
    assert [(one.id, one.namespace) for one in found] == list(zip(ids, ("ida", "mia", "dora"), strict=True))
    key = client.remember("found by its key", namespace="ida", external_id="key")
    for name, expected in (("ida", [key]), ("mia", [])):
        assert [one.id for one in client.get_many(external_ids=["key"], namespace=name)] == expected
    with pytest.raises(InvalidInput, match="either ids or external_ids"):
        client.get_many()
    assert {one.name for one in client.admin.namespaces()} >= set(NAMESPACES.values())
    assert {one.namespace for one in client.admin.retention()} == set(NAMESPACES.values())
    for name in NAMESPACES.values():
        assert len(client.erase_many(namespace=name, sessions=["woods"])) == 2
        client.admin.set_retention(name, None, category="talk")
    assert client.erase(key).memory_id == key


def test_no_namespace_is_every_one_where_it_is_so_on_one_database(cluster: Cluster) -> None:
    cluster.at_router("SELECT pgrecall.set_entity_rules('TREE', ARRAY['oak'])")
    rules = "SELECT count(*) FROM pgrecall.entity_rules WHERE type = 'TREE'"
    assert [cluster.on(shard, rules) for shard in NAMESPACES] == [[(1,)]] * 3
    cluster.at_router("SELECT pgrecall.set_entity_rules('TREE')")
    done = "DELETE FROM pgrecall.jobs WHERE kind = 'text' RETURNING memory_id"
    counts = [len(cluster.on(shard, done)) for shard in NAMESPACES]
    assert cluster.at_router("SELECT pgrecall.reextract()") == [(sum(counts),)]
    assert cluster.at_router("SELECT * FROM pgrecall.list_learned()") == []


def test_the_functions_have_the_signatures_of_the_shards(cluster: Cluster) -> None:
    at_router = cluster.at_router(_SIGNATURES, names := routed_names(cluster))
    assert [row[0] for row in at_router] == sorted(names)
    assert at_router == cluster.on(1, _SIGNATURES, names)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda client: client.update(99, title="none"), NotFound, "there is no memory 99"),
        (lambda client: client.update(2**62, title="none"), NotFound, f"there is no memory {2**62}"),
        (
            lambda client: client.remember("x", namespace="nobody"),
            UnknownNamespace,
            'there is no namespace "nobody"',
        ),
        (
            lambda client: client.remember("x", namespace="ida", language="xx"),
            UnknownLanguage,
            'there is no text-search configuration "xx"',
        ),
        (lambda client: client.recall("x", k=0, embed=False), InvalidInput, None),
    ],
    ids=["memory", "id of no shard", "namespace", "language", "setting"],
)
def test_errors_are_those_of_one_database(
    client: Client, call: Callable[[Client], Any], error: type[PgrecallError], message: str | None
) -> None:
    with pytest.raises(error) as raised:
        call(client)
    assert type(raised.value) is error
    assert message is None or raised.value.message == message
    assert raised.value.hint
    assert "REMOTE" not in f"{raised.value.message} {raised.value.hint}"


def test_a_batch_for_several_shards_gives_the_ids_in_its_order(cluster: Cluster, client: Client) -> None:
    order = [2, 0, 1, 0, 2]
    ids = client.remember_many(
        {"content": f"part {place}", "namespace": NAMESPACES[shard]} for place, shard in enumerate(order)
    )
    assert [id // RANGE for id in ids] == order
    for place, (shard, id) in enumerate(zip(order, ids, strict=True)):
        assert cluster.on(shard, "SELECT content FROM pgrecall.memories WHERE id = %s", id) == [
            (f"part {place}",)
        ]
        client.forget(id)


def test_a_refused_batch_stores_nothing_on_the_shard_that_refuses(cluster: Cluster, client: Client) -> None:
    with pytest.raises(InvalidInput, match="importance"):
        client.remember_many([{"content": "a"}, {"content": "b", "importance": 7}], namespace="mia")
    assert cluster.on(0, "SELECT count(*) FROM pgrecall.memories WHERE content IN ('a', 'b')") == [(0,)]


def test_what_a_session_sets_goes_with_its_calls(cluster: Cluster, client: Client) -> None:
    ids = client.remember_many([{"content": f"rain on day {day}"} for day in range(5)], namespace="dora")
    with psycopg.connect(cluster.router, autocommit=True) as session:
        session.execute("SET pgrecall.namespace = 'dora'")
        count = "SELECT count(*) FROM recall('rain')"
        assert session.execute(count).fetchone() == (5,)
        session.execute("SET pgrecall.k = 2")
        assert session.execute(count).fetchone() == (2,)
        session.execute("SET TimeZone = 'Asia/Tokyo'")
        asked_at = "SELECT lower(parse_timeframe('today', '2026-03-01 20:00+00'))::text"
        assert session.execute(asked_at).fetchone() == ("2026-03-02 00:00:00+09",)
        session.execute("SET hnsw.ef_search = 17")
        assert session.execute("SELECT pgrecall_router.given() ->> 'hnsw.ef_search'").fetchone() == ("17",)
    for id in ids:
        client.forget(id)


def test_a_stored_setting_is_stored_on_every_shard(cluster: Cluster, client: Client) -> None:
    client.admin.set_setting("k", 3)
    stored = "SELECT value FROM pgrecall.settings WHERE name = 'k'"
    assert [cluster.on(shard, stored) for shard in NAMESPACES] == [[("3",)]] * 3
    [listed] = [setting for setting in client.admin.settings_in_force() if setting.name == "k"]
    assert (listed.value, listed.source) == ("3", "stored")
    client.admin.set_setting("k", None)
    with pytest.raises(InvalidInput):
        client.admin.set_setting("no_such_setting", 1)
    client.admin.set_setting("namespace", "ida")
    try:
        assert cluster.at_router("SELECT pgrecall.namespace_name(NULL)") == [("ida",)]
        assert client.remember("without a namespace") // RANGE == 2
    finally:
        client.admin.set_setting("namespace", None)


def test_the_status_is_that_of_all_shards(cluster: Cluster, client: Client) -> None:
    counts = [
        cluster.on(shard, "SELECT memories, namespaces FROM recall_status()")[0] for shard in NAMESPACES
    ]
    status = client.admin.status()
    assert (status.memories, status.namespaces) == tuple(map(sum, zip(*counts, strict=True)))
    assert status.dimension == 384
    assert status.failures_by_cause == {}
    found = [cluster.on(shard, "SELECT jobs FROM recall_status()")[0][0] for shard in NAMESPACES]
    for kind, states in status.jobs.items():
        for state, value in states.items():
            parts = [one[kind][state] or 0 for one in found]
            # Between two calls time passes.
            assert value is None or (value <= max(parts) if state == "seconds" else value == sum(parts)), kind
    assert client.admin.last_memory_id() == cluster.on(2, "SELECT pgrecall.last_memory_id()")[0][0]
    assert {finding.status for finding in client.admin.health()} <= {"ok", "info", "warn"}
    assert (client.admin.failures(), client.admin.retry_failures(), client.admin.workers()) == ([], 0, [])


def test_a_query_is_answered_by_the_shard_that_took_it(client: Client) -> None:
    answer = client.recall("mountains", namespace="mia", embed="daemon")
    assert answer.notice is not None
    assert "no embedder is alive" in answer.notice
    assert len(answer) == 1


def test_an_expansion_is_kept_on_the_shard_of_its_namespace(cluster: Cluster, client: Client) -> None:
    said = {"terms": ["mountains"], "synonyms": [], "entities": [], "intent": "fact"}
    with served() as llm:
        llm.script = lambda _: completion(said)
        for _ in range(2):
            found = client.recall(
                "where do they hike",
                namespace="mia",
                expand=LlmExpander(llm.url, "m", timeout=20),
                embed=False,
            )
            assert [memory.content for memory in found] == ["mia walks in the mountains"]
        assert len(llm.asked) == 1
    count = "SELECT count(*) FROM pgrecall.query_expansions"
    assert sorted(cluster.on(shard, count)[0][0] for shard in NAMESPACES) == [0, 0, 1]
    [(shard,)] = [(shard,) for shard, name in NAMESPACES.items() if name == "mia"]
    assert cluster.on(shard, count) == [(1,)]


def test_recall_all_merges_the_shards_and_is_the_administrators_alone(cluster: Cluster) -> None:
    rows = cluster.at_router("SELECT namespace, content, score FROM recall_all('mountains', k => 3)")
    assert sorted(row[0] for row in rows) == sorted(NAMESPACES.values())
    assert [row[2] for row in rows] == sorted((row[2] for row in rows), reverse=True)
    assert len(cluster.at_router("SELECT id FROM recall_all('mountains', k => 2)")) == 2
    assert cluster.at_router(
        "SELECT namespace FROM recall_all('mountains', namespaces => ARRAY['dora'])"
    ) == [("dora",)]
    make_role(cluster, "writer_of_all", "pgrecall_writer")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        asked(as_role(cluster.router, "writer_of_all"), "SELECT * FROM recall_all('mountains')")


def test_each_role_is_itself_on_the_shards(cluster: Cluster) -> None:
    make_role(cluster, "reads_only", "pgrecall_reader")
    reader = as_role(cluster.router, "reads_only")
    with Client(reader) as client:
        assert len(client.recall("mountains", namespace="dora", embed=False)) == 0
        cluster.at_router("SELECT pgrecall.grant_namespace('reads_only', 'dora')")
        assert len(client.recall("mountains", namespace="dora", embed=False)) == 1
        with pytest.raises(PermissionDenied):
            client.remember("not allowed", namespace="dora")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        asked(reader, "SELECT * FROM pgrecall_router.namespaces")
    # The shard alone decides what a role may: a right that only the router gives is none.
    cluster.at_router("GRANT pgrecall_writer TO reads_only")
    with Client(reader) as client, pytest.raises(PermissionDenied):
        client.remember("not allowed", namespace="dora")


def test_no_role_makes_itself_another_one_on_the_shards(cluster: Cluster) -> None:
    """PL/Proxy logs in as whom the caller's user mapping names, and USAGE on the server is enough to make one."""
    make_role(cluster, "sly", "pgrecall_reader")
    sly = as_role(cluster.router, "sly")
    cluster.at_router("CREATE USER MAPPING FOR sly SERVER pgrecall OPTIONS (user 'sly')")
    for attempt in (
        "CREATE USER MAPPING FOR CURRENT_USER SERVER pgrecall OPTIONS (user 'postgres')",
        "CREATE USER MAPPING FOR sly SERVER pgrecall OPTIONS (user 'postgres')",
        "ALTER USER MAPPING FOR CURRENT_USER SERVER pgrecall OPTIONS (SET user 'postgres')",
        "ALTER USER MAPPING FOR sly SERVER pgrecall OPTIONS (SET user 'postgres')",
        "DROP USER MAPPING FOR CURRENT_USER SERVER pgrecall",
        "DO $$ BEGIN ALTER USER MAPPING FOR CURRENT_USER SERVER pgrecall OPTIONS (SET user 'postgres'); END $$",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            asked(sly, attempt)
    assert asked(sly, "SELECT umoptions FROM pg_user_mappings WHERE usename = 'sly'") == [(["user=sly"],)]
    with Client(sly) as client:
        assert len(client.recall("mountains", namespace="dora", embed=False)) == 0
    cluster.at_router("DROP USER MAPPING FOR sly SERVER pgrecall")


def test_parallel_clients_on_three_shards_do_not_see_each_other(cluster: Cluster) -> None:
    wrong: list[object] = []
    begin = threading.Barrier(len(NAMESPACES))

    def work(shard: int, name: str) -> None:
        with Client(cluster.router, namespace=name) as client:
            begin.wait(30)
            for turn in range(30):
                id = client.remember(f"{name} counts to {turn}")
                found = client.recall("counts mountains", embed=False, k=100)
                wrong.extend(
                    memory for memory in found if memory.id // RANGE != shard or name not in memory.content
                )
                if len(found) != turn + 2 or id // RANGE != shard:
                    wrong.append((name, turn, len(found)))

    threads = [threading.Thread(target=work, args=one) for one in NAMESPACES.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert wrong == []


def test_a_shard_that_is_killed_takes_only_its_namespaces_along(cluster: Cluster) -> None:
    server = cluster.servers[1]
    pid = int((server.pgdata / "postmaster.pid").read_text().split()[0])
    with Client(cluster.router) as client:
        assert client.recall("mountains", namespace="dora", embed=False)
        os.kill(pid, signal.SIGQUIT)
        while server.running():
            os.sched_yield()
        try:
            for call in (
                lambda: client.recall("mountains", namespace="dora", embed=False),
                lambda: client.remember("lost", namespace="dora"),
                lambda: client.forget(RANGE + 1),
                client.admin.status,
            ):
                with pytest.raises(ConnectionFailed, match="shard 1 cannot be reached") as raised:
                    call()
                assert raised.value.sqlstate == "08006"
                assert "pgrecall shard list" in str(raised.value.hint)
            for name in ("mia", "ida"):
                assert client.recall("mountains", namespace=name, embed=False)
                assert client.forget(client.remember("works", namespace=name))
            # Nor do those who connect only now need it.
            with Client(cluster.router) as later:
                assert later.recall("mountains", namespace="ida", embed=False)
                assert later.active_model() is not None
            assert [shard.is_alive for shard in shards(cluster.router)] == [True, False, True]
            assert any("shard 1 cannot be reached" in problem for problem in check(cluster.router))
        finally:
            server.up()
        assert not client.recall("lost", namespace="dora", embed=False)


def test_init_again_changes_nothing_and_repairs_what_is_missing(cluster: Cluster) -> None:
    names = routed_names(cluster)
    before = cluster.at_router(_SIGNATURES, names), placements(cluster.router)
    cluster.at_router("DROP FUNCTION pgrecall.health()")
    assert init(cluster.router) == [0, 1, 2]
    assert init(cluster.router, cluster.shards) == [0, 1, 2]
    assert (cluster.at_router(_SIGNATURES, names), placements(cluster.router)) == before
    assert check(cluster.router) == []


def test_init_again_takes_another_account_of_the_shards(cluster: Cluster) -> None:
    """A password was changed, say; each shard knows its number, so they cannot be mixed up."""
    options = "SELECT umoptions FROM pg_user_mappings WHERE srvname = 'pgrecall' AND usename = current_user"
    before = cluster.at_router(options)
    renewed = [make_conninfo(shard, password="renewed") for shard in cluster.shards]
    assert init(cluster.router, renewed) == [0, 1, 2]
    [(found,)] = cluster.at_router(options)
    assert "password=renewed" in found
    assert init(cluster.router) == [0, 1, 2]
    assert cluster.at_router(options) == [(found,)]
    with pytest.raises(SchemaMismatch, match="is shard 1 of this router"):
        init(cluster.router, [cluster.shards[1], cluster.shards[0], cluster.shards[2]])
    assert init(cluster.router, cluster.shards) == [0, 1, 2]
    assert cluster.at_router(options) == before
    assert check(cluster.router) == []


def test_init_finds_a_namespace_that_its_shard_has_renamed(cluster: Cluster, client: Client) -> None:
    before = client.count(namespace="ida")
    for name, new_name in (("ida", "eve"), ("eve", "ida")):
        cluster.on(2, "SELECT pgrecall.rename_namespace(%s, %s)", name, new_name)
        init(cluster.router)
        assert client.count(namespace=new_name) == before


def test_init_refuses_what_cannot_be_a_router_or_a_shard(cluster: Cluster) -> None:
    other = cluster.servers[0].dsn("postgres")
    with pytest.raises(SchemaMismatch, match="has no pgrecall schema"):
        init(cluster.servers[1].dsn("postgres"), [other])
    with pytest.raises(SchemaMismatch, match="has a schema 'pgrecall'"):
        init(cluster.shards[0], [cluster.shards[1]])
    with pytest.raises(InvalidInput, match="has 3 shards already"):
        init(cluster.router, cluster.shards[:2])
    with pytest.raises(InvalidInput, match="named twice"):
        init(cluster.servers[1].dsn("postgres"), [cluster.shards[0], cluster.shards[0]])
    with pytest.raises(SchemaMismatch, match="another router"):
        init(cluster.servers[1].dsn("postgres"), [cluster.shards[0]])


def test_the_commands_print_shards_and_namespaces(cluster: Cluster) -> None:
    def said(*words: str) -> str:
        done = CliRunner().invoke(app, ["shard", *words, "--dsn", cluster.router])
        assert done.exit_code == 0, done.output
        return done.output

    assert said("list").count(" namespace") == 3
    assert "1  dora" in said("list", "--namespaces")
    assert "are consistent" in said("check")
    assert "3 shards" in said("init")
