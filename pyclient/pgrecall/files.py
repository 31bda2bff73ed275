"""Opens files: of somebody else, which can neither hang nor answer without end, and those replaced whole."""

from __future__ import annotations

import os
import re
import secrets
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pgrecall.errors import InvalidInput, PgrecallError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader, BufferedWriter

__all__ = [
    "NoTemporaryFile",
    "atomic_file",
    "is_of_system",
    "open_regular",
    "refuse_compressed",
    "temporary_file",
]

_COMPRESSED = re.compile(
    rb"(?P<gzip>\x1f\x8b)|(?P<ZIP>PK\x03\x04)|(?P<bzip2>BZh[1-9]1AY&SY)|(?P<xz>\xfd7zXZ\x00)|(?P<zstd>\x28\xb5\x2f\xfd)"
)


class NoTemporaryFile(PgrecallError):  # noqa: N818 - as those of errors.py
    """No temporary file can be written."""

    default_hint = "Set TMPDIR to a folder that you can write to and that has free space."


@contextmanager
def temporary_file() -> Iterator[None]:
    """Say what to do if a temporary file cannot be made or written in the block.

    Raises:
        NoTemporaryFile: It cannot.
    """
    try:
        yield
    except OSError as error:
        raise NoTemporaryFile(f"no temporary file can be written: {error.strerror}") from error


@contextmanager
def atomic_file(file: Path, mode: int) -> Iterator[BufferedWriter]:
    """Open a file for writing that appears under its name when the block has ended, complete and on disk.

    Until then its name begins with a dot, and whatever ends the block early removes it.

    Args:
        file: What it replaces, if that exists; a link itself is replaced.
        mode: Its permissions, whatever the umask.

    Raises:
        OSError: It cannot be written.
    """
    # Named before it is there: a signal may come as soon as it is.
    unfinished = file.with_name(f".{file.name}-{secrets.token_hex(8)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)  # Windows has text files
    try:
        with open(os.open(unfinished, flags, mode), "wb") as out:  # noqa: PTH123 (a descriptor)
            if hasattr(os, "fchmod"):  # not on Windows before Python 3.13
                os.fchmod(out.fileno(), mode)
            yield out
            out.flush()
            os.fsync(out.fileno())
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)


def is_of_system(file: Path) -> bool:
    """Return whether a path is of /dev or /proc, as /dev/stdout and >(…) of a shell are."""
    return Path(os.path.abspath(file)).parts[1:2] in {("dev",), ("proc",)}  # noqa: PTH100 - links are not followed


def open_regular(file: Path, *, follow: bool = True) -> BufferedReader:
    """Open a regular file for reading.

    Args:
        file: The file.
        follow: False refuses a symbolic link: somebody else has chosen where it leads.

    Raises:
        InvalidInput: It is a folder, a pipe, a socket, a device, or a link that is not followed.
        PgrecallError: It cannot be read.
    """
    # Without O_NONBLOCK a named pipe waits for a writer before anything can be refused.
    flags = (
        os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    )
    try:
        if not follow and file.is_symlink():
            raise InvalidInput(
                f"{file} is a link, which is not followed", hint="Name the file that it leads to."
            )
        # Asked first too: opening a device may already do something.
        if not stat.S_ISREG(file.stat().st_mode):
            raise _no_file(file)
        descriptor = os.open(file, flags | (0 if follow else getattr(os, "O_NOFOLLOW", 0)))
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise _no_file(file)
            return os.fdopen(descriptor, "rb")
        except BaseException:
            os.close(descriptor)
            raise
    except OSError as error:
        raise PgrecallError(
            f"cannot read {file}: {error.strerror}", hint="Check the path and its permissions."
        ) from error
    except ValueError:
        raise PgrecallError("cannot read a file whose name holds NUL", hint="Check the path.") from None


def refuse_compressed(file: BufferedReader) -> None:
    """Refuse a file of text that is compressed. It stays where it is.

    Raises:
        InvalidInput: It is.
    """
    found = _COMPRESSED.match(file.peek(10))
    if found is not None:
        raise InvalidInput(
            f"the file is compressed: {found.lastgroup}",
            hint="Decompress it first; `pgrecall import -` reads standard input, as of "
            "`gzip -dc FILE | pgrecall import -`.",
        )


def _no_file(file: Path) -> InvalidInput:
    return InvalidInput(
        f"{file} is not a regular file",
        hint="Pipes, devices and folders are not read. Standard input is: name it -.",
    )
