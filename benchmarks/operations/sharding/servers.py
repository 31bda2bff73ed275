"""A router and its shards, each a server of its own, made from nothing and removed at the end."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pgrecall.admin.migrate import migrate
from pgrecall.config.settings import load
from pgrecall.contrib.sharding import init
from pgrecall.server import EmbeddedServer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["plproxy_binaries", "routed_shards"]


def plproxy_binaries() -> Path | None:
    """Return the binaries of a server with PL/Proxy and pgvector: configured, else Debian's newest."""
    configured = load().pg_bindir
    folders = [] if configured is None else [Path(configured)]
    for folder in [*folders, *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]:
        done = subprocess.run(
            [folder / "pg_config", "--sharedir"], capture_output=True, text=True, check=False
        )
        extensions = Path(done.stdout.strip()) / "extension"
        if all((extensions / f"{name}.control").is_file() for name in ("plproxy", "vector")):
            return folder
    return None


@contextmanager
def routed_shards(
    cache: Path, binaries: Path, shards: int, settings: Mapping[str, str] | None = None
) -> Iterator[tuple[str, list[EmbeddedServer]]]:
    """Yield the router's connection string and the servers of the shards.

    Args:
        cache: Where their folders go.
        binaries: Of a server with PL/Proxy.
        shards: How many.
        settings: Of the servers.
    """
    cache.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="sh-", dir=cache))
    folder.chmod(0o755)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        servers = []
        for name in ("r", *map(str, range(shards))):
            server = EmbeddedServer(folder / name, settings=settings, bindir=binaries)
            stack.callback(server.down)
            server.up()
            servers.append(server)
        router, *rest = servers
        for server in rest:
            migrate(server.dsn())
        init(router.dsn(), [server.dsn() for server in rest])
        yield router.dsn(), rest
