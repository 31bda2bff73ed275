"""Write dist/pgrecall.sql: what `pgrecall migrate` runs on an empty database, as plain SQL.

python tools/release_sql.py FILE
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from pgrecall.admin.migrate import migration_script
from pgrecall.server import EmbeddedServer


def generate() -> str:
    """Return the script."""
    folder = Path(tempfile.mkdtemp(prefix="pgr-"))
    folder.chmod(0o755)
    server = EmbeddedServer(folder / "server", settings={"fsync": "off"})
    try:
        return migration_script(server.up())
    finally:
        server.down()
        shutil.rmtree(folder)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.parent.mkdir(exist_ok=True)
    target.write_text(generate(), encoding="utf-8")
