"""The store tests that LangGraph's authors publish for their own PostgreSQL store, run on pgrecall's store."""

from __future__ import annotations

import re
import tarfile
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from psycopg.conninfo import conninfo_to_dict

from support import langgraph_published
from support.packages import install, pip, run_pytest

if TYPE_CHECKING:
    from pathlib import Path

PUBLISHED = "langgraph-checkpoint-postgres==3.2.0"
FILES = ("tests/test_store.py", "tests/test_async_store.py")
CONFTEST = """
import os

from tests.embed_test_utils import CharacterEmbeddings

DEFAULT_URI = os.environ["PUBLISHED_DSN"]
VECTOR_TYPES = ["vector"]
"""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the published tests, and in `site` the plugin of pytest that they want."""
    folder = tmp_path_factory.mktemp("published")
    # Not `:all:`, which would build what builds it from its sources, too.
    source_only = PUBLISHED.partition("==")[0]
    pip("download", "--no-deps", "--no-binary", source_only, "--dest", folder, PUBLISHED)
    install(folder / "site", "pytest-asyncio>=1.3,<2")
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


def test_none_fails(published: Path, server_dsn: str, template: str) -> None:
    plugin = langgraph_published
    output = run_pytest(
        *("-p", plugin.__name__, "-o", "asyncio_mode=auto", *FILES),
        folder=published,
        paths=[published, published / "site"],
        PUBLISHED_DSN=uri(server_dsn),
        PUBLISHED_TEMPLATE=template,
    )
    reasons = (*plugin.REASONS.values(), plugin.PIPE_OR_POOL)
    skipped = re.findall(r"(?m)^SKIPPED .*?: (.*)$", output)
    assert skipped
    assert [one for one in skipped if not one.endswith(reasons)] == []
    passed = re.search(r"(\d+) passed", output)
    assert passed is not None
    assert int(passed[1]) >= 20 * len(FILES)
