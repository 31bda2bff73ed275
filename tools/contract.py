"""Write tools/contract.json: what each served contract promises to clients and daemons.

    python tools/contract.py            bring the newest contract and the client's argument types up to date
    python tools/contract.py --check    exit 1 if it is out of date, or if a served contract is broken
    python tools/contract.py --freeze   record the newest contract as released; then it gains no function

A contract lists the functions that the Python sources of clients and daemons name, with arguments, defaults
and result columns. Within a served contract a function may gain arguments with defaults and columns, at the
end. Anything else that a caller could notice needs a higher `newest` in sql/core/status/contract.sql. A
function that no source names any more stays in its contract.

From the same signatures come the types by which the client checks arguments: pgrecall/argument_types.py.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.rows import dict_row

from pgrecall.admin.migrate import migrate
from pgrecall.admin.schemas import vector_schema
from pgrecall.server import EmbeddedServer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "tools" / "contract.json"
SOURCES = ("pyclient/pgrecall", "embedder/pgrecall_embedder")
TYPES = ROOT / "pyclient" / "pgrecall" / "argument_types.py"
CLIENTS = ("pyclient/pgrecall/_async", "pyclient/pgrecall/contrib/offline/_async")

NEWEST = "newest in sql/core/status/contract.sql"
_STALE = "tools/contract.json is out of date; run `make generate`"
_NAMED = re.compile(r"\b((?:public|pgrecall)\.[a-z_]+)\b")
_SIGNATURES = """
    SELECT n.nspname || '.' || p.proname AS name,
           ARRAY(
               SELECT concat_ws(' ', p.proargnames[a.place], format_type(a.type, NULL),
                                'DEFAULT ' || pg_get_function_arg_default(p.oid, a.place::integer))
               FROM unnest(p.proargtypes) WITH ORDINALITY a (type, place) ORDER BY a.place
           ) AS arguments,
           COALESCE(
               (SELECT array_agg(concat_ws(' ', p.proargnames[a.place], format_type(a.type, NULL))
                                 ORDER BY a.place)
                FROM unnest(p.proallargtypes, p.proargmodes) WITH ORDINALITY a (type, mode, place)
                WHERE a.mode IN ('o', 't')),
               ARRAY[pg_get_function_result(p.oid)]
           ) AS result
    FROM pg_catalog.pg_proc p
    JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    WHERE p.prokind = 'f' AND n.nspname || '.' || p.proname = ANY (%s)
    ORDER BY 1
