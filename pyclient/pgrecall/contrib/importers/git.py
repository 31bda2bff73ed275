"""The history of a git repository: a memory for each commit, and one for each note on a commit."""

from __future__ import annotations

import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pgrecall.errors import InvalidInput, PgrecallError
from pgrecall.files import temporary_file
from pgrecall.formatting import counted
from pgrecall.models import NewMemory

from .fields import moment
from .git_isolated import Git, isolated_git
from .rows import MAX_ROW_BYTES, Rejected, Row, Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import IO

__all__ = ["git_source"]

_FORMAT = "%x00%H%x00%an%x00%aI%x00%B%x00%N%x00"
_CHUNK = 2**16
_MAX_PATHS = 200
"""Paths that a memory's metadata names; a first commit may have a hundred thousand."""


@dataclass(frozen=True, slots=True)
class _Commit:
    id: str
    author: bytes
    date: str
    message: bytes
    note: bytes
    paths: tuple[bytes, ...]
    number_of_paths: int


@contextmanager
def git_source(repository: Path, *, revision: str = "HEAD", merges: bool = False) -> Iterator[Source]:
    """Open a repository.

    Args:
        repository: Its folder, or one inside it.
        revision: The commit whose history is meant.
        merges: Whether merge commits become memories too.

    Raises:
        PgrecallError: It is no repository, has no such commit, or git is not there.

    Of the repository only objects and refs are read (`git_isolated`).
    """
    with isolated_git(repository) as git:
        # The commit as it is now: the same history each time it is read.
        commit = git.ask("rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}")
        chosen = () if merges else ("--no-merges",)
        total = int(git.ask("rev-list", "--count", *chosen, commit))
        yield Source(
            "git",
            (
                f"{counted(total, 'commit')} of {git.name}: the author is the speaker, "
                "the paths go to the metadata",
                "a note is a memory of its own",
            ),
            None,
            partial(_rows, git, commit, chosen),
        )


def _rows(git: Git, commit: str, chosen: tuple[str, ...]) -> Iterator[Row | Rejected]:
    name = git.name
    for found in _log(git, commit, chosen):
        place = f"commit {found.id}"
        try:
            yield _memory(found, name)
        except PgrecallError as error:
            yield Rejected(place, error.message)
        if found.note.strip():
            try:
                yield _note(found, name)
            except PgrecallError as error:
                yield Rejected(f"note on {found.id}", error.message)


def _memory(commit: _Commit, name: str) -> Row:
    metadata: dict[str, object] = {
        "commit": commit.id,
        "paths": [path.decode(errors="backslashreplace") for path in commit.paths],
    }
    if commit.number_of_paths > len(commit.paths):
        metadata["number_of_paths"] = commit.number_of_paths
    author = _text("the author", commit.author)
    return Row(
        place=f"commit {commit.id}",
        id=commit.id,
        memory=NewMemory(
            content=_text("the message", commit.message),
            speaker=author if author else None,
            occurred_at=moment("its date", commit.date),
            source=name,
            metadata=metadata,
        ),
    )


def _note(commit: _Commit, name: str) -> Row:
    return Row(
        place=f"note on {commit.id}",
        id=f"{commit.id}#note",
        memory=NewMemory(
            content=_text("the note", commit.note),
            occurred_at=moment("its date", commit.date),
            source=name,
            metadata={"commit": commit.id},
        ),
    )


def _text(what: str, value: bytes) -> str:
    if len(value) > MAX_ROW_BYTES:
        raise InvalidInput(f"{what} has more than {MAX_ROW_BYTES} bytes")
    try:
        return value.decode().strip()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{what} is not UTF-8 at byte {error.start + 1}") from None


def _log(git: Git, commit: str, chosen: tuple[str, ...]) -> Iterator[_Commit]:
    command = (
        *git.command, "log", "-z", "--reverse", "--no-color", "--notes", "--name-only", "--no-renames",
        "--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-mailmap", f"--format={_FORMAT}",
        *chosen, commit, "--",
    )  # fmt: skip
    with temporary_file():
        file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by the block below
    with file as complaints:
        with subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=complaints,
            env=git.environment,
            cwd=git.folder,
        ) as process:
            output = process.stdout
            if output is None:
                raise PgrecallError("git gives no output")
            try:
                yield from _commits(_fields(output))
            except GeneratorExit:
                process.kill()
                raise
        if process.returncode != 0:
            complaints.seek(0)
            raise git.failed(complaints.read(1000))


def _commits(fields: Iterator[bytes]) -> Iterator[_Commit]:
    """Read commits: an empty field, five that are asked for, an empty one, then a path a field."""
    for id in fields:
        if not id:
            continue
        author, date, message, note = (next(fields, b"") for _ in range(4))
        next(fields, b"")
        paths: list[bytes] = []
        number = 0
        while path := next(fields, b""):
            if number < _MAX_PATHS:
                # The first one follows an empty line.
                paths.append(path if number else path.removeprefix(b"\n"))
            number += 1
        yield _Commit(id.decode(), author, date.decode(), message, note, tuple(paths), number)


def _fields(output: IO[bytes]) -> Iterator[bytes]:
    """Split what git writes at NUL; of what is too long only the beginning is kept."""
    field = bytearray()
    while chunk := output.read(_CHUNK):
        first, *others = chunk.split(b"\x00")
        field += first[: MAX_ROW_BYTES + 1 - len(field)]
        for other in others:
            yield bytes(field)
            field = bytearray(other)
    if field:
        yield bytes(field)
