"""Write dist/pgrecall.sql: what `pgrecall migrate` runs on an empty database, as a script for psql.

python tools/release_sql.py FILE
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict

from pgrecall.admin.migrate import migration_script
from pgrecall.server import EmbeddedServer


def generate() -> str:
    """Return the script. psql puts the name of the database that it is connected to in place of :"DBNAME"."""
    folder = Path(tempfile.mkdtemp(prefix="pgr-"))
    folder.chmod(0o755)
    server = EmbeddedServer(folder / "server", settings={"fsync": "off"})
    try:
        dsn = server.up()
        name = conninfo_to_dict(dsn)["dbname"]
        return migration_script(dsn).replace(f'ALTER DATABASE "{name}"', 'ALTER DATABASE :"DBNAME"')
    finally:
        server.down()
        shutil.rmtree(folder)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.parent.mkdir(exist_ok=True)
    target.write_text(generate(), encoding="utf-8")
