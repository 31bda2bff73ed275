"""Commands that serve others make no database unless they are told to."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("command", [["mcp"], ["ui", "--no-open"], ["embedder", "--drain"]])
def test_without_a_database_they_say_so(command: list[str], tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PGRECALL_")}
    folder = tmp_path / "data"
    done = subprocess.run(
        [sys.executable, "-m", "pgrecall", *command],
        env=environment | {"PGRECALL_DATA_DIR": str(folder), "XDG_CONFIG_HOME": str(tmp_path)},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert f"no database is named, and there is no embedded server in {folder}" in done.stderr
    assert "PGRECALL_DSN" in done.stderr
    assert not folder.exists()
