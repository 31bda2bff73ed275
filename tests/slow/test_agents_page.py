"""docs/agents.md: its first commands lead from nothing to a remembered preference, with a Claude Code that is a fake."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.docs import ROOT, commands, examples

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PAGE = "docs/agents.md"
PREFERENCE = "I prefer pytest to unittest"


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """A shell of somebody who has nothing yet but pgrecall and Claude Code."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, module in (("pgrecall", "pgrecall"), ("claude", "support.fake_agents claude-code")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m {module} "$@"\n')
        program.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    # The server runs as another user if this is root, who may not look into the folder of a test.
    with tempfile.TemporaryDirectory(prefix="pgrecall-") as folder:
        Path(folder).chmod(0o755)
        left_out = ("PGRECALL_", "XDG_", "CLAUDE_")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(left_out)} | {
            "HOME": str(home),
            "PATH": os.pathsep.join([str(programs), os.environ["PATH"]]),
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]),
            "PGRECALL_DATA_DIR": f"{folder}/data",
            # A machine at work takes longer than the agent's user would wait.
            "PGRECALL_HOOK_BUDGET_MS": "60000",
        }

        def shell(command: str) -> str:
            done = subprocess.run(
                ["bash", "-ec", command],
                env=environment,
                cwd=home,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{command} said {done.stderr}"
            return done.stdout

        try:
            yield shell
        finally:
            shell("pgrecall down")


def test_five_commands_lead_to_a_remembered_preference(run: Callable[[str], str]) -> None:
    first = examples(PAGE, (ROOT / PAGE).read_text(encoding="utf-8"))[0]
    *before, question = commands(first.code)
    assert len(before) == 4
    for command in before:
        run(command)
    assert PREFERENCE in run(question)
    run("pgrecall agent uninstall claude-code --yes")
    assert PREFERENCE not in run("cat ~/.claude.json ~/.claude/settings.json 2> /dev/null || true")
    assert run("ls -A ~").split() == [".claude", ".local"]
    assert run("ls ~/.claude").split() == ["projects"]
