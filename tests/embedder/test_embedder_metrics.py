"""What the daemon tells Prometheus: names, values, and that nothing but metrics is served."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pgrecall import Client
from pgrecall.errors import ConnectionFailed
from pgrecall_embedder.prometheus import PrometheusMetrics
from support.embedder import CANARY, remember
from support.operations import health
from support.reembed import OLD
from support.waiting import PATIENCE, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

    from support.reembed import ModelServer


@pytest.fixture
def metrics() -> Iterator[PrometheusMetrics]:
    made = PrometheusMetrics()
    yield made
    made.close()


def served(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        return str(answer.read().decode())


def read(port: int) -> dict[tuple[str, tuple[str, ...]], float]:
    """Scrape the port: values by name and labels, in the order of the labels' names."""
    return {
        (sample.name, tuple(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(served(port))
        for sample in family.samples
    }


def test_counts_are_served(metrics: PrometheusMetrics) -> None:
    port = metrics.serve(0)
    metrics.embedded(3)
    metrics.embedded(4)
    metrics.failed("input_refused")
    metrics.stale(2)
    metrics.batch(0.3, 16)
    metrics.query_answered(0.04)
    metrics.waiting(2, 5, 6, 7)
    found = read(port)
    assert found["pgrecall_embedder_embedded_total", ()] == 7
    assert found["pgrecall_embedder_failed_total", ("input_refused",)] == 1
    assert found["pgrecall_embedder_stale_total", ()] == 2
    assert found["pgrecall_embedder_texts_total", ()] == 16
    assert found["pgrecall_embedder_batch_seconds_sum", ()] == pytest.approx(0.3)
    assert found["pgrecall_embedder_batch_seconds_bucket", ("0.25",)] == 0
    assert found["pgrecall_embedder_batch_seconds_bucket", ("0.5",)] == 1
    assert found["pgrecall_embedder_query_seconds_count", ()] == 1
    assert [
        found["pgrecall_embedder_queue", ("2", state)] for state in ("in_progress", "retrying", "failed")
    ] == [
        5,
        6,
        7,
    ]
    assert found["process_cpu_seconds_total", ()] > 0


def test_a_pause_shows_until_it_is_over(metrics: PrometheusMetrics) -> None:
    port = metrics.serve(0)
    metrics.paused("small", "rate_limit", 60.0)
    metrics.paused("large", "outage", 0.2)
    metrics.paused("large", "outage", 0.2)
    assert read(port)["pgrecall_embedder_paused", ("rate_limit", "small")] == 1
    assert read(port)["pgrecall_embedder_pauses_total", ("outage", "large")] == 2
    until(lambda: read(port)["pgrecall_embedder_paused", ("outage", "large")] == 0)
    assert read(port)["pgrecall_embedder_paused", ("rate_limit", "small")] == 1


def test_two_daemons_of_one_process_count_apart(metrics: PrometheusMetrics) -> None:
    other = PrometheusMetrics()
    other.embedded(1)
    port = metrics.serve(0)
    assert read(port)["pgrecall_embedder_embedded_total", ()] == 0


def test_a_port_that_is_taken(metrics: PrometheusMetrics) -> None:
    port = metrics.serve(0)
    other = PrometheusMetrics()
    with pytest.raises(ConnectionFailed, match=rf"127\.0\.0\.1:{port}") as caught:
        other.serve(port)
    assert "--metrics-port" in str(caught.value.hint)
    with pytest.raises(ConnectionFailed):
        other.serve(70_000)
    metrics.close()
    other.serve(port)
    other.close()


@contextmanager
def daemon(dsn: str, *arguments: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A daemon that only embeds, stopped at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pgrecall_embedder", "--only", "embedding", "--log-json", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PGRECALL_DSN": dsn, **environment},
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)


def told(process: subprocess.Popen[str], event: str) -> dict[str, Any]:
    """The daemon's next log entry of that event."""
    assert process.stderr is not None
    for line in process.stderr:
        entry: dict[str, Any] = json.loads(line)
        if entry["event"] == event:
            return entry
    raise AssertionError(f"the daemon stopped before it said: {event}")


@pytest.mark.parametrize("by_environment", [False, True])
def test_a_daemon_serves_what_it_does(
    dsn: str, conn: Connection[Any], models: ModelServer, by_environment: bool
) -> None:
    conn.execute("SELECT pgrecall.activate_model(%s, 384, provider => 'openai')", [OLD])
    remember(conn, CANARY, "tea")
    arguments = () if by_environment else ("--metrics-port", "0")
    environment = {"PGRECALL_EMBEDDER_METRICS_PORT": "0"} if by_environment else {}
    with daemon(dsn, *arguments, **environment) as process:
        address = told(process, "metrics are served")["address"]
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/metrics", address)
        assert found is not None
        port = int(found[1])
        until(lambda: read(port)["pgrecall_embedder_embedded_total", ()] == 2)
        assert read(port)["pgrecall_embedder_texts_total", ()] == 2
        until(lambda: ("pgrecall_embedder_queue", ("1", "failed")) in read(port))
        assert CANARY not in served(port)
        # The daemon is in order for those who look from the database's side, too.
        with Client(dsn) as client:
            (worker,) = client.admin.workers()
        assert worker.pid == process.pid
        assert worker.is_alive
        assert worker.is_current
        assert worker.is_confined
        assert {health(conn)[name][0] for name in ("embedder", "embedder's code", "embedder's role")} == {
            "ok"
        }


@pytest.mark.parametrize("given", ["many", "-1", "99999", "٥"])
def test_a_port_that_is_none_stops_the_daemon_at_once(dsn: str, given: str) -> None:
    with daemon(dsn, PGRECALL_EMBEDDER_METRICS_PORT=given) as process:
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    entry = json.loads(err.splitlines()[-1])
    assert "PORT" in entry["event"] or "99999" in entry["event"]
    assert entry["hint"]
