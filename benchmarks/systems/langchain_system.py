"""langchain-postgres' hybrid search, in a Python of its own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from psycopg.conninfo import conninfo_to_dict

from benchmarks.scratch import default_cache
from benchmarks.systems.base import CannotRun

if TYPE_CHECKING:
    from benchmarks.quality.datasets import Dataset, Query
    from benchmarks.quality.resources import Resources

__all__ = ["LangChain"]

_WORKER = Path(__file__).with_name("langchain_worker.py")
_SQL = Path(__file__).parent / "sql" / "langchain.sql"


class LangChain:
    """PGVectorStore with HybridSearchConfig: every word by ts_rank_cd and cosine, 50 each, its RRF (k 60).

    It runs by the Python that PGRECALL_BENCH_LANGCHAIN names, else by the one `make bench-langchain`
    installs. A question's time includes its way through a pipe, about 0.2 ms.

    Args:
        resources: The run's.
    """

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._process: subprocess.Popen[str] | None = None

    def index(self, dataset: Dataset) -> None:  # noqa: ARG002
        """Start the worker, let it make its table, and fill that."""
        chosen = os.environ.get("PGRECALL_BENCH_LANGCHAIN")
        python = Path(chosen) if chosen else default_cache() / "langchain" / "bin" / "python"
        if not python.exists():
            raise CannotRun("langchain-postgres is not installed: make bench-langchain")
        connection = self._resources.documents
        command = [
            str(python),
            str(_WORKER),
            _url(self._resources.dsn),
            self._resources.language,
            str(self._resources.loaded.embedder.model.dimension),
        ]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._answer()
        connection.execute(_SQL.read_bytes())

    def retrieve(self, query: Query, k: int) -> list[str]:
        """Ask the worker."""
        if self._process is None or self._process.stdin is None:
            raise RuntimeError("index() comes first")
        vector = self._resources.query_vectors[query.id].tolist()
        asked = {"text": query.text, "scope": query.namespace, "vector": vector, "k": k}
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return [str(id) for id in self._answer()["ids"]]

    def close(self) -> None:
        """End the worker."""
        process, self._process = self._process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        process.terminate()
        process.wait(timeout=30)

    def _answer(self) -> dict[str, Any]:
        process = self._process
        if process is None or process.stdout is None or process.stderr is None:
            raise RuntimeError("index() comes first")
        line = process.stdout.readline()
        if not line:
            process.wait(timeout=30)
            last = [text for text in process.stderr.read().splitlines() if text.strip()][-1:]
            raise CannotRun(f"langchain-postgres stopped: {''.join(last)[:300]}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def _url(dsn: str) -> str:
    """Write a connection string as SQLAlchemy reads it."""
    parts = {name: str(value) for name, value in conninfo_to_dict(dsn).items()}
    user = quote(parts.pop("user", ""), safe="")
    password = quote(parts.pop("password", ""), safe="")
    database = quote(parts.pop("dbname", ""), safe="")
    options = "&".join(f"{name}={quote(value, safe='')}" for name, value in parts.items())
    return f"postgresql+psycopg://{user}{':' + password if password else ''}@/{database}?{options}"
