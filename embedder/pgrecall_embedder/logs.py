"""What a log may say of an error.

The text of an exception is not logged: a library may quote its input in it. The log has the class, SQLSTATE
or code location of an error. Only the message of a failed connection is logged.

Libraries are imported where they are used: the process that reads memories describes an error now and
then, and starts without them in half the time.
"""

from __future__ import annotations

import traceback
from pathlib import Path

from pgrecall.errors import ConnectionFailed, error_from

__all__ = ["describe"]


def describe(error: BaseException) -> str:
    """Describe an error without its text.

    Args:
        error: Any exception; its traceback tells where it came from.

    Returns:
        One line: class and SQLSTATE of a database error, the message of a failed connection, class and place
        in the code of everything else.
    """
    import psycopg

    name = type(error).__qualname__
    if isinstance(error, psycopg.Error):
        if error.sqlstate is not None:
            return f"{name} ({error.sqlstate})"
        public = error_from(error)
        return " ".join(public.message.split()) if isinstance(public, ConnectionFailed) else name
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return name
    return f"{name} at {Path(frames[-1].filename).name}:{frames[-1].lineno}"
