"""What the embedded server needs of the machine: a user, folders, memory, processes; and its errors."""

from __future__ import annotations

import contextlib
import errno
import os
import pwd
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SERVER_USER = "pgrecall"
ROOT_HOME = Path("/var/lib/pgrecall")
"""Where root keeps the default data folder and, where needed, a copy of the binaries."""
_FULL = {errno.ENOSPC: "no space left", errno.EDQUOT: "the disk quota is used up"}
_FULL_MESSAGES = tuple(os.strerror(number) for number in _FULL)


class ServerError(Exception):
    """The embedded server cannot do what was asked.

    Attributes:
        hint: what to do about it, one or two sentences.
    """

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class BinariesMissingError(ServerError):
    """There are no PostgreSQL binaries that work."""


class FolderTakenError(ServerError):
    """The data folder is something else's: a file, foreign files, another user's server."""


class FolderAccessError(ServerError):
    """The data folder cannot be reached or written."""


class MajorVersionError(ServerError):
    """The data folder was made by another major version of PostgreSQL."""


class DiskSpaceError(ServerError):
    """The disk of the data folder is full."""


class StartError(ServerError):
    """The server did not start; the message ends with the last lines of its log."""


class StopError(ServerError):
    """The server did not stop."""


@dataclass(frozen=True)
class Account:
    """The system user that owns the data folder and runs the server."""

    name: str
    uid: int
    gid: int

    @property
    def is_other(self) -> bool:
        """Whether the server runs as another user than this process."""
        return self.uid != os.geteuid()


def server_account() -> Account:
    """Give the user that runs the server: the present one, or as root the system user ``pgrecall``.

    PostgreSQL refuses to run as root. The system user is made when it is missing.

    Raises:
        ServerError: root cannot make the system user.
    """
    if os.geteuid() != 0:
        return Account(name=user_name(os.geteuid()), uid=os.geteuid(), gid=os.getegid())
    problem = ""
    for _attempt in range(50):
        with contextlib.suppress(KeyError):
            entry = pwd.getpwnam(SERVER_USER)
            return Account(name=entry.pw_name, uid=entry.pw_uid, gid=entry.pw_gid)
        if problem:
            time.sleep(0.1)  # another process may hold the lock of /etc/passwd, or be adding the same user
        problem = _add_user()
    raise ServerError(
        f"cannot make the system user {SERVER_USER}: {problem}",
        hint="PostgreSQL does not run as root. Make a system user of that name, or run as a normal user.",
    )


def _add_user() -> str:
    """Add the system user; give the reason if that fails, else ''."""
    path = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"  # plain `su` leaves sbin out
    command = [
        shutil.which("useradd", path=path) or "useradd",
        "--system",
        "--user-group",
        "--no-create-home",
    ]
    command += ["--home-dir", str(ROOT_HOME), "--shell", "/usr/sbin/nologin", SERVER_USER]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return done.stderr.strip() if done.returncode else ""


def user_name(uid: int) -> str:
    """Give the name of a user, or ``uid N`` if it has none."""
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"uid {uid}"


def run(command: Sequence[str], account: Account) -> subprocess.CompletedProcess[str]:
    """Run a command of the server as ``account``, in a session of its own, and wait for it.

    Its environment is small and fixed: PG* variables of the caller would change what it does, its
    locale would translate the messages, and its secrets have no business in a server that stays.

    Raises:
        ServerError: the command cannot be executed.
    """
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"}
    environment |= {name: os.environ[name] for name in ("TZ", "LD_LIBRARY_PATH") if name in os.environ}
    other: dict[str, Any] = {}
    if account.is_other:
        other = {"user": account.uid, "group": account.gid, "extra_groups": []}
    try:
        return subprocess.run(
            list(command),
            check=False,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env=environment,
            cwd="/",  # the caller's folder may be closed to the server's user
            umask=0o077,
            start_new_session=True,  # Ctrl-C in the caller's terminal is not for the server
            **other,
        )
    except OSError as error:
        raise ServerError(
            f"user {account.name} cannot execute {command[0]}: {error.strerror}",
            hint="Check that the file exists and that this user may read and execute it.",
        ) from error


