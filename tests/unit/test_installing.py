"""Hints name a command that installs from where this package came."""

from __future__ import annotations

import importlib.metadata
import json
from typing import TYPE_CHECKING

import pytest

from pgrecall.installing import install_command

if TYPE_CHECKING:
    from pathlib import Path


class _Installed:
    def __init__(self, noted: object) -> None:
        self.noted = noted

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return None if self.noted is None else json.dumps(self.noted)


def _installed(monkeypatch: pytest.MonkeyPatch, noted: object) -> None:
    monkeypatch.setattr(importlib.metadata, "distribution", lambda _: _Installed(noted))


def test_from_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    _installed(monkeypatch, None)
    assert install_command("ui", "mcp") == "pip install 'pgrecall[ui,mcp]'"


@pytest.mark.parametrize(("info", "option"), [({}, ""), ({"editable": True}, "-e ")])
def test_from_a_checkout(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, info: dict[str, bool], option: str
) -> None:
    checkout = tmp_path / "my checkout"
    checkout.mkdir()
    _installed(monkeypatch, {"url": checkout.as_uri(), "dir_info": info})
    assert install_command("ui") == f"pip install {option}'{checkout}[ui]'"
    (checkout / "constraints.txt").touch()
    constraints = f"--constraint '{checkout}/constraints.txt'"
    assert install_command("ui") == f"pip install {constraints} {option}'{checkout}[ui]'"


def test_from_a_wheel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    wheel = tmp_path / "pgrecall-0.1.0-py3-none-any.whl"
    wheel.touch()
    _installed(monkeypatch, {"url": wheel.as_uri(), "archive_info": {}})
    assert install_command("ui") == f"pip install 'pgrecall[ui] @ {wheel.as_uri()}'"
    wheel.unlink()
    assert install_command("ui") == "pip install 'pgrecall[ui]'"


def test_from_a_repository(monkeypatch: pytest.MonkeyPatch) -> None:
    noted = {"url": "ssh://git@example/pgrecall", "vcs_info": {"vcs": "git", "commit_id": "abc"}}
    _installed(monkeypatch, noted)
    assert install_command("ui") == "pip install 'pgrecall[ui] @ git+ssh://git@example/pgrecall@abc'"


def test_never_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> object:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", missing)
    assert install_command("ui") == "pip install 'pgrecall[ui]'"
