"""The examples of the documents: which there are, what is said of each, and how one is run.

An example is a block of SQL, Python or shell in README.md or a page of docs/ that people write. It is run, unless a
comment in the line before says why not:

    <!-- not run: it downloads a model -->
    <!-- run by: tests/slow/test_backup.py -->
    <!-- recipe: dump -->                      run by tests/slow/test_backup.py, by this name

The examples of a page run one after the other against one database. `<!-- output -->` before a block of text says
that this is what the example before it prints; … stands for anything.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall.cli import main
from pgrecall.server import binaries

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[2]
GENERATED = {"docs/benchmarks.md", "docs/cli.md", "docs/sql-api.md"}
PAGES = [
    "README.md",
    *sorted(
        name
        for path in (ROOT / "docs").glob("*.md")
        if (name := path.relative_to(ROOT).as_posix()) not in GENERATED
    ),
]
LANGUAGES = ("sql", "python", "sh", "bash", "console")
OUTPUT = "output"
MIN_WORDS = 3
PATIENCE = 300
# Marks in README would be seen by everybody who reads it as text: by how a block begins.
OF_README = {
    "make demo": "CI runs both",
    "pip install .": "it downloads; CI installs the same by `make setup`",
    "export PGRECALL_DSN": "it needs a server of your own, and downloads a model",
}
_FENCE = re.compile(r"(?ms)^(?:<!-- (?P<mark>[^\n]*?) -->\n)?^```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^```$")
_HEREDOC = re.compile(r"<<'?(\w+)'?")
_SHELL = re.compile(r"[|&<>$`;()]")


@dataclass(frozen=True, slots=True)
class Example:
    """A block of a page.

    Attributes:
        page: The page's path.
        line: Where it begins.
        language: As its fence says.
        code: The text in it.
        reason: Why it is not run here; None if it is.
        output: What it is to print; None if nothing is said of it.
    """

    page: str
    line: int
    language: str
    code: str
    reason: str | None
    output: str | None


def examples(page: str, text: str) -> list[Example]:
    """Return the examples of a page, in order."""
    found: list[Example] = []
    blocks = list(_FENCE.finditer(text))
    for block, following in zip_longest(blocks, blocks[1:]):
        if block["language"] in LANGUAGES:
            line = text.count("\n", 0, block.start("code")) + 1
            printed = following["code"] if following and following["mark"] == OUTPUT else None
            reason = _reason(page, block["mark"], block["code"])
            found.append(Example(page, line, block["language"], block["code"], reason, printed))
    return found


def complaints(text: str) -> list[str]:
    """Return what is wrong with the marks of a page, and with blocks that hide what they are."""
    found = []
    for block in _FENCE.finditer(text):
        kind, _, what = (block["mark"] or "").partition(": ")
        if kind == "not run" and len(what.split()) < MIN_WORDS:
            found.append(f"{block['mark']!r} is no reason")
        if kind == "run by" and not (ROOT / what).is_file():
            found.append(f"{what} is not there")
        if not block["language"] and re.match(r"(pgrecall|pip|psql|SELECT|make)\b", block["code"]):
            found.append(f"no language: {block['code'].splitlines()[0]}")
    return found


def _reason(page: str, mark: str | None, code: str) -> str | None:
    if page == "README.md":
        return next((why for start, why in OF_README.items() if code.startswith(start)), None)
    return mark if mark and mark.startswith(("not run: ", "run by: ", "recipe: ")) else None


def matches(expected: str, printed: str) -> bool:
    """Whether something was printed as a page says; … is anything, and how wide a table is does not count."""
    pattern = ".*".join(re.escape(_plain(part)) for part in _plain(expected).split("…"))
    return re.fullmatch(pattern, _plain(printed), re.DOTALL) is not None


def _plain(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())


class Reader:
    """Somebody who follows a page, example by example.

    Args:
        dsn: The page's database.
        folder: Where the files go that the examples make.
    """

    def __init__(self, dsn: str, folder: Path) -> None:
        self._dsn = dsn
        self._folder = folder
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._daemon: subprocess.Popen[bytes] | None = None
        programs = folder / "bin"
        programs.mkdir()
        command = programs / "pgrecall"
        command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m pgrecall "$@"\n')
        command.chmod(0o755)
        self._environment = os.environ | {
            "PGRECALL_DSN": dsn,
            "PATH": os.pathsep.join([str(programs), str(binaries()), os.environ["PATH"]]),
            "COLUMNS": "120",
        }

    def run(self, example: Example) -> str:
        """Run an example, and return what it printed."""
        printed = self._run(example)
        self._wait()
        return printed

    def _run(self, example: Example) -> str:
        if example.language == "sql":
            return self._process(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", self._dsn], example.code)
        if example.language == "python":
            with _surroundings(self._environment, self._folder) as out:
                exec(compile(example.code, example.page, "exec"), self._names)  # noqa: S102 - the page's own
            return out.getvalue()
        code = example.code
        if example.language == "console":
            code = "".join(line[2:] for line in code.splitlines(keepends=True) if line.startswith("$ "))
        return "".join(map(self._command, commands(code)))

    def close(self) -> None:
        """End the daemon that the page has started, if it has."""
        if self._daemon is not None:
            self._daemon.terminate()
            self._daemon.wait(PATIENCE)

    def _command(self, text: str) -> str:
        if _HEREDOC.search(text):
            return self._process(["bash", "-ec", text])
        words = shlex.split(text, comments=True)
        assigned: dict[str, str] = {}
        while words and re.match(r"\w+=", words[0]):
            name, _, assigned[name] = words.pop(0).partition("=")
        if words[:1] == ["export"]:
            self._environment |= dict(word.split("=", 1) for word in words[1:])
            return ""
        environment = self._environment | assigned
        if words[:2] == ["pgrecall", "embedder"] and "--drain" not in words:
            self._daemon = subprocess.Popen(
                [sys.executable, "-m", *words], env=environment, stderr=subprocess.DEVNULL
            )
            return ""
        plain = re.sub(r"'[^']*'|#.*", "", text)
        if words[:1] != ["pgrecall"] or _SHELL.search(plain):
            return self._process(["bash", "-ec", text], None, environment)
        # In this process: libraries and model are loaded once for all pages.
        with _surroundings(environment, self._folder) as out, pytest.raises(SystemExit) as ended:
            main(words[1:])
        assert not ended.value.code, f"{text} exits with {ended.value.code}"
        return out.getvalue()

    def _process(
        self, words: list[str], given: str | None = None, environment: Mapping[str, str] | None = None
    ) -> str:
        done = subprocess.run(
            words,
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
            cwd=self._folder,
            env=environment or self._environment,
        )
        assert done.returncode == 0, f"{words} said {done.stderr}"
        return done.stdout

    def _wait(self) -> None:
        """Wait until the daemon, if there is one, has nothing left to do, as a reader does who takes a breath."""
        if self._daemon is None:
            return
        end = time.monotonic() + PATIENCE
        with psycopg.connect(self._dsn, autocommit=True) as conn:
            while conn.execute("SELECT pending + pending_extractions FROM recall_status()").fetchone() != (
                0,
            ):
                assert self._daemon.poll() is None, "the daemon has ended"
                assert time.monotonic() < end, "the daemon does not get on"
                time.sleep(0.1)


@contextlib.contextmanager
def _surroundings(environment: Mapping[str, str], folder: Path) -> Iterator[io.StringIO]:
    """Run the block in a folder and an environment, and catch what it prints."""
    before = dict(os.environ)
    os.environ |= environment
    try:
        with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as out:
            yield out
    finally:
        os.environ.clear()
        os.environ |= before


def commands(code: str) -> Iterator[str]:
    """Yield the commands of a block of shell: lines that belong together in one piece."""
    text = ""
    for line in code.splitlines():
        text = f"{text}\n{line}" if text else line
        if _is_whole(text):
            yield text
            text = ""
        elif not text.strip() or text.lstrip().startswith("#"):
            text = ""
    assert not text, f"the block ends within {text!r}"


def _is_whole(text: str) -> bool:
    if heredoc := _HEREDOC.search(text):
        return text.endswith(f"\n{heredoc[1]}")
    try:
        return bool(shlex.split(text, comments=True)) and not text.endswith("\\")
    except ValueError:
        return False
