"""The pages of docs/drivers/ run with the newest release of each driver, against a database with a daemon."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import conninfo_to_dict

from pgrecall.admin.migrate import check
from support.answering import Model, answering
from support.docs import ROOT, complaints, examples, matches
from support.packages import install

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import psycopg

PAGES = sorted((ROOT / "docs" / "drivers").glob("*.md"))
TYPESCRIPT = ROOT / "examples" / "typescript"
PACKAGES = {"psycopg": [], "sqlalchemy": [], "asyncpg": ["asyncpg"], "django": ["django"]}
SECONDS = 300
PRINTED = "true Priya takes the night train to Kerala true { user: 'priya', year: 2026 }\n1 true\n"


def environment(dsn: str) -> dict[str, str]:
    """Return the variables that tell a driver where the database is."""
    given = conninfo_to_dict(dsn)
    return {
        **os.environ,
        **{f"PG{name.upper()}": str(given[name]) for name in ("host", "port", "user")},
        "PGDATABASE": str(given["dbname"]),
    }


def run(command: list[str], folder: Path, variables: Mapping[str, str]) -> str:
    done = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_marks(page: Path) -> None:
    assert complaints(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", PACKAGES)
def test_the_examples_in_python(name: str, dsn: str, tmp_path: Path) -> None:
    page = ROOT / "docs" / "drivers" / f"{name}.md"
    found = examples(str(page), page.read_text(encoding="utf-8"))
    assert {one.language for one in found} == {"python"}
    if PACKAGES[name]:
        install(tmp_path / "site", *PACKAGES[name])
    script = tmp_path / "example.py"
    script.write_text("\n".join(one.code for one in found))
    variables = environment(dsn) | {"PYTHONPATH": str(tmp_path / "site")}
    expected = "".join(one.output or "" for one in found)
    for _ in range(2):  # a page can be followed twice
        printed = run([sys.executable, str(script)], tmp_path, variables)
        assert matches(expected, printed), printed


MIGRATING = """
import os, types
from django.conf import settings
settings.configure(DATABASES={"default": {
    "ENGINE": "django.db.backends.postgresql", "HOST": os.environ["PGHOST"], "PORT": os.environ["PGPORT"],
    "NAME": os.environ["PGDATABASE"], "USER": os.environ["PGUSER"]}})
import django
django.setup()
from django.db import connection
from django.db.migrations.state import ProjectState
%s
for atomic in (True, False):
    with connection.schema_editor(atomic=atomic) as editor:
        Migration.atomic = atomic
        Migration("0001", "app").apply(ProjectState(), editor)
"""


def test_a_migration_of_django(new_database: Callable[..., str], tmp_path: Path) -> None:
    page = (ROOT / "docs" / "migrations.md").read_text(encoding="utf-8")
    block = page.split("## Django")[1].split("```python\n")[1].split("```")[0]
    install(tmp_path / "site", "django")
    script = tmp_path / "migrating.py"
    script.write_text(MIGRATING % block)
    dsn = new_database()
    run([sys.executable, str(script)], tmp_path, environment(dsn) | {"PYTHONPATH": str(tmp_path / "site")})
    assert check(dsn).current


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example in TypeScript, compiled."""
    folder = tmp_path_factory.mktemp("typescript") / "example"
    shutil.copytree(TYPESCRIPT, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    if shutil.which("npm") is None:
        pytest.skip("there is no node here")
    done = subprocess.run(
        ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode != 0 and not os.environ.get("PGRECALL_REQUIRE_DATA"):
        pytest.skip("there is no package index to install the drivers from")
    assert done.returncode == 0, done.stderr
    run(["npm", "run", "build"], folder, os.environ)
    return folder


@pytest.mark.parametrize("driver", ["node-postgres", "postgres-js"])
def test_the_examples_in_typescript(
    driver: str, built: Path, dsn: str, conn: psycopg.Connection[Any]
) -> None:
    text = (ROOT / "docs" / "drivers" / f"{driver}.md").read_text(encoding="utf-8")
    source = "".join(file.read_text(encoding="utf-8") for file in (TYPESCRIPT / "src").glob("*.ts"))
    shown = [block.split("```")[0] for block in text.split("```ts\n")[1:]]
    assert shown
    assert all(block in source or "${question}" in block for block in shown)
    model = Model()
    for _ in range(2):
        assert run(["npm", "run", "--silent", driver], built, environment(dsn)) == PRINTED
    with answering(dsn, model):
        assert run(["npm", "run", "--silent", driver], built, environment(dsn)) == PRINTED
    # The daemon has been asked for the embedding of the question.
    assert model.queries == ["how does Priya travel?"]
    assert conn.execute("SELECT count(*) FROM pgrecall.memories").fetchall() == [(1,)]


@pytest.mark.parametrize("driver", ["pg", "postgres"])
def test_ids_are_not_rounded_and_names_are_no_way_in(
    driver: str, built: Path, dsn: str, conn: psycopg.Connection[Any]
) -> None:
    conn.execute("SELECT setval('pgrecall.memories_id_seq', 9007199254740993)")
    make = {
        "pg": "const { default: pg } = await import('pg'); const pool = new pg.Pool();"
        "const run = async (s, v) => (await pool.query(s, v)).rows; const end = () => pool.end();",
        "postgres": "const { default: postgres } = await import('postgres'); const sql = postgres();"
        "const run = (s, v) => sql.unsafe(s, v); const end = () => sql.end();",
    }[driver]
    (built / f"try-{driver}.mjs").write_text(
        make
        + """
        import { Memories } from "./dist/pgrecall.js";
        const memories = new Memories(run, "ids");
        console.log(await memories.remember({ content: "it's \\"quoted\\"", tags: ["a,b", '"c"'] }));
        const vector = Array.from({ length: 384 }, (_, i) => Math.sin(i));
        const [found] = await memories.recall("quoted", { vector });
        console.log(found.id, found.content, JSON.stringify(found.tags));
        const [next] = await memories.list({ after_id: await memories.remember({ content: "next" }) });
        console.log(next.id);
        const forged = JSON.parse('{"k => 1) UNION SELECT 1 --": 1}');
        await memories.recall("x", forged).catch((error) => console.log(error.constructor.name));
        await memories.list({ max_results: 10000 }).catch((error) => console.log(error.code, error.hint.length > 0));
        await end();
        """
    )
    printed = run(["node", f"try-{driver}.mjs"], built, environment(dsn)).splitlines()
    assert printed == [
        "9007199254740994",
        '9007199254740994 it\'s "quoted" ["a,b","\\"c\\""]',
        "9007199254740994",
        "TypeError",
        "22023 true",
    ]
