"""What the tests of migrations share."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall.admin import bundle, environment
from pgrecall.admin import migrate as migrations
from pgrecall.server import binaries
from support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
HEAD = max(file.name[:4] for file in (ROOT / "migrations" / "versions").glob("[0-9]*.py"))
NEXT = f"{int(HEAD) + 1:04}"
LATER_INDEX = "memories_later_idx"
BGE_LARGE = "BAAI/bge-large-en-v1.5"
MINILM = "sentence-transformers/all-MiniLM-L6-v2"
SECONDS = 180
MIGRATE = "import sys; from pathlib import Path; from support.migrating import migrate_with; migrate_with(sys.argv[1], Path(sys.argv[2]))"
LATER = f'''"""An index, as a later revision makes one: outside a transaction."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "{NEXT}"
down_revision = "{HEAD}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.get_context().autocommit_block():
        run_sql(op.get_bind(), "DROP INDEX CONCURRENTLY IF EXISTS pgrecall.memories_later_idx")
        run_sql(op.get_bind(), "CREATE INDEX CONCURRENTLY memories_later_idx ON pgrecall.memories (updated_at)")


def downgrade() -> None:
    run_sql(op.get_bind(), "DROP INDEX pgrecall.memories_later_idx")
'''


def use_revisions(folder: Path) -> None:
    """Have this process read the revisions of another folder."""
    for module in (environment, migrations):
        module.folder = lambda name: folder if name == "migrations" else bundle.folder(name)  # type: ignore[attr-defined]


def migrate_with(dsn: str, folder: Path) -> None:
    """Migrate in this process, with the revisions of a folder."""
    use_revisions(folder)
    migrations.migrate(dsn)


@pytest.fixture
def later_revision(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder of revisions with one more than the package has; this process reads it for the length of a test."""
    folder = tmp_path / "migrations"
    shutil.copytree(ROOT / "migrations", folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / "0005_later.py").write_text(LATER, encoding="utf-8")
    for module in (environment, migrations):
        monkeypatch.setattr(module, "folder", module.folder)
    use_revisions(folder)
    return folder


@pytest.fixture
def later_bundle(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A copy of sql/ in which every file differs; this process installs it for the length of a test."""
    copy = tmp_path / "sql"
    shutil.copytree(ROOT / "sql", copy)
    for path in copy.rglob("*.sql"):
        path.write_text(f"-- Later.\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    found = bundle.folder
    monkeypatch.setattr(bundle, "folder", lambda name: copy if name == "sql" else found(name))
    forget_bundle()
    yield copy
    monkeypatch.undo()
    forget_bundle()


def forget_bundle() -> None:
    """Have this process read sql/ again."""
    for cached in (bundle.sql_files, bundle.installed_files, bundle.bundle_hash):
        cached.cache_clear()


def run(dsn: str, statement: str) -> list[tuple[Any, ...]]:
    """Run one statement on a connection of its own; return its rows."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        cursor = conn.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def schema(dsn: str) -> str:
    """Return everything but data that a dump of the database holds, and the settings of the database."""
    dumped = subprocess.run(
        [binaries() / "pg_dump", "--schema-only", "--dbname", dsn],
        check=True,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    ).stdout
    settings = run(
        dsn,
        "SELECT setconfig FROM pg_db_role_setting s JOIN pg_database d ON d.oid = setdatabase "
        "WHERE datname = current_database()",
    )
    # \restrict and \unrestrict carry a random word, pg_attver (Debian's 15) a number of the session.
    noise = r"(?m)^(\\(un)?restrict |.* SET \(pg_attver=).*\n"
    return re.sub(noise, "", dumped) + f"-- settings {settings}\n"


def vector(dimension: int, *values: float) -> str:
    return str([*values, *[0.0] * (dimension - len(values))])


def index_is_valid(dsn: str, name: str = "memories_embedding_idx") -> bool:
    rows = run(dsn, f"SELECT indisvalid FROM pg_index WHERE indexrelid = 'pgrecall.{name}'::regclass")
    return rows == [(True,)]


def wait_for(dsn: str, condition: str) -> None:
    until(lambda: run(dsn, f"SELECT {condition}") == [(True,)])


def _with_tests() -> dict[str, str]:
    """The environment of a process that imports what is beside the tests."""
    path = os.pathsep.join([str(ROOT / "tests"), *filter(None, [os.environ.get("PYTHONPATH")])])
    return os.environ | {"PYTHONPATH": path}


def installer(dsn: str, folder: Path) -> subprocess.Popen[bytes]:
    """Start a process that migrates, with the revisions of a folder."""
    return subprocess.Popen(
        [sys.executable, "-c", MIGRATE, dsn, str(folder)],
        stderr=subprocess.PIPE,
        env=_with_tests(),
    )


def alembic(*arguments: str, dsn: str | None, ini: Path = ROOT / "alembic.ini") -> tuple[int, str]:
    environment = {name: value for name, value in os.environ.items() if name != "PGRECALL_DSN"}
    done = subprocess.run(
        [sys.executable, "-m", "alembic", "-c", str(ini), *arguments],
        env=environment if dsn is None else environment | {"PGRECALL_DSN": dsn},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


CHANGED = "from pathlib import Path; import sys; from support.migrating import migrate_changed; migrate_changed(sys.argv[1], Path(sys.argv[2]))"


def use_code(folder: Path) -> None:
    """Have this process install the SQL code of another folder."""
    bundle.folder = lambda name: folder if name == "sql" else ROOT / name
    bundle.sql_files.cache_clear()
    bundle.installed_files.cache_clear()
    bundle.bundle_hash.cache_clear()


def migrate_changed(dsn: str, folder: Path) -> None:
    """Migrate in this process, with the SQL code of a folder."""
    use_code(folder)
    migrations.migrate(dsn)


def changed_code(folder: Path, *changes: tuple[str, str, str]) -> Path:
    """Return a copy of sql/ in which every file has another comment, and some have other texts.

    Args:
        folder: Where to put it.
        changes: The path of a file, what it says, and what it says in the copy.
    """
    shutil.copytree(ROOT / "sql", folder)
    for path in folder.rglob("*.sql"):
        path.write_text(f"-- Another comment.\n{path.read_text(encoding='utf-8')}", encoding="utf-8")
    for name, before, after in changes:
        text = (folder / name).read_text(encoding="utf-8")
        assert before in text, (name, before)
        (folder / name).write_text(text.replace(before, after), encoding="utf-8")
    return folder


def install_changed(dsn: str, folder: Path) -> None:
    """Migrate in another process, with the SQL code of a folder."""
    done = subprocess.run(
        [sys.executable, "-c", CHANGED, dsn, str(folder)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env=_with_tests(),
        check=False,
    )
    assert done.returncode == 0, done.stderr


def serve(conn: psycopg.Connection[Any], contract: int) -> None:
    """Have a database say that it serves only this contract."""
    conn.execute(
        "CREATE OR REPLACE FUNCTION pgrecall.contract() RETURNS TABLE (oldest integer, newest integer) "
        f"LANGUAGE sql IMMUTABLE BEGIN ATOMIC SELECT {contract}, {contract}; END".encode()
    )
