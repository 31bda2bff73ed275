"""The client's connection settings and their sources, for `pgrecall config`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pgrecall.config import file as settings_file
from pgrecall.config.conninfo import dsn_parts
from pgrecall.config.session_settings import environment_variable
from pgrecall.config.settings import load
from pgrecall.errors import ConnectionFailed
from pgrecall.models import SettingInForce
from pgrecall.server import default_data_dir

if TYPE_CHECKING:
    from pathlib import Path

    from pgrecall.config.file import SettingsFile

_SECRETS = {"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"}
_MEANINGS = {
    "dsn": "The database; by default the embedded server's.",
    "data_dir": "The folder of the embedded server.",
    "namespace": "The default namespace.",
    "model": "The model that embeds queries; by default the database's.",
    "pg_bindir": "PostgreSQL's programs for the embedded server; by default those of its package.",
    "prepare": "Whether statements are prepared on the server; PgBouncer before 1.21 loses them.",
    "embed_wait": "Seconds to wait for an embedder before the query is embedded here; 0.3, here 2.",
}


def connection_settings(dsn: str | None = None, data_dir: Path | None = None) -> list[SettingInForce]:
    """Return the connection settings with their sources, without passwords.

    Args:
        dsn: The value of --dsn.
        data_dir: The value of --data-dir; its embedded server is used even if another dsn is set.

    Raises:
        InvalidInput: The settings file is invalid.
    """
    file = settings_file.read()
    loaded = load()
    arguments = {"dsn": dsn, "data_dir": data_dir}
    rows = [_file_row(file)]
    for name, meaning in _MEANINGS.items():
        value = arguments.get(name)
        source = "argument"
        if value is None:
            value = getattr(loaded, name)
            source = _source(name, file)
        if name == "dsn" and dsn is None and data_dir is not None:
            value, source = None, "default"
        if name == "data_dir" and value is None:
            value = default_data_dir()
        rows.append(
            SettingInForce(
                name=name,
                value=_shown(name, value),
                source=source,
                default_value=None,
                unit=None,
                description=meaning,
                group="connection",
            )
        )
    return rows


def _shown(name: str, value: str | Path | float | None) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "on" if value else "off"
    return _without_secrets(str(value)) if name == "dsn" else str(value)


def _file_row(file: SettingsFile) -> SettingInForce:
    return SettingInForce(
        name="config",
        value=str(file.path),
        source=f"environment {environment_variable('config')}"
        if os.environ.get(environment_variable("config"))
        else "default",
        default_value=None,
        unit=None,
        description="The settings file." if file.path.exists() else "The settings file; it does not exist.",
        group="connection",
    )


def _source(name: str, file: SettingsFile) -> str:
    for full, value in os.environ.items():
        if value and full.upper() == environment_variable(name):  # in any case, as `load` reads them
            return f"environment {full}"
    return str(file.path) if name in file.connection else "default"


def _without_secrets(dsn: str) -> str:
    from psycopg.conninfo import make_conninfo

    try:
        parts = dsn_parts(dsn)
    except ConnectionFailed:
        return "(cannot be read)"
    return make_conninfo(dsn, **{name: "***" for name in parts if name in _SECRETS})
