"""The settings of the embedded server, sized from the machine."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_BY_ADAPTER = {
    "listen_addresses",
    "port",
    "unix_socket_directories",
    "unix_socket_permissions",
    "data_directory",
}
QUIET_LOG = {
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
}
"""Settings that keep what memories and queries say out of the server's log; health() looks for them."""
_CONF_HEADER = """\
# Written by pgrecall at each start of the server: changes made here are lost.
# To change a setting for good, use ALTER SYSTEM SET (kept in postgres/postgresql.auto.conf,
# which wins over this file) and restart with `pgrecall down` and `pgrecall up`.
"""


def check_settings(settings: Mapping[str, str]) -> None:
    """Refuse settings that could not be written to a file or that are the adapter's own.

    Raises:
        ValueError: a name or a value is bad.
    """
    for name, value in settings.items():
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]*", name) or "\n" in value:
            raise ValueError(f"bad server setting: {name!r} = {value!r}")
        if name.lower() in _BY_ADAPTER:
            raise ValueError(f"{name} is set by pgrecall; the embedded server is reached by its socket only")


def configuration(settings: Mapping[str, str]) -> str:
    """Give the text of pgrecall.conf: the settings for this machine, ``settings`` on top of them."""
    both = {**laptop_settings(machine_memory(), shared_memory()), **settings}
    # in a quoted value of that file, backslash and quote are written twice
    quoted = {name: value.replace("\\", "\\\\").replace("'", "''") for name, value in both.items()}
    lines = [f"{name} = '{value}'" for name, value in quoted.items()]
    return _CONF_HEADER + "\n".join(lines) + "\n"


def laptop_settings(memory: int, shared: int) -> dict[str, str]:
    """Give server settings for a machine shared with other work.

    Args:
        memory: the machine's memory in bytes.
        shared: what is free of it in /dev/shm, in bytes.
    """
    megabytes = memory // 2**20
    maintenance = min(max(megabytes // 16, 64), 1024)
    settings = {
        "shared_buffers": f"{min(max(megabytes // 8, 128), 4096)}MB",
        "effective_cache_size": f"{max(megabytes // 2, 128)}MB",
        "maintenance_work_mem": f"{maintenance}MB",
        "max_connections": "100",
        "max_wal_size": "2GB",
        "wal_compression": "on",
        "random_page_cost": "1.1",
        "jit": "off",  # compiling costs more than it saves on queries of milliseconds
        "cluster_name": "pgrecall",
        "log_checkpoints": "off",
        "log_autovacuum_min_duration": "-1",
        **QUIET_LOG,
    }
    if shared // 2**20 < 2 * maintenance:
        # A parallel build of a vector index shares maintenance_work_mem; containers have a /dev/shm of 64 MB.
        settings["dynamic_shared_memory_type"] = "sysv"
    return settings


def shared_memory() -> int:
    """Give the free bytes of /dev/shm, 0 if it is missing."""
    try:
        return shutil.disk_usage("/dev/shm").free  # noqa: S108
    except OSError:
        return 0


def machine_memory() -> int:
    """Give the memory this process may use, in bytes: the machine's, or the container's limit."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):  # cgroup 2, cgroup 1
        with contextlib.suppress(OSError, ValueError):
            limits.append(int((Path("/sys/fs/cgroup") / name).read_text()))
    return min(limits)
