"""`pgrecall reembed`: another model while recall goes on, measured before it is switched to."""

from __future__ import annotations

import json
import socket
import threading
from itertools import cycle
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from typer.testing import CliRunner

from pgrecall.admin.migrate import check, migrate
from pgrecall.admin.reembed import SwitchRefused, cancel, drop_old, progress, reembed, rollback
from pgrecall.cli import app
from pgrecall.errors import EmbeddingUnavailable, InvalidInput, NotFound, PgrecallError, SchemaMismatch
from support.memories import remember, scalar
from support.migrating import schema
from support.reembed import (
    NEW,
    NOISE,
    OLD,
    TEXTS,
    Filler,
    ModelServer,
    build,
    change,
    filled,
    generations,
    judge,
    leftovers,
    sentences,
    vector_of,
)
from support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection


def found(conn: Connection[Any], text: str, model: str, **options: str) -> list[int]:
    rows = conn.execute(
        "SELECT id FROM recall('', %s, 3, settings => %s)",
        [str(vector_of(model, text)), json.dumps(options)],
    )
    return [row[0] for row in rows]


def test_recall_goes_on_before_during_and_after(dsn: str, conn: Connection[Any], models: ModelServer) -> None:
    said: list[Any] = []
    with filled(dsn) as (ids, _):
        assert found(conn, TEXTS[5], OLD)[0] == ids[5]
        done = change(dsn, switch=False, report=said.append)

        assert not done.is_switched
        assert generations(conn) == {1: "active", 2: "building"}
        # The new vectors are asked for by name only; nobody who knows nothing of them is answered by them.
        assert found(conn, TEXTS[5], OLD)[0] == ids[5]
        assert found(conn, TEXTS[5], NEW, query_model=NEW)[0] == ids[5]
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            found(conn, TEXTS[5], NEW)

        assert change(dsn, report=said.append).is_switched
        assert generations(conn) == {2: "active", 1: "retired"}
        assert found(conn, TEXTS[5], NEW)[0] == ids[5]
        assert found(conn, TEXTS[5], OLD)[0] == ids[5]
        assert scalar(conn, "SELECT name FROM pgrecall.active_model()") == NEW

    drop_old(dsn)
    assert generations(conn) == {2: "active"}
    assert found(conn, TEXTS[5], NEW)[0] == ids[5]
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        found(conn, TEXTS[5], OLD)
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        found(conn, TEXTS[5], OLD, query_model=OLD)
    assert leftovers(conn) == 0
    assert any("recall now reads the embeddings of words-256" in one for one in said if isinstance(one, str))


def test_the_models_are_compared(dsn: str, conn: Connection[Any], models: ModelServer) -> None:
    with filled(dsn) as (ids, _):
        judge(conn, TEXTS[:8], ids[:8])
        done = change(dsn)
    comparison = done.comparison
    assert comparison is not None
    assert (comparison.judged, comparison.before, comparison.after) == (8, 1.0, 1.0)
    assert (comparison.change_low, comparison.change_high) == (0.0, 0.0)
    assert comparison.sampled == 60
    assert 0.3 < comparison.overlap < 1
    # Kept for the next evaluation; what memories say was not kept as a query.
    assert scalar(conn, "SELECT count(*) FROM pgrecall.judged_vectors") == 16
    assert scalar(conn, "SELECT queries FROM pgrecall.recall_eval() WHERE stratum = 'overall'") == 8
    assert scalar(conn, "SELECT count(*) FROM pgrecall.query_embeddings") == 0


def test_a_model_without_sense_is_refused(dsn: str, conn: Connection[Any], models: ModelServer) -> None:
    with filled(dsn):
        with pytest.raises(SwitchRefused) as caught:
            change(dsn, NOISE)
        assert caught.value.hint is not None
        assert generations(conn) == {1: "active", 2: "building"}
        assert change(dsn, NOISE, min_overlap=0).is_switched


def test_a_loss_on_judged_queries_is_refused(dsn: str, conn: Connection[Any], models: ModelServer) -> None:
    conn.execute("SELECT pgrecall.set_setting('strategy', 'vector')")
    with filled(dsn) as (ids, _):
        # Of two of three words, so that noise does not know the sentence.
        judge(conn, [" ".join(text.split()[:2]) for text in TEXTS[:8]], ids[:8])
        with pytest.raises(SwitchRefused, match=r"recall@10 of the judged queries falls from \d\.\d+ to"):
            change(dsn, NOISE, min_overlap=0)
        assert generations(conn) == {1: "active", 2: "building"}
        assert change(dsn, NOISE, min_overlap=0, max_loss=1).is_switched


def test_force_switches_without_a_comparison(dsn: str, models: ModelServer) -> None:
    with filled(dsn):
        models.asked.clear()
        done = change(dsn, NOISE, force=True)
    assert done.is_switched
    assert done.comparison is None
    assert models.asked == []


