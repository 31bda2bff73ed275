"""Importing pgrecall and asking for help is quick and small: nothing heavy comes in before it is needed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

CLIENT = Path(__file__).resolve().parents[2] / "pyclient"

# In the processor time of a million steps of a loop: a machine that is slow or busy is so for both.
IMPORT_LOOPS = 2
HELP_LOOPS = 8
IMPORT_MEGABYTES = 60
TRIES = 5

HEAVY = (
    "alembic", "dateparser", "langchain_core", "llama_index", "numpy", "pgvector", "psycopg", "py3langid", "pydantic", "rich",
    "sentence_transformers", "sqlalchemy", "torch", "transformers",
)  # fmt: skip

# The peak is read from /proc: ru_maxrss would begin with what the parent process used when it forked.
PROBE = """
import json, re, sys, time
start = time.process_time()
{statement}
end = time.process_time()
sum(n * n for n in range(1_000_000))
print(json.dumps([
    (end - start) / (time.process_time() - end),
    int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) / 1024,
    sorted(name for name in sys.modules if "." not in name),
]))
"""
HELP = """
import contextlib, io
from pgrecall.cli import main
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()) as out:
    main(["--help"])
assert "recall" in out.getvalue()
"""


def _probe(statement: str) -> tuple[float, float, list[str]]:
    """Run a statement in fresh interpreters; the least processor time, in loops, is the one that nothing disturbed."""
    best: tuple[float, float, list[str]] | None = None
    for _ in range(TRIES):
        done = subprocess.run(
            [sys.executable, "-c", PROBE.format(statement=statement)],
            capture_output=True,
            text=True,
            check=True,
        )
        loops, megabytes, modules = json.loads(done.stdout)
        if best is None or loops < best[0]:
            best = loops, megabytes, modules
    assert best is not None
    return best


def test_import_is_light() -> None:
    loops, megabytes, modules = _probe("import pgrecall")
    assert not set(HEAVY) & set(modules)
    assert megabytes < IMPORT_MEGABYTES
    assert loops < IMPORT_LOOPS


@pytest.mark.parametrize("name", ["Client", "AsyncClient"])
def test_the_client_needs_psycopg_and_nothing_heavier(name: str) -> None:
    _, megabytes, modules = _probe(f"from pgrecall import {name}")
    assert not (set(HEAVY) - {"psycopg"}) & set(modules)
    assert megabytes < IMPORT_MEGABYTES


def test_help_is_quick() -> None:
    loops, megabytes, modules = _probe(HELP)
    assert not (set(HEAVY) - {"rich"}) & set(modules)
    assert megabytes < IMPORT_MEGABYTES
    assert loops < HELP_LOOPS


def _imported_on_demand() -> list[str]:
    texts = [path.read_text(encoding="utf-8") for path in CLIENT.rglob("*.py")]
    return sorted(
        {
            name
            for text in texts
            for name in re.findall(r"(?m)^ +from (pgrecall_e(?:mbedder|xtract)[\w.]*) import", text)
        }
    )


@pytest.mark.parametrize("module", _imported_on_demand())
def test_what_the_client_takes_from_the_embedder_can_be_imported_first(module: str) -> None:
    """In a process of its own: a circle of imports is seen only by who enters it there."""
    done = subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_extraction_knows_no_database_and_no_daemon() -> None:
    modules = sorted((CLIENT.parent / "embedder" / "pgrecall_extract").rglob("*.py"))
    assert len(modules) > 20
    named = re.compile(r"(?m)^ *(?:from|import) (psycopg|pgrecall|pgrecall_embedder)\b")
    assert {str(path): found for path in modules if (found := named.findall(path.read_text("utf-8")))} == {}
    _, _, loaded = _probe("import pgrecall_extract.extractor")
    assert not {"psycopg", "pgrecall", "pgrecall_embedder"} & set(loaded)
