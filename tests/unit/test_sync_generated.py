"""The synchronous client is the translation of the asynchronous one, and stays so."""

from __future__ import annotations

import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pgrecall._async.admin import AsyncAdmin
from pgrecall._async.client import AsyncClient
from pgrecall._async.curation import AsyncCurator
from pgrecall._async.transfer import AsyncTransfer
from pgrecall._sync.admin import Admin
from pgrecall._sync.client import Client
from pgrecall._sync.curation import Curator
from pgrecall._sync.transfer import Transfer

if TYPE_CHECKING:
    from types import ModuleType


TOOL = Path(__file__).resolve().parents[2] / "tools" / "async_to_sync.py"


def _tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("async_to_sync", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _check() -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(TOOL), "--check"], capture_output=True, text=True, check=False)


def test_generated_files_are_in_date() -> None:
    checked = _check()
    assert checked.returncode == 0, checked.stderr


@pytest.mark.slow
def test_a_stale_file_is_found_and_rewritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = _tool()
    for source in tool.sources():
        copy = tmp_path / source.relative_to(tool.PACKAGE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.parent.with_name("_sync").mkdir(exist_ok=True)
        copy.write_text(source.read_text())
    monkeypatch.setattr(tool, "PACKAGE", tmp_path)
    monkeypatch.setattr(sys, "argv", ["async_to_sync.py", "--check"])
    assert tool.main() == 1
    assert not (tmp_path / "_sync" / "client.py").exists()
    monkeypatch.setattr(sys, "argv", ["async_to_sync.py"])
    assert tool.main() == 0
    target = tmp_path / "_sync" / "client.py"
    assert "do not edit" in target.read_text().splitlines()[0]
    target.write_text(target.read_text() + "# touched\n")
    monkeypatch.setattr(sys, "argv", ["async_to_sync.py", "--check"])
    assert tool.main() == 1


def test_translation() -> None:
    source = (
        "async def f(self) -> None:\n"
        '    """Call `await client.recall()` and async with AsyncClient(): they await it."""\n'
        "    async with await AsyncConnection.connect() as c:  # AsyncClient\n"
        "        x = [await g(y) async for y in c]\n"
    )
    assert _tool().translate(source) == (
        "def f(self) -> None:\n"
        '    """Call `client.recall()` and with Client(): they await it."""\n'
        "    with Connection.connect() as c:  # Client\n"
        "        x = [g(y) for y in c]\n"
    )


def test_both_clients_have_the_same_methods() -> None:
    def methods(cls: type) -> dict[str, str]:
        return {
            name: str(inspect.signature(method)).replace("AsyncGenerator", "Generator")
            for name, method in inspect.getmembers(cls, inspect.isfunction)
            if not name.startswith("_")
        }

    for asynchronous, synchronous in (
        (AsyncClient, Client),
        (AsyncAdmin, Admin),
        (AsyncCurator, Curator),
        (AsyncTransfer, Transfer),
    ):
        assert methods(asynchronous) == methods(synchronous)
    assert inspect.iscoroutinefunction(AsyncClient.recall)
    assert not inspect.iscoroutinefunction(Client.recall)
