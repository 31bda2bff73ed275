"""`python -m fuzz`: attack a database of its own as one role or as each, for minutes; exit 1 on a finding."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg.conninfo import make_conninfo

from fuzz.attack import Attack, Outcome
from fuzz.ground import ROLES, ground
from pgrecall.admin.migrate import migrate
from pgrecall.server import EmbeddedServer

if TYPE_CHECKING:
    from collections.abc import Iterator


def main() -> int:
    """Attack, and print what came of it."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--role", choices=[*ROLES, "all"], default="all")
    parser.add_argument("--minutes", type=float, default=10.0, help="as each role")
    parser.add_argument("--calls", type=int, help="as each role, instead of minutes")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--sessions", type=int, default=2, help="at once; with 1 a seed repeats exactly")
    parser.add_argument(
        "--dsn", help="a superuser's, of the server to attack; otherwise an embedded one is started"
    )
    options = parser.parse_args()
    found = 0
    with _server(options.dsn) as dsn:
        for role in ROLES if options.role == "all" else [options.role]:
            with _database(dsn) as attacked, ground(attacked) as prepared:
                seconds = None if options.calls else options.minutes * 60
                attack = Attack(
                    prepared,
                    role,
                    options.seed,
                    calls=options.calls,
                    seconds=seconds,
                    sessions=options.sessions,
                )
                outcome = attack.run()
            print(summary(outcome, options.seed), flush=True)
            found += len(outcome.findings)
    return 1 if found else 0


def summary(outcome: Outcome, seed: int) -> str:
    """Calls, errors by SQLSTATE, and each finding with what reproduces it."""
    errors = ", ".join(
        f"{state} {count}" for state, count in outcome.states.most_common() if state != "00000"
    )
    lines = [
        f"{outcome.role}: {outcome.calls} statements with seed {seed}, {outcome.functions} functions, {outcome.tables} tables",
        f"  answered {outcome.states['00000']}; errors: {errors or 'none'}",
        f"  of these PostgreSQL's own words about a helper's arguments: {sum(outcome.helpers.values())} {dict(outcome.helpers)}",
        f"  slowest {outcome.slowest[0]:.1f} s ({outcome.slowest[1]}); memory {outcome.peak[0]:.0f} MB ({outcome.peak[1]})",
        f"  findings: {len(outcome.findings)}",
    ]
    for key, finding in sorted(outcome.findings.items()):
        lines.append(f"  {outcome.repeats[key]} times: {finding}")
    return "\n".join(lines)


@contextmanager
def _server(dsn: str | None) -> Iterator[str]:
    if dsn is not None:
        yield dsn
        return
    with tempfile.TemporaryDirectory(prefix="pgrecall-fuzz-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        server = EmbeddedServer(Path(folder) / "server", settings={"fsync": "off"})
        server.up()
        try:
            yield server.dsn("postgres")
        finally:
            server.down()


@contextmanager
def _database(dsn: str) -> Iterator[str]:
    name = f"pgrecall_fuzz_{time.time_ns()}"
    with psycopg.connect(dsn, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}".encode())
        try:
            attacked = make_conninfo(dsn, dbname=name)
            migrate(attacked)
            yield attacked
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


if __name__ == "__main__":
    sys.exit(main())
