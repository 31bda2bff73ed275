"""`python -m benchmarks ppr`: the scores in the database are those outside it, and the times are there."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest

from benchmarks.cli import main
from benchmarks.quality.graph.challenger import WALK
from support.dataset import CORPUS, QRELS, QUERIES
from support.plpython import has_plpython, use_modules

pytestmark = pytest.mark.server_extras


@pytest.fixture
def command(tmp_path: Path, public_dir: Path) -> list[str]:
    for name, rows in {"corpus": CORPUS, "queries": QUERIES, "qrels": QRELS}.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = str(tmp_path / "out.json")
    return ["ppr", "--data", str(tmp_path), "--cache", str(public_dir / "cache"), "--json", out]


def test_a_whole_run(
    command: list[str], python_server: str, python_dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(python_dsn, autocommit=True) as conn:
        use_modules(conn, "scipy.sparse")
    monkeypatch.setenv("PGRECALL_DSN", python_server)
    assert main(command) == 0
    results = json.loads(Path(command[-1]).read_text())
    assert results["kind"] == "graph-ppr"
    assert results["quality"]["differs"] < 1e-6
    names = [one["name"] for one in results["quality"]["candidates"]]
    assert names == [WALK, "graph_ppr, restart 0.5", "graph_ppr, restart 0.15"]
    assert list(results["latency_ms"]) == names
    for part in ("latency_ms", "first_ms", "remember_ms"):
        assert all(0 < one["p50"] <= one["p95"] for one in results[part].values())


def test_a_server_without_the_language(
    command: list[str], server_dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if has_plpython(server_dsn):
        pytest.skip("this server has plpython3u")
    monkeypatch.setenv("PGRECALL_DSN", server_dsn)
    assert main(command) == 2
    assert "the server has no plpython3u" in capsys.readouterr().err