def make_folder(path: Path) -> None:
    """Make a folder and its missing parents; as root they are open to the server's user."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(exist_ok=True)
    if os.geteuid() == 0:
        path.chmod(0o755)  # whatever root's umask is


@contextlib.contextmanager
def mapped_errors(path: Path) -> Iterator[None]:
    """Turn an OSError on ``path`` into the ServerError that says what to do."""
    try:
        yield
    except (FileExistsError, NotADirectoryError) as error:
        raise FolderTakenError(
            f"{error.filename or path} is not a folder", hint="Choose another folder with --data-dir."
        ) from error
    except OSError as error:
        if error.errno in _FULL:
            raise disk_full(path) from error
        raise FolderAccessError(
            f"cannot use {error.filename or path}: {error.strerror or error}",
            hint="Choose another folder with --data-dir or PGRECALL_DATA_DIR.",
        ) from error


def disk_full(path: Path, needed: int | None = None) -> DiskSpaceError:
    """Give the error for a full disk; ``needed`` and the sizes shown are in bytes and MB."""
    while not path.exists():
        path = path.parent
    free = shutil.disk_usage(path).free
    wanted = "" if needed is None else f", {needed // 2**20} MB are needed"
    return DiskSpaceError(
        f"no disk space: {free // 2**20} MB are free on the disk of {path}{wanted}",
        hint="Free some space, or choose a folder on another disk with --data-dir.",
    )


def says_disk_full(text: str) -> bool:
    """Whether the output of a server program reports a full disk."""
    return any(message in text for message in _FULL_MESSAGES)


def default_data_dir() -> Path:
    """Give the data folder used when none is named.

    A normal user's is pgrecall's folder in the user data folder. Root's is the same only if
    ``XDG_DATA_HOME`` is set and open to other users, since the server runs as another user;
    else it is /var/lib/pgrecall.
    """
    if os.geteuid() != 0:
        import platformdirs

        return platformdirs.user_data_path("pgrecall", appauthor=False)
    home = os.environ.get("XDG_DATA_HOME", "")
    if home.startswith("/"):
        existing = next(folder for folder in (Path(home), *Path(home).parents) if folder.is_dir()).resolve()
        if all(folder.stat().st_mode & 0o001 for folder in (existing, *existing.parents)):
            return Path(home) / "pgrecall"
    return ROOT_HOME


@dataclass(frozen=True)
class Postmaster:
    """A server at work on a data folder, as its postmaster.pid describes it."""

    pid: int
    port: str
    socket_dir: str
    status: str

    @property
    def is_ready(self) -> bool:
        """Whether it accepts connections."""
        return self.status == "ready"


def find_postmaster(pgdata: Path) -> Postmaster | None:
    """Give the server that is at work on ``pgdata``, or None.

    Raises:
        PermissionError: the folder is another user's.
    """
    lines = _read_lines(pgdata / "postmaster.pid")
    pid = _pid(lines)
    if pid is None or not _works_on(pid, pgdata):
        return None
    lines += [""] * (8 - len(lines))
    return Postmaster(pid=pid, port=lines[3].strip(), socket_dir=lines[4].strip(), status=lines[7].strip())


def clear_leftovers(pgdata: Path, lock_files: Sequence[Path], patience: float = 10.0) -> None:
    """Clear what a killed server left: lock files whose pid is now another process, orphaned backends.

    PostgreSQL replaces a lock file itself if its process is gone, but believes it if the pid is now
    any other process of the same user (or a zombie). Call this with the folder's lock held and
    without a postmaster. Orphans (a backend in a long index build does not notice that its
    postmaster died) get SIGQUIT, the server's own signal for this.

    Args:
        pgdata: the server's data folder.
        lock_files: postmaster.pid and the socket's lock file.
        patience: how long to wait for orphans, in seconds.

    Raises:
        StartError: orphans do not go.
    """
    deadline = time.monotonic() + patience
    while orphans := [pid for pid in _server_pids() if _works_on(pid, pgdata)]:
        if time.monotonic() > deadline:
            raise StartError(
                f"processes of an earlier server still use {pgdata}: {', '.join(map(str, orphans))}",
                hint="End these processes (kill -9), then start again.",
            )
        for pid in orphans:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGQUIT)
        time.sleep(0.05)
    for path in lock_files:
        holder = _pid(_read_lines(path))
        if holder is not None and _is_other_program(holder, pgdata):
            path.unlink(missing_ok=True)


def _server_pids() -> list[int]:
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
    return [pid for pid in pids if _program(pid) == "postgres"]


def _program(pid: int) -> str:
    """Give the program of a process, '' if there is no such process or it is a zombie."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip() if _arguments(pid)[0] else ""
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _arguments(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="surrogateescape").split("\0")
    except (FileNotFoundError, ProcessLookupError):
        return [""]


def _works_on(pid: int, pgdata: Path) -> bool:
    """Whether a process is a PostgreSQL server process of this data folder, its working folder."""
    if _program(pid) != "postgres":
        return False
    try:
        return Path(f"/proc/{pid}/cwd").samefile(pgdata)
    except PermissionError:  # root in a container may not look into another user's process
        return str(pgdata) in _arguments(pid)
    except (FileNotFoundError, ProcessLookupError):
        return False


def _is_other_program(pid: int, pgdata: Path) -> bool:
    """Whether the pid is in use, and surely not by a server of this folder."""
    if not Path(f"/proc/{pid}").exists():
        return False
    if _program(pid) != "postgres":
        return True
    try:
        return not Path(f"/proc/{pid}/cwd").samefile(pgdata)
    except OSError:
        return False


def _read_lines(path: Path) -> list[str]:
    try:
        return path.read_text(errors="surrogateescape").splitlines()
    except FileNotFoundError:
        return []


def _pid(lines: Sequence[str]) -> int | None:
    return int(lines[0]) if lines and lines[0].strip().isdecimal() else None
