"""Which module may import which: no cycles, no room that reaches up, and no embedder in the client."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"pgrecall": ROOT / "pyclient", "pgrecall_embedder": ROOT / "embedder"}

Imports = dict[str, set[str]]

# The one module that may import the embedder.
SEAM = "pgrecall.embedder"

# What may not import what: a room below never needs one above it.
ABOVE = {
    "pgrecall.models": ("query", "config", "server", "admin", "_async", "_sync", "jsonl", "cli", "contrib"),
    "pgrecall.query": ("config", "server", "admin", "_async", "_sync", "jsonl", "cli", "contrib"),
    "pgrecall.config": ("query", "server", "admin", "_async", "_sync", "jsonl", "cli", "contrib"),
    "pgrecall.server": ("query", "admin", "_async", "_sync", "jsonl", "cli", "contrib"),
    "pgrecall.admin": ("_async", "_sync", "jsonl", "cli", "contrib"),
    "pgrecall._async": ("_sync", "jsonl", "cli", "contrib"),
    "pgrecall._sync": ("_async", "jsonl", "cli", "contrib"),
    "pgrecall.jsonl": ("cli", "contrib"),
    "pgrecall.contrib": ("cli",),
}  # fmt: skip


def modules(package: str) -> dict[str, Path]:
    """Return the modules of a package and their files."""
    found = {}
    for file in (PACKAGES[package] / package).rglob("*.py"):
        parts = file.relative_to(PACKAGES[package]).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports_of(source: str, module: str, known: set[str], *, is_package: bool = False) -> set[str]:
    """Return what a module imports of those known, in functions and for type checkers too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".")
                kept = len(parts) - node.level + (1 if is_package else 0)
                base = ".".join([*parts[:kept], *([node.module] if node.module else [])])
            for name in node.names:
                # A submodule, or a name of the module.
                found.add(f"{base}.{name.name}" if f"{base}.{name.name}" in known else base)
    return (found & known) - {module}


def graph(package: str) -> Imports:
    """Return what each module of a package imports of the package; its face, __init__, is left out."""
    files = modules(package)
    return {
        name: imports_of(
            file.read_text(encoding="utf-8"), name, set(files), is_package=file.name == "__init__.py"
        )
        for name, file in files.items()
        if name != package
    }


def cycle(imports: Imports) -> list[str]:
    """Return the modules of a cycle, empty if there is none."""
    remaining = {name: set(targets) & set(imports) for name, targets in imports.items()}
    while leaves := [name for name, targets in remaining.items() if not targets]:
        for name in leaves:
            del remaining[name]
        for targets in remaining.values():
            targets -= set(leaves)
    if not remaining:
        return []
    path = [min(remaining)]
    while path[-1] not in path[:-1]:
        path.append(min(remaining[path[-1]]))
    return path[path.index(path[-1]) :]


def rooms(imports: Imports) -> Imports:
    """Return what the rooms of a package import of each other; a module beside them is one of its own."""
    found: Imports = {}
    for name, targets in imports.items():
        room = ".".join(name.split(".")[:2])
        found.setdefault(room, set()).update(".".join(target.split(".")[:2]) for target in targets)
    return {room: targets - {room} for room, targets in found.items()}


def climbs(imports: Imports) -> list[str]:
    """Return the imports that reach from a room into one above it."""
    return sorted(
        f"{name} imports {target}"
        for name, targets in imports.items()
        for room, above in ABOVE.items()
        if name == room or name.startswith(f"{room}.")
        for target in targets
        if target.split(".")[1:] and target.split(".")[1] in above
    )


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_imports_itself_by_way_of_others(package: str) -> None:
    assert cycle(graph(package)) == []


def test_no_room_needs_itself_by_way_of_others() -> None:
    assert cycle(rooms(graph("pgrecall"))) == []


def test_no_room_reaches_into_one_above_it() -> None:
    assert climbs(graph("pgrecall")) == []


def test_what_would_be_wrong_is_found() -> None:
    known = {"pgrecall.query.a", "pgrecall.query.b", "pgrecall.cli.c"}
    lazy = "def f():\n    from .b import x\n"
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pgrecall.query import a\n"
    imports = {
        "pgrecall.query.a": imports_of(lazy, "pgrecall.query.a", known),
        "pgrecall.query.b": imports_of(typed + "import pgrecall.cli.c", "pgrecall.query.b", known),
        "pgrecall.cli.c": set[str](),
    }
    assert cycle(imports) == ["pgrecall.query.a", "pgrecall.query.b", "pgrecall.query.a"]
    assert climbs(imports) == ["pgrecall.query.b imports pgrecall.cli.c"]
    assert cycle(rooms({"p.x.a": {"p.y.a"}, "p.y.a": set(), "p.y.b": {"p.x.a"}})) == ["p.x", "p.y", "p.x"]


def test_one_module_alone_imports_the_embedder() -> None:
    known = set(modules("pgrecall_embedder"))
    importers = {
        name
        for name, file in modules("pgrecall").items()
        if imports_of(file.read_text(encoding="utf-8"), name, known)
    }
    assert importers == {SEAM}


def test_the_client_is_imported_without_the_embedder() -> None:
    names = sorted(name for name in modules("pgrecall") if not name.endswith("__main__"))
    code = (
        "import importlib, sys\n"
        "sys.modules['pgrecall_embedder'] = None\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        "import pgrecall\n"
        "for name in pgrecall.__all__: getattr(pgrecall, name)\n"
        "import pgrecall.embedder\n"
        "try: pgrecall.embedder.load_provider\n"
        "except ModuleNotFoundError: print('missing')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "missing\n"), done.stderr


def test_the_process_that_reads_memories_imports_no_library_until_it_needs_one() -> None:
    code = (
        "import sys, pgrecall_embedder.jobs.extract.process\n"
        "loaded = {name.partition('.')[0] for name in sys.modules} - sys.stdlib_module_names\n"
        "print(sorted(loaded & {'psycopg', 'pydantic', 'structlog', 'httpx', 'numpy', 'spacy', 'dateparser'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
