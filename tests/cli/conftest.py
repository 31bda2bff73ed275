"""Running a command of pgrecall in this process."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from pgrecall.cli import main
from support.command import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def cli(
    dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Outcome]:
    """Run a command in this process, against the test's own database."""
    monkeypatch.setenv("PGRECALL_DSN", dsn)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        with pytest.raises(SystemExit) as caught:
            main(list(arguments))
        captured = capsys.readouterr()
        code = caught.value.code
        return Outcome(0 if code is None else int(code), captured.out, captured.err)

    return run
