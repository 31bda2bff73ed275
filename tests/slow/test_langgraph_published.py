"""The store tests that LangGraph's authors publish for their own PostgreSQL store, run on pgrecall's store."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from psycopg.conninfo import conninfo_to_dict

from support import langgraph_published
from support.langgraph_published import REASONS

if TYPE_CHECKING:
    from pathlib import Path

PUBLISHED = "langgraph-checkpoint-postgres==3.2.0"
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
SECONDS = 900
CONFTEST = """
import os

from tests.embed_test_utils import CharacterEmbeddings

DEFAULT_URI = os.environ["PUBLISHED_DSN"]
VECTOR_TYPES = ["vector"]
"""


def pip(*arguments: str | Path) -> None:
    done = subprocess.run(
        [*PIP, *map(str, arguments)], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if done.returncode != 0 and not os.environ.get("PGRECALL_REQUIRE_DATA"):
        pytest.skip(f"there is no package index to get {PUBLISHED} from")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the published tests, and in `site` the plugin of pytest that they want."""
    folder = tmp_path_factory.mktemp("published")
    pip("download", "--no-deps", "--no-binary", ":all:", "--dest", folder, PUBLISHED)
    pip("install", "--target", folder / "site", "pytest-asyncio>=1.3,<2")
    [archive] = folder.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    [source] = folder.glob("langgraph*/tests")
    (folder / "tests").symlink_to(source)
    (source / "conftest.py").write_text(CONFTEST)
    return folder


def uri(dsn: str) -> str:
    """Return a connection string as a URI whose last slash is that before the database's name."""
    address = {name: str(value) for name, value in conninfo_to_dict(dsn).items() if name != "dbname"}
    return f"postgresql:///postgres?{urlencode(address)}"


@pytest.mark.parametrize("name", ["test_store.py", "test_async_store.py"])
def test_none_fails(published: Path, server_dsn: str, name: str) -> None:
    plugin = langgraph_published
    done = subprocess.run(
        [
            *(
                sys.executable,
                "-m",
                "pytest",
                "-p",
                plugin.__name__,
                "-p",
                "no:cacheprovider",
                "-o",
                "asyncio_mode=auto",
            ),
            *("-q", "-rs", "--rootdir", str(published), f"tests/{name}"),
        ],
        cwd=published,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(published), str(published / "site"), *sys.path]),
            "PUBLISHED_DSN": uri(server_dsn),
            "PYTEST_ADDOPTS": "",
        },
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    reasons = {*REASONS.values(), plugin.PIPE_OR_POOL}
    skipped = re.findall(r"(?m)^SKIPPED .*?: (.*)$", done.stdout)
    assert skipped
    assert all(any(one.endswith(reason) for reason in reasons) for one in skipped), skipped
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed is not None
    assert int(passed[1]) >= 20
