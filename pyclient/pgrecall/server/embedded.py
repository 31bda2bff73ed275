"""The embedded server: a PostgreSQL of one's own in a data folder, reached by a Unix socket only.

The data folder holds::

    postgres/       the server's data (PGDATA)
    postgres.log    its log
    pgrecall.conf   settings, rewritten at each start
    server.lock     locked while somebody starts or stops the server
    run/            the socket, unless its path would be too long
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shlex
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from pgrecall.connecting import open_connection
from pgrecall.files import atomic_file

from . import process
from .binaries import binaries, usable_binaries
from .process import (
    BinariesMissingError,
    DiskSpaceError,
    FolderAccessError,
    FolderTakenError,
    MajorVersionError,
    ServerError,
    StartError,
    StopError,
    default_data_dir,
)
from .settings import check_settings, configuration

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "BinariesMissingError",
    "DiskSpaceError",
    "EmbeddedServer",
    "FolderAccessError",
    "FolderTakenError",
    "MajorVersionError",
    "ServerError",
    "StartError",
    "StopError",
    "binaries",
    "default_data_dir",
    "effective_dsn",
]

DATABASE = "pgrecall"
PORT = "5432"
SPACE_FOR_NEW = 256 * 2**20
"""Bytes that must be free to make a data folder: an empty cluster and its first WAL."""
SPACE_TO_RUN = 32 * 2**20
"""Bytes (two WAL segments) below which a start that failed without a word in the log failed for the disk."""
START_SECONDS = 300
"""How long a start may take; recovery after a crash replays up to max_wal_size."""
STOP_SECONDS = 120
CONNECT_SECONDS = 10
LOG_BYTES = 10 * 2**20
"""A log larger than this is set aside at the next start, as postgres.log.1."""
SOCKET_PATH_BYTES = 100

_SHELL_CHARACTERS = set('"$`\\\n')
"""pg_ctl puts the names of folder and log into a shell command, between double quotes."""


def effective_dsn() -> str:
    """Give the connection string: ``PGRECALL_DSN``, else that of the embedded server, started if needed.

    Raises:
        ServerError: the embedded server cannot be started.
    """
    from pgrecall.config.settings import load

    return load().dsn or EmbeddedServer().up()


class EmbeddedServer:
    """A PostgreSQL server with its data in one folder; it outlives the Python process.

    Several processes may use the same folder at once. Root runs the server as the system user ``pgrecall``.

    Args:
        data_dir: the folder; None means ``PGRECALL_DATA_DIR``, else the default folder.
        settings: server settings on top of those for a laptop; they count from the next start on.
        bindir: folder with initdb, pg_ctl and postgres; None means what ``binaries()`` finds.

    Raises:
        ValueError: a setting has a bad name or value, or is the adapter's own.
    """

    def __init__(
        self,
        data_dir: Path | None = None,
        *,
        settings: Mapping[str, str] | None = None,
        bindir: Path | None = None,
    ) -> None:
        if data_dir is None:
            from pgrecall.config.settings import load

            data_dir = load().data_dir or default_data_dir()
        self.data_dir = Path(os.path.realpath(data_dir.expanduser()))
        self.pgdata = self.data_dir / "postgres"
        self.log_file = self.data_dir / "postgres.log"
        self._settings = dict(settings or {})
        self._bindir = bindir
        check_settings(self._settings)

    def up(self) -> str:
        """Start the server if it is not running, making data folder and database if needed.

        Returns:
            The connection string of the database ``pgrecall``.

        Raises:
            ServerError: with a message and a hint; the subclass tells the kind.
        """
        if sys.platform != "linux":
            raise ServerError(
                f"the embedded server does not run on {sys.platform}",
                hint="Set PGRECALL_DSN to a server of your own.",
            )
        account = process.server_account()
        with process.mapped_errors(self.data_dir):
            self._check_folder(account)
            with self._locked():
                deadline = time.monotonic() + START_SECONDS
                while (running := process.find_postmaster(self.pgdata)) is None or not running.is_ready:
                    if time.monotonic() > deadline:
                        raise StartError(
                            f"the server is not ready after {START_SECONDS} s; its log is {self.log_file}",
                            hint="After a crash it replays its log: wait, then try again.",
                        )
                    if running is None:
                        self._start(account)
                    else:  # still starting (a former caller ran out of patience) or stopping
                        time.sleep(0.02)
                self._create_database()
        return self.dsn()

    def down(self) -> None:
        """Stop the server if it is running; clients are disconnected, committed data is kept.

        Raises:
            StopError: the server does not stop.
            ServerError: the folder is another user's.
        """
        if not self.running():
            return
        with process.mapped_errors(self.data_dir), self._locked():
            deadline = time.monotonic() + STOP_SECONDS
            signalled = False
            while (running := process.find_postmaster(self.pgdata)) is not None:
                if time.monotonic() > deadline:
                    raise StopError(
                        f"the server (pid {running.pid}) does not stop within {STOP_SECONDS} s",
                        hint=f"Look into {self.log_file}.",
                    )
                if not signalled:
                    # What `pg_ctl stop -m fast` sends; without it, stopping needs no binaries.
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(running.pid, signal.SIGINT)
                    signalled = True
                time.sleep(0.02)
            if self._socket_dir().parent != self.data_dir:
                with contextlib.suppress(OSError):
                    self._socket_dir().rmdir()

    def exists(self) -> bool:
        """Whether the folder has the data of a server; true as well if this user cannot look into it."""
        try:
            return (self.pgdata / "PG_VERSION").exists()
        except PermissionError:
            return True

    def running(self) -> bool:
        """Whether a server is at work on the data folder (it may still be starting).

        Raises:
            FolderAccessError: the folder is another user's.
        """
        with process.mapped_errors(self.data_dir):
            return process.find_postmaster(self.pgdata) is not None

    def dsn(self, database: str = DATABASE) -> str:
        """Give the connection string, a URI; the server need not be running.

        Args:
            database: name of the database.

        Raises:
            FolderAccessError: the folder is another user's.
        """
        with process.mapped_errors(self.data_dir):
            running = process.find_postmaster(self.pgdata)
        host = str(self._socket_dir()) if running is None else running.socket_dir
        port = PORT if running is None else running.port  # named, as libpq would else take PGPORT
        return (
            f"postgresql://postgres@/{quote(database, safe='')}?host={quote(os.fsencode(host))}&port={port}"
        )

    def _binaries(self) -> Path:
        return binaries() if self._bindir is None else Path(os.path.realpath(self._bindir))

    def _socket_dir(self) -> Path:
        """Give the folder of the socket: in the data folder, or a short one if the path would be too long."""
        folder = self.data_dir / "run"
        fits = len(os.fsencode(folder / f".s.PGSQL.{PORT}")) <= SOCKET_PATH_BYTES
        if fits and "," not in str(folder):  # libpq takes a comma as the start of another host
            return folder
        # Not in XDG_RUNTIME_DIR: it goes at logout, while the server stays.
        return Path("/tmp") / f"pgrecall-{hashlib.sha256(os.fsencode(self.data_dir)).hexdigest()[:16]}"  # noqa: S108

    def _check_folder(self, account: process.Account) -> None:
        """Refuse a folder that is something else's, and make it if it is missing."""
        if set(str(self.data_dir)) & _SHELL_CHARACTERS:
            raise FolderAccessError(
                f"pg_ctl cannot handle the name {str(self.data_dir)!r}",
                hint="Choose a folder with --data-dir without quotes, dollar signs and backslashes.",
            )
        if self.data_dir.is_dir() and not (self.data_dir / "server.lock").exists():
            names = {entry.name for entry in self.data_dir.iterdir()}
            # in root's default folder the copy of the binaries may come first
            present = {name for name in names if not name.startswith(("server-", ".server-"))}
            if "PG_VERSION" in present:
                raise FolderTakenError(
                    f"{self.data_dir} is the data folder of another PostgreSQL server",
                    hint="Choose another folder with --data-dir, or set PGRECALL_DSN to use that server.",
                )
            if present and "pgrecall.conf" not in present:
                raise FolderTakenError(
                    f"{self.data_dir} is not empty and not a data folder of pgrecall",
                    hint="Choose an empty or a new folder with --data-dir.",
                )
        process.make_folder(self.data_dir)
        if account.is_other and process.run(["test", "-x", str(self.data_dir)], account).returncode:
            raise FolderAccessError(
                f"the server runs as user {account.name}, who cannot reach {self.data_dir}",
                hint="Choose a folder with --data-dir whose parent folders are open to other users, "
                "for example below /var/lib or /srv.",
            )
        if self.pgdata.exists() and (uid := self.pgdata.stat().st_uid) != account.uid:
            owner = process.user_name(uid)
            raise FolderTakenError(
                f"{self.pgdata} belongs to user {owner}, the server runs as user {account.name}",
                hint=f"Run this as {'root' if owner == process.SERVER_USER else f'user {owner}'}, "
                "or choose another folder with --data-dir.",
            )

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the folder's lock; it ends with the process, however that ends."""
        descriptor = os.open(self.data_dir / "server.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _start(self, account: process.Account) -> None:
        bindir, major = usable_binaries(self._binaries(), account)
        if not self.pgdata.exists():
            self._initialise(bindir, major, account)
        made_by = (self.pgdata / "PG_VERSION").read_text().strip()
        if made_by != str(major):
            raise MajorVersionError(
                f"{self.pgdata} was made by PostgreSQL {made_by}, the binaries are PostgreSQL {major}",
                hint=f"Upgrade it with pg_upgrade; or dump it with PostgreSQL {made_by} and restore it in "
                f"another --data-dir; or set PGRECALL_PG_BINDIR to the binaries of PostgreSQL {made_by}.",
            )
        socket_dir = self._make_socket_dir(account)
        lock_files = [self.pgdata / "postmaster.pid", socket_dir / f".s.PGSQL.{PORT}.lock"]
        process.clear_leftovers(self.pgdata, lock_files)
        with atomic_file(self.data_dir / "pgrecall.conf", 0o644) as file:
            file.write(configuration(self._settings).encode())
        log_start = self._open_log(account)
        options = {
            "listen_addresses": "",
            "port": PORT,
            "unix_socket_directories": f'"{socket_dir}"',
            "unix_socket_permissions": "0700",
        }
        arguments = " ".join(shlex.quote(f"--{name}={value}") for name, value in options.items())
        start = [str(bindir / "pg_ctl"), "start", "-w", f"--timeout={START_SECONDS}", "-D", str(self.pgdata)]
        done = process.run([*start, "-l", str(self.log_file), "-o", arguments], account)
        if done.returncode:
            raise self._start_error(done.stderr.strip(), log_start)

    def _initialise(self, bindir: Path, major: int, account: process.Account) -> None:
        """Make the data folder: complete under a temporary name, then renamed."""
        for leftover in self.data_dir.glob("postgres.new-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        if shutil.disk_usage(self.data_dir).free < SPACE_FOR_NEW:
            raise process.disk_full(self.data_dir, SPACE_FOR_NEW)
        new = Path(tempfile.mkdtemp(prefix="postgres.new-", dir=self.data_dir))
        try:
            if account.is_other:
                os.chown(new, account.uid, account.gid, follow_symlinks=False)
            provider = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"] if major >= 17 else []
            access = ["--username=postgres", "--auth-local=trust", "--auth-host=reject"]
            form = ["--encoding=UTF8", "--locale=C.UTF-8", *provider, "--data-checksums", "--no-instructions"]
            haste = ["--no-sync"] if self._settings.get("fsync") == "off" else []
            done = process.run([str(bindir / "initdb"), "-D", str(new), *access, *form, *haste], account)
            if done.returncode:
                problem = done.stderr.strip()
                if process.says_disk_full(problem):
                    raise process.disk_full(self.data_dir, SPACE_FOR_NEW)
                raise StartError(
                    f"initdb failed: {problem}", hint="The message of initdb says what is wrong."
                )
            descriptor = os.open(new / "postgresql.conf", os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
            with open(descriptor, "a", encoding="utf-8") as file:  # noqa: PTH123 (a descriptor)
                file.write("\ninclude = '../pgrecall.conf'\n")
            new.rename(self.pgdata)
        finally:
            shutil.rmtree(new, ignore_errors=True)

    def _make_socket_dir(self, account: process.Account) -> Path:
        folder = self._socket_dir()
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            if account.is_other:
                os.chown(folder, account.uid, account.gid, follow_symlinks=False)
        if folder.is_symlink() or not folder.is_dir() or folder.stat().st_uid != account.uid:
            raise FolderTakenError(
                f"{folder}, the folder for the server's socket, is not a folder of user {account.name}",
                hint="Remove it, or choose another (or shorter) folder with --data-dir.",
            )
        return folder

    def _open_log(self, account: process.Account) -> int:
        """Make the log file, for the server's user only; give its size in bytes."""
        if self.log_file.exists() and self.log_file.stat().st_size > LOG_BYTES:
            self.log_file.rename(self.log_file.with_name("postgres.log.1"))
        descriptor = os.open(self.log_file, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            if account.is_other:
                os.fchown(descriptor, account.uid, account.gid)
            return os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)

    def _start_error(self, problem: str, log_start: int) -> ServerError:
        with self.log_file.open("rb") as file:
            file.seek(log_start)
            log = file.read().decode(errors="replace").strip()
        full = not log and shutil.disk_usage(self.data_dir).free < SPACE_TO_RUN
        if full or process.says_disk_full(log + problem):
            return process.disk_full(self.data_dir)
        tail = "\n".join(log.splitlines()[-10:]) or problem
        return StartError(f"the server did not start:\n{tail}", hint=f"The whole log is {self.log_file}.")

    def _create_database(self) -> None:
        import psycopg

        deadline = time.monotonic() + CONNECT_SECONDS
        while True:
            try:
                with open_connection(
                    psycopg.Connection, self.dsn("postgres"), connect_timeout=CONNECT_SECONDS
                ) as connection:
                    query = "SELECT 1 FROM pg_catalog.pg_database WHERE datname = %s"
                    if connection.execute(query, [DATABASE]).fetchone() is None:
                        connection.execute(f"CREATE DATABASE {DATABASE}")
                return
            except psycopg.Error as error:
                message = f"the server runs, but database {DATABASE} cannot be opened: {error}"
                if process.says_disk_full(message):
                    raise process.disk_full(self.data_dir) from error
                # A server that restarts after the crash of a backend refuses connections for a moment.
                if not isinstance(error, psycopg.OperationalError) or time.monotonic() > deadline:
                    raise StartError(message, hint=f"Look into {self.log_file}.") from error
            time.sleep(0.1)
