"""The command line `pgrecall`.

`main` imports the commands only when it needs them: a hook runs before each prompt, and without them.
"""

import errno
import gc
import io
import os
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from pgrecall.local_zone import use_local_zone

if TYPE_CHECKING:
    from .commands import app

__all__ = ["app", "main"]

_COLLECT_AFTER = 100_000
_INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> None:
    """Run the command line.

    Args:
        arguments: The arguments after `pgrecall`; None takes those of the process.

    Raises:
        SystemExit: Always: 0 on success, 1 on failure, 2 on a usage error, 130 if interrupted. A hook
            ends with 0 whatever happens: coding agents take 2 for an order to stop the user's prompt.
    """
    _open_closed_streams()
    if (sys.argv[1:2] if arguments is None else arguments[:1]) != ["hook"]:
        try:
            try:
                _run(arguments)
            finally:
                # What is buffered may not fit, which Python would report without a word as it ends.
                if sys.stdout is not None and not sys.stdout.closed:
                    sys.stdout.flush()
        except OSError as error:
            _end(error)
        except KeyboardInterrupt:  # before there is a command, whose own ends the same
            raise SystemExit(_INTERRUPTED) from None
        except RuntimeError as error:
            # Python before 3.12 says so of an interrupt while a class is made, as modules are imported.
            if isinstance(error.__cause__, KeyboardInterrupt):
                raise SystemExit(_INTERRUPTED) from None
            raise
        return
    try:
        _run(arguments)
    except BaseException as error:  # noqa: BLE001 - no error may stop the agent
        from pgrecall.contrib.hooks.hook_log import end_hook

        end_hook(error)


def _open_closed_streams() -> None:
    """Put something in the place of standard streams that were closed by who started the command.

    Python has None for them, and the next file or connection would get their number. Input is then empty, and
    errors go nowhere. Output fails as on a full disk: else an export would end well and have written nothing.
    """
    for number, name, how in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is not None:
            continue
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_WRONLY if name == "stderr" else os.O_RDONLY)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
        setattr(sys, name, open(number, how, encoding="utf-8", closefd=False))  # noqa: SIM115


def _end(error: OSError) -> NoReturn:
    """End the process with 1, and say what file or output failed."""
    from pgrecall.errors import PgrecallError

    from .common import print_error

    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        # Else Python would try again as it ends.
        sys.stdout = None
    if error.errno != errno.EPIPE:  # who reads no further knows why
        reason = error.strerror or str(error)
        print_error(
            PgrecallError(
                reason if error.filename is None else f"{error.filename}: {reason}",
                hint="Check the path, its permissions and the free space, also of where the output goes.",
            )
        )
    raise SystemExit(1) from None


def _run(arguments: list[str] | None) -> None:
    # Importing makes many objects and no garbage; looking for some costs a tenth of a command's time.
    gc.set_threshold(_COLLECT_AFTER)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A memory may contain characters that the terminal cannot encode.
            stream.reconfigure(errors="backslashreplace")
    if arguments is None:
        use_local_zone()
        if sys.argv[1:3] == ["hook", "recall"]:
            from pgrecall.contrib.hooks.recalling import run_alone

            run_alone(sys.argv[3:])
    from .commands import run

    run(arguments)


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .commands import app

    return app
