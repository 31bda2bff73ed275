"""Engines inside one process, over the memories of the large namespace: what one would pick for speed alone.

They know no tenants, transactions or concepts. They run by the Python that PGRECALL_BENCH_ENGINES names, else
by the one `make bench-engines` installs. A question's time includes its way through a pipe, about 0.2 ms.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.scratch import default_cache
from benchmarks.speed.generator import LARGE
from benchmarks.speed.systems import K

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

    from benchmarks.speed.measure import Call
    from benchmarks.speed.questions import Question

__all__ = ["engines"]

_WORKER = Path(__file__).with_name("engines_worker.py")
_MEMORIES = """
SELECT m.content, m.embedding::text
FROM pgrecall.memories m JOIN pgrecall.namespaces n ON n.id = m.namespace_id
WHERE n.name = %s AND m.embedding IS NOT NULL ORDER BY m.id
"""


@contextmanager
def engines(connection: Connection[Any]) -> Iterator[dict[str, Call]]:
    """Give the engines the memories of the large namespace; yield a call for each, if they are installed.

    Args:
        connection: A connection to the benchmark's database.
    """
    chosen = os.environ.get("PGRECALL_BENCH_ENGINES")
    python = Path(chosen) if chosen else default_cache() / "engines" / "bin" / "python"
    if not python.exists():
        yield {}
        return
    with tempfile.TemporaryDirectory() as folder:
        _export(connection, Path(folder))
        command = [str(python), str(_WORKER), folder]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            names = _answer(process)["engines"]
            yield {name: _call(process, name) for name in names}
            if process.stdin is not None:
                process.stdin.close()


def _export(connection: Connection[Any], folder: Path) -> None:
    rows = connection.execute(_MEMORIES, (LARGE,)).fetchall()
    (folder / "texts.json").write_text(json.dumps([text for text, _ in rows]), encoding="utf-8")
    np.save(folder / "vectors.npy", np.array([json.loads(vector) for _, vector in rows], np.float32))


def _call(process: subprocess.Popen[str], name: str) -> Call:
    def call(connection: Connection[Any], question: Question) -> object:  # noqa: ARG001
        if process.stdin is None:
            raise RuntimeError("the worker has no input")
        # The vector is JSON already.
        asked = json.dumps({"engine": name, "text": question.text, "k": K})
        process.stdin.write(f'{asked[:-1]}, "vector": {question.vector}}}\n')
        process.stdin.flush()
        return _answer(process)["found"]

    return call


def _answer(process: subprocess.Popen[str]) -> dict[str, Any]:
    line = process.stdout.readline() if process.stdout else ""
    if not line:
        raise RuntimeError(f"the engines' process ended with {process.wait()}")
    answer: dict[str, Any] = json.loads(line)
    return answer