"""

Signature = dict[str, list[str]]
"""`arguments` and `result` of a function, each `name type`, with `DEFAULT …` where there is one."""


def named_functions(*folders: str) -> list[str]:
    """Return what looks like a public function in sources.

    Args:
        folders: Folders of the checkout; those of clients and daemons if there is none.
    """
    files = (path for folder in folders or SOURCES for path in (ROOT / folder).rglob("*.py"))
    return sorted({name for path in files for name in _NAMED.findall(path.read_text(encoding="utf-8"))})


def signatures(conn: psycopg.Connection[Any], names: list[str]) -> dict[str, Signature]:
    """Read the signatures of those functions that a database has.

    Args:
        conn: A connection to a migrated database.
        names: Schema-qualified names.
    """
    schema = f"{vector_schema(conn)}."
    with conn.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(_SIGNATURES, [names]).fetchall()
    return {
        row["name"]: {
            part: [text.replace(schema, "") for text in row[part]] for part in ("arguments", "result")
        }
        for row in rows
    }


def served(conn: psycopg.Connection[Any]) -> tuple[int, int]:
    """Return the oldest and the newest contract that a database serves."""
    [(oldest, newest)] = conn.execute("SELECT oldest, newest FROM pgrecall.contract()").fetchall()
    return oldest, newest


def broken(promised: Mapping[str, Signature], present: Mapping[str, Signature]) -> Iterator[str]:
    """Yield what a caller of the promised functions would notice.

    Args:
        promised: The functions of a contract.
        present: The functions of a database.
    """
    for name, signature in promised.items():
        if name not in present:
            yield f"{name} is gone"
            continue
        for part, what in (("arguments", "argument"), ("result", "result")):
            now = present[name][part]
            for place, text in enumerate(signature[part]):
                if place >= len(now):
                    yield f"{name} lost the {what} {text!r}"
                elif now[place] != text:
                    yield f"{name} has the {what} {now[place]!r} in place of {text!r}"
        more = present[name]["arguments"][len(signature["arguments"]) :]
        yield from (f"{name} demands the new argument {text!r}" for text in more if " DEFAULT " not in text)


def problems(conn: psycopg.Connection[Any], contracts: Mapping[str, Any]) -> list[str]:
    """Compare a database with the contracts it serves; return what is wrong, in words.

    Args:
        conn: A connection to a migrated database.
        contracts: The content of tools/contract.json.
    """
    oldest, newest = served(conn)
    found = []
    for number in map(str, range(oldest, newest + 1)):
        promised = contracts.get(number, {"functions": {}})["functions"]
        found += [
            f"contract {number}: {problem}. Keep what it promises, or raise {NEWEST}"
            for problem in broken(promised, signatures(conn, list(promised)))
        ]
    known = contracts.get(str(newest), {"is_released": False, "functions": {}})
    current = signatures(conn, [*named_functions(), *known["functions"]])
    if known["is_released"]:
        found += [
            f"contract {newest} is released without {name}: raise {NEWEST}"
            for name in current
            if name not in known["functions"]
        ]
    elif not found and known["functions"] != current:
        found.append(_STALE)
    return found


def argument_types(functions: Mapping[str, Signature]) -> str:
    """Return the module that holds the type of each argument of the functions that a client calls.

    Raises:
        ValueError: An argument has two types, so that a client cannot check it by its name.
    """
    types: dict[str, str] = {}
    for name in named_functions(*CLIENTS):
        for text in functions.get(name, {"arguments": []})["arguments"]:
            argument, found = text.split(" DEFAULT ")[0].split(" ", 1)
            if types.setdefault(argument, found) != found:
                raise ValueError(f"{argument} of {name} is {found}, elsewhere {types[argument]}")
    return "\n".join(
        (
            '"""The SQL type of each argument of the functions that a client calls, by name."""',
            "",
            "# This file is generated by tools/contract.py: do not edit.",
            "ARGUMENT_TYPES = {",
            *(f'    "{argument}": "{types[argument]}",' for argument in sorted(types)),
            "}",
            "",
        )
    )


def main() -> int:
    """Write or check the contracts."""
    parser = argparse.ArgumentParser(description="Write tools/contract.json from the catalog.")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if something is wrong")
    parser.add_argument("--freeze", action="store_true", help="record the newest contract as released")
    arguments = parser.parse_args()
    contracts = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    folder = Path(tempfile.mkdtemp(prefix="pgrecall-contract-"))
    folder.chmod(0o755)  # the server may run as another user
    server = EmbeddedServer(folder / "server", settings={"fsync": "off"})
    try:
        dsn = server.up()
        migrate(dsn)
        with psycopg.connect(dsn, autocommit=True) as conn:
            types = argument_types(signatures(conn, named_functions(*CLIENTS)))
            found = problems(conn, contracts)
            if arguments.check and TYPES.read_text(encoding="utf-8") != types:
                found.append(f"{TYPES.name} is out of date; run `make generate`")
            if found and (arguments.check or found != [_STALE]):
                sys.stderr.write("\n".join(found) + "\n")
                return 1
            newest = str(served(conn)[1])
            known = contracts.get(newest, {"is_released": False, "functions": {}})
            if not known["is_released"]:
                functions = signatures(conn, [*named_functions(), *known["functions"]])
                contracts[newest] = {"is_released": arguments.freeze, "functions": functions}
    finally:
        server.down()
        shutil.rmtree(folder)
    if not arguments.check:
        FILE.write_text(json.dumps(contracts, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        TYPES.write_text(types, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