def test_a_model_that_is_not_here_refuses_the_switch(
    dsn: str, conn: Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PGRECALL_EMBEDDER_OPENAI_URL", raising=False)
    monkeypatch.delenv("PGRECALL_EMBEDDER_OPENAI_API_KEY", raising=False)
    with filled(dsn):
        with pytest.raises(PgrecallError) as caught:
            change(dsn)
        assert "--force" in str(caught.value.hint)
        assert generations(conn) == {1: "active", 2: "building"}


def test_many_failures_refuse_the_switch(dsn: str, conn: Connection[Any], models: ModelServer) -> None:
    conn.execute("SELECT pgrecall.activate_model(%s, 384, provider => 'openai')", [OLD])
    for text in TEXTS[:20]:
        remember(conn, text)
    poison = TEXTS[3]
    with Filler(dsn, poison):
        with pytest.raises(SwitchRefused, match="1 of 20 memories could not be embedded"):
            change(dsn)
        assert generations(conn) == {1: "active", 2: "building"}
        assert change(dsn, force=True).is_switched
    assert [one.failed for one in progress(dsn)] == [1, 1]


@pytest.mark.slow
def test_memories_that_keep_coming_do_not_hold_it_up(
    dsn: str, conn: Connection[Any], models: ModelServer
) -> None:
    stop = threading.Event()

    def write() -> None:
        with psycopg.connect(dsn, autocommit=True) as writer:
            # Texts with neighbours of their own: those of "note 1", "note 2" would differ by chance between models.
            for number, text in enumerate(cycle(sentences(480))):
                if stop.wait(0.01):
                    return
                remember(writer, f"{text} {number}")

    with filled(dsn, 200):
        writing = threading.Thread(target=write)
        writing.start()
        try:
            assert change(dsn).is_switched
        finally:
            stop.set()
            writing.join()
        until(lambda: not scalar(conn, "SELECT pending FROM recall_status()"))
    active = progress(dsn)[0]
    assert (active.model, active.pending) == (NEW, 0)


def test_it_embeds_by_itself(dsn: str, conn: Connection[Any], models: ModelServer) -> None:
    """Where no daemon is alive; what the present model has not embedded is embedded as well."""
    conn.execute("SELECT pgrecall.activate_model(%s, 384, provider => 'openai')", [OLD])
    ids = [remember(conn, text) for text in TEXTS[:30]]
    assert change(dsn, leave_to_daemons=False).is_switched
    assert [(one.embedded, one.pending) for one in progress(dsn)] == [(30, 0), (30, 0)]
    assert found(conn, TEXTS[5], NEW)[0] == ids[5]
    assert scalar(conn, "SELECT workers FROM recall_status()") == 0


def test_an_embedder_that_cannot_work_is_an_error(
    dsn: str, conn: Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGRECALL_EMBEDDER_OPENAI_URL", "no address")
    conn.execute("SELECT pgrecall.activate_model(%s, 384, provider => 'openai')", [OLD])
    remember(conn, "a memory")
    with pytest.raises(EmbeddingUnavailable) as caught:
        change(dsn, leave_to_daemons=False)
    assert caught.value.hint
    assert generations(conn) == {1: "active"}


def test_it_embeds_beside_a_daemon_that_serves_metrics(
    dsn: str, conn: Connection[Any], models: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The port in the environment is taken, by the daemon that the environment is meant for."""
    conn.execute("SELECT pgrecall.activate_model(%s, 384, provider => 'openai')", [OLD])
    remember(conn, TEXTS[0])
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("PGRECALL_EMBEDDER_METRICS_PORT", str(taken.getsockname()[1]))
        assert change(dsn, leave_to_daemons=False).is_switched


def test_notifications_of_another_database_are_not_listened_to(
    dsn: str, conn: Connection[Any], models: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    conn.execute("SELECT pgrecall.activate_model(%s, 384, provider => 'openai')", [OLD])
    remember(conn, TEXTS[0])
    # An embedder that reads this refuses to start.
    monkeypatch.setenv("PGRECALL_EMBEDDER_LISTEN_DSN", "no connection string")
    monkeypatch.setenv("PGRECALL_DSN", dsn)
    with pytest.raises(EmbeddingUnavailable):
        change(dsn, leave_to_daemons=False)
    monkeypatch.setenv("PGRECALL_DSN", "dbname=another")
    assert change(dsn, leave_to_daemons=False).is_switched


@pytest.mark.slow
def test_a_new_model_that_cannot_be_loaded_is_an_error(
    dsn: str, conn: Connection[Any], models: ModelServer
) -> None:
    conn.execute("SELECT pgrecall.activate_model(%s, 384, provider => 'openai')", [OLD])
    remember(conn, "a memory")
    with pytest.raises(EmbeddingUnavailable, match="openai:other"):
        reembed(dsn, model=NEW, dim=256, provider="openai:other")
    with pytest.raises(EmbeddingUnavailable) as caught:
        reembed(dsn, model="/no/such/model", dim=256)
    assert caught.value.hint
    assert generations(conn) == {1: "active"}


def test_back_and_forth(dsn: str, conn: Connection[Any], models: ModelServer) -> None:
    with pytest.raises(NotFound):
        rollback(dsn)
    with filled(dsn):
        change(dsn)
        assert rollback(dsn) == 1
        # Once more, as after an interruption, goes nowhere.
        assert rollback(dsn) == 1
        assert generations(conn) == {1: "active", 2: "retired"}
        models.asked.clear()
        assert change(dsn).generation == 2
        assert generations(conn) == {2: "active", 1: "retired"}
        assert models.asked == []
        # It is there already.
        assert change(dsn).is_switched
        with pytest.raises(SchemaMismatch) as caught:
            change(dsn, NOISE)
        assert "--drop-old" in str(caught.value.hint)
        # By its old name as well.
        assert change(dsn, OLD).generation == 1
        assert generations(conn) == {1: "active", 2: "retired"}


def test_giving_it_up(dsn: str, conn: Connection[Any], fresh: str, models: ModelServer) -> None:
    with filled(dsn):
        change(dsn, switch=False)
        with pytest.raises(SchemaMismatch) as caught:
            change(dsn, NOISE)
        assert "--cancel" in str(caught.value.hint)
        assert cancel(dsn) == 2
        assert generations(conn) == {1: "active"}
    with pytest.raises(NotFound):
        cancel(dsn)
    assert "embedding_2" not in schema(dsn)
    # Its number is not given again, since somebody may still bring vectors for it.
    assert build(conn) == 3
    assert conn.execute("SELECT FROM pgrecall.claim(gen_random_uuid(), generation => 2)").fetchall() == []


def test_life_without_the_first_generation(dsn: str, conn: Connection[Any], models: ModelServer) -> None:
    with filled(dsn) as (ids, _):
        change(dsn)
        assert drop_old(dsn) == 1
        conn.execute("SELECT update_memory(%s, content => 'harbour paints lantern.')", [ids[0]])
        new = remember(conn, "violin hides blanket.")
        until(lambda: not scalar(conn, "SELECT pending FROM recall_status()"))
        assert found(conn, "violin hides blanket.", NEW)[0] == new
        assert found(conn, "harbour paints lantern.", NEW)[0] == ids[0]
        assert migrate(dsn).messages == ()
        assert check(dsn).current
        assert found(conn, "violin hides blanket.", NEW)[0] == new
        # A third.
        assert change(dsn, "words-128").generation == 3
        assert found(conn, "violin hides blanket.", "words-128")[0] == new
        drop_old(dsn)
    assert generations(conn) == {3: "active"}
    doctor = CliRunner().invoke(app, ["doctor", "--dsn", dsn])
    assert doctor.exit_code == 0, doctor.output


def test_nobody_waits_long_for_the_lock(dsn: str, conn: Connection[Any], models: ModelServer) -> None:
    """A reader that does not end keeps the new column away, and no other reader with it."""
    with filled(dsn), psycopg.connect(dsn) as reader:
        reader.execute("SELECT count(*) FROM pgrecall.memories")
        changing = threading.Thread(target=change, args=(dsn,), kwargs={"force": True})
        changing.start()
        conn.execute("SET statement_timeout = '5s'")
        waits = (
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        until(lambda: scalar(conn, waits))
        for _ in range(10):
            assert found(conn, TEXTS[0], OLD)
        assert generations(conn) == {1: "active"}
        reader.commit()
        changing.join()
        assert generations(conn) == {2: "active", 1: "retired"}


def test_what_is_not_known_is_refused(dsn: str) -> None:
    with pytest.raises(InvalidInput, match="the dimension of model nobody/knows is not known"):
        reembed(dsn, model="nobody/knows")
    with pytest.raises(InvalidInput, match="has 384 dimensions, not 1024"):
        reembed(dsn, model="sentence-transformers/all-MiniLM-L6-v2", dim=1024)


def test_it_wants_the_schema_of_this_package(new_database: Callable[..., str]) -> None:
    with pytest.raises(SchemaMismatch):
        progress(new_database())


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--model", NEW, "--rollback"],
        ["--rollback", "--drop-old"],
        ["--cancel", "--dim", "3"],
        ["--status", "--force"],
        ["--model", NEW, "--min-overlap", "2"],
    ],
)
def test_options_that_do_not_go_together(arguments: list[str]) -> None:
    assert CliRunner().invoke(app, ["reembed", *arguments]).exit_code == 2


def test_the_command_line(dsn: str, models: ModelServer) -> None:
    def run(*arguments: str) -> str:
        done = CliRunner().invoke(app, ["reembed", *arguments, "--dsn", dsn])
        assert done.exit_code == 0, done.output
        return done.output

    with filled(dsn):
        said = run("--model", NEW, "--dim", "256", "--provider", "openai", "--leave-to-daemons")
        assert "created generation 2: words-256, 256 dimensions" in said
        assert "sampled memories: 60, 0." in said
        assert "recall now reads the embeddings of words-256" in said
        status = run("--status")
        assert "generation 2  active  words-256 (openai)  256 dimensions\n  embedded 60 of 60" in status
        assert "recall reads the embeddings of words-384 again" in run("--rollback")
        assert "generation 2 (words-256) dropped" in run("--drop-old")
