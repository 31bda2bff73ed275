"""Every connection to a server is opened by `open_connection`: one that is not hangs when the network is lost."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def opened_otherwise(source: str) -> list[int]:
    """Return the lines that take `connect` from psycopg, or make a pool without the options."""
    tree = ast.parse(source)
    ours: set[str] = set()  # names that psycopg gave, or that belong to its module
    pools: set[str] = set()
    lines: list[int] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            ours |= {
                (name.asname or name.name).split(".")[0] for name in node.names if "psycopg" in name.name
            }
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names = {name.asname or name.name for name in node.names}
            if node.module.split(".")[0] == "psycopg":
                ours |= names
                lines += [node.lineno for name in node.names if name.name == "connect"]
            elif node.module.split(".")[0] == "psycopg_pool":
                pools |= names
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "connect":
            root = node.value
            while isinstance(root, ast.Attribute | ast.Subscript):
                root = root.value
            if isinstance(root, ast.Name) and root.id in ours:
                lines.append(node.lineno)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[0] in pools | {"psycopg_pool"}:
            is_made = ast.unparse(node.func).endswith("Pool")
            if is_made and "connection_options(" not in ast.unparse(node):
                lines.append(node.lineno)
    return sorted(lines)


@pytest.mark.parametrize("folder", ["pyclient/pgrecall", "embedder/pgrecall_embedder"])
def test_nothing_connects_past_the_one_way(folder: str) -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line}"
        for file in sorted((ROOT / folder).rglob("*.py"))
        for line in opened_otherwise(file.read_text(encoding="utf-8"))
    ]
    assert found == [], "connect with pgrecall.connecting.open_connection"


@pytest.mark.parametrize(
    "source",
    [
        "import psycopg\npsycopg.connect(dsn)",
        "def f():\n    import psycopg as driver\n    return driver.Connection.connect",
        "from psycopg import AsyncConnection\nAsyncConnection[int].connect(dsn)",
        "from psycopg import connect as join",
        "from psycopg_pool import ConnectionPool\nConnectionPool(dsn)",
        "import psycopg_pool\npsycopg_pool.AsyncConnectionPool(dsn, kwargs={})",
    ],
)
def test_what_would_be_wrong_is_found(source: str) -> None:
    assert opened_otherwise(source)


@pytest.mark.parametrize(
    "source",
    [
        "import sqlite3\nsqlite3.connect(file)",
        "import psycopg\nopen_connection(psycopg.Connection, dsn)\nself.connect()",
        "from psycopg_pool import ConnectionPool\nConnectionPool(dsn, kwargs=connection_options(target))\n"
        "ConnectionPool.check_connection",
    ],
)
def test_what_is_right_is_left_alone(source: str) -> None:
    assert opened_otherwise(source) == []
