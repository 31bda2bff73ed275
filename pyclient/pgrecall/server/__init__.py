"""The embedded server: a PostgreSQL of one's own in a data folder."""

from .embedded import (
    BinariesMissingError,
    DiskSpaceError,
    EmbeddedServer,
    FolderAccessError,
    FolderTakenError,
    MajorVersionError,
    ServerError,
    StartError,
    StopError,
    binaries,
    default_data_dir,
    effective_dsn,
)

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
