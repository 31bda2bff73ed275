"""Files that commands write what memories say into."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import typer

from .common import is_dash


@contextmanager
def output_file(file: Path) -> Iterator[IO[bytes]]:
    """Open a file that appears when it is complete, and that only its owner can read; - is standard output.

    Raises:
        PgrecallError: It cannot be written.
        typer.BadParameter: It is a folder.
    """
    from pgrecall import PgrecallError
    from pgrecall.files import atomic_file, is_of_system

    if is_dash(file):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if file.is_dir():
        raise typer.BadParameter(f"{file} is a folder", param_hint="file")
    try:
        if is_of_system(file) or (file.exists() and not file.is_file()):
            # A file in the place of a device or a pipe would reach nobody, and /dev/null is everybody's.
            with file.open("wb") as out:
                yield out
            return
        with _ended_by_signals(), atomic_file(file.resolve(), 0o600) as out:
            yield out
    except OSError as error:
        raise PgrecallError(
            f"cannot write {file}: {error.strerror}",
            hint="Check the path, its permissions and the free space.",
        ) from error


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Have what ends a process end it as Ctrl-C does: what it would leave behind holds memories."""
    import signal
    import threading

    def end(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        names = ("SIGTERM", "SIGHUP")  # Windows has no SIGHUP
        known = [getattr(signal, name) for name in names if hasattr(signal, name)]
        # What nohup ignores stays ignored.
        before = {
            number: signal.signal(number, end)
            for number in known
            if signal.getsignal(number) == signal.SIG_DFL
        }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
