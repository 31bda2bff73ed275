"""LangChain's standard tests of a vector store pass on pgrecall's, with the daemon's embeddings."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from support.packages import install, run_pytest

STANDARD = Path(__file__).parents[1] / "support" / "langchain_standard.py"
NEEDED = (
    "langchain-tests>=1.1,<2",
    "pytest-asyncio>=1.3,<2",
    "pytest-socket",
    "syrupy",
    "vcrpy",
    "pytest-recording",
)


def test_all_pass(dsn: str, tmp_path: Path) -> None:
    install(tmp_path / "site", "--no-deps", *NEEDED)
    shutil.copy(STANDARD, tmp_path / "test_standard.py")
    output = run_pytest(
        *("-o", "asyncio_mode=auto", "-o", "asyncio_default_fixture_loop_scope=function", "test_standard.py"),
        folder=tmp_path,
        paths=[tmp_path / "site"],
        STANDARD_DSN=dsn,
    )
    passed = re.search(r"(\d+) passed", output)
    assert passed is not None
    assert int(passed[1]) >= 24
    assert "skipped" not in output
