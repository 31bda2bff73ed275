"""A public dialogue corpus end to end: import by the command line, embed, recall.

Needs the evaluation data (PGRECALL_DATA, else ../shared/data), which is not part of the project. Where it is absent
these tests skip; PGRECALL_REQUIRE_DATA=1 makes that a failure.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.extractor import WITHOUT_SPACY

if TYPE_CHECKING:
    from psycopg import Connection

DATA = Path(os.environ.get("PGRECALL_DATA", Path(__file__).parents[3] / "shared" / "data"))
CORPUS = DATA / "locomo" / "corpus.jsonl"

if not CORPUS.exists() and os.environ.get("PGRECALL_REQUIRE_DATA"):
    raise FileNotFoundError(f"PGRECALL_REQUIRE_DATA is set and there is no {CORPUS}")
pytestmark = pytest.mark.skipif(not CORPUS.exists(), reason=f"no evaluation data: there is no {CORPUS}")


TAKEN = {"conv-26", "conv-30", "conv-41"}
"""Three of the ten conversations: more lines than one batch of an import has."""


def _conversation(line: str) -> str:
    return str(json.loads(line)["conversation"])


def pgrecall(dsn: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pgrecall", *arguments],
        env=os.environ | {"PGRECALL_DSN": dsn},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_embed_recall(dsn: str, conn: Connection[Any], tmp_path: Path) -> None:
    lines = [
        line for line in CORPUS.read_text("utf-8").splitlines(keepends=True) if _conversation(line) in TAKEN
    ]
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(lines), encoding="utf-8")
    arguments = ("import", str(corpus), "--namespace-field", "conversation")
    pgrecall(dsn, *arguments)
    rows = conn.execute(
        "SELECT n.name, count(*) FROM pgrecall.memories m JOIN pgrecall.namespaces n ON n.id = m.namespace_id GROUP BY 1"
    ).fetchall()
    assert dict(rows) == Counter(map(_conversation, lines))
    assert set(dict(rows)) == TAKEN

    assert f"{len(lines)} lines already there" in pgrecall(dsn, *arguments)
    assert conn.execute("SELECT count(*) FROM pgrecall.memories").fetchone() == (len(lines),)

    conn.execute("SELECT pgrecall.set_setting('extract', %s)", [WITHOUT_SPACY])
    # One conversation is enough to see that it works; the rest would take the model a minute.
    conn.execute(
        "UPDATE pgrecall.memories SET deleted_at = now() WHERE namespace_id <> pgrecall.namespace_id('conv-26')"
    )
    pgrecall(dsn, "embedder", "--drain")
    assert conn.execute("SELECT pending, embedded FROM recall_status()").fetchone() == (
        0,
        dict(rows)["conv-26"],
    )

    question = "When did Caroline go to the LGBTQ support group?"
    found = json.loads(pgrecall(dsn, "recall", question, "--namespace", "conv-26", "--json"))
    assert len(found) == 10
    assert "conv-26/D1:3" in [memory["external_id"] for memory in found]
    assert all(memory["dense_rank"] is None or memory["similarity"] is not None for memory in found)
