"""Calls with a canary in every argument, for test_server_log.py: each call has a word of its own, so a log names its cause."""

from __future__ import annotations

import copy
import json
import random
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from fuzz.arguments import Arguments
from fuzz.catalog import read_catalog
from fuzz.ground import ROLES
from fuzz.judging import public
from support.attack import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

    from fuzz.catalog import Argument, Function
    from fuzz.ground import Ground

ROOT = Path(__file__).resolve().parents[2]
CANARY = re.compile(r"quagga(\d+)zz")
STORED = "quagga0zz"
"""The word of what is stored before: keys that calls meet again."""

DEFAULT_LOG = {
    "log_error_verbosity": "default",
    "log_min_error_statement": "error",
    "log_parameter_max_length": "-1",
    "log_parameter_max_length_on_error": "0",
}
"""PostgreSQL's own settings of what its log has."""
TIME = "2025-01-01T00:00:00Z"
MEMORY = {
    "content": "a plan", "title": "t", "category": "c", "tags": ["a"], "expanded_keywords": ["b"], "importance": 0.5,
    "metadata": {"a": 1}, "source": "s", "session": "s", "speaker": "p", "position": 1, "language": "english",
    "is_sensitive": False, "occurred_at": TIME, "created_at": TIME, "valid_from": TIME, "valid_to": TIME, "external_id": "e",
}  # fmt: skip
LINE = {
    "pgrecall": 1, "id": 1, "namespace": "evil", "namespace_language": "english", "updated_at": TIME, "deleted_at": TIME,
    "superseded_by": 2, "superseded_at": TIME, "text_hash": "00",
    "embeddings": [{"model": "a model", "dimension": 384, "vector": "[1]"}], **MEMORY,
}  # fmt: skip
ROW = {
    "memory": {**MEMORY, "namespace": "evil"}, "import": {"fingerprint": "f"}, "updated_at": TIME, "deleted_at": TIME,
    "embedding": "[1]",
}  # fmt: skip
READ = {
    "memory_id": 1, "ticket": 1,
    "mentions": [{"name": "n", "type": "PERSON", "start": 0, "end": 1, "confidence": 1, "source": "spacy", "is_about": False}],
    "times": [{"start": 0, "end": 1, "from_at": TIME, "to_at": "2025-01-02T00:00:00Z", "granularity": "day", "confidence": 1,
               "source": "dates"}],
    "facts": [{"subject": "a", "label": "b", "object": "c", "confidence": 1, "source": "pattern", "statement": "s",
               "valid_from": TIME, "valid_to": TIME, "is_exclusive": False}],
}  # fmt: skip
# What JSON arguments hold when they are right.
DOCUMENTS: dict[str, tuple[Any, ...]] = {
    "memories": ([{**MEMORY, "namespace": "evil"}],),
    "lines": ([LINE],),
    "rows": ([ROW],),
    "links": ([{"id": 1, "superseded_by": 2, "superseded_at": TIME, "deleted_at": TIME, "updated_at": TIME}],),
    "read": ([READ],),
    "answers": ([{"key": "00", "memory_id": 1, "ticket": 1, "answer": {"a": 1}}],),
    "said": ({"decision": "UPDATE", "other_id": 2, "decider": "d", "evidence": {}, "memory_hash": "00", "other_hash": "00"},),
    "settings": ({"fusion": "rrf", "rrf_k": 60},),
    "pauses": ([{"model": "m", "until": TIME}],),
    "write": (
        {"kind": "remember", "key": "k", "at": TIME, "fields": MEMORY, "on_conflict": "error"},
        {"kind": "update", "key": "k", "at": TIME, "id": 1, "base": TIME, "fields": MEMORY, "mine": MEMORY},
        {"kind": "update", "key": "k", "at": "2000-01-01T00:00:00Z", "id": 1, "base": "2000-01-01T00:00:00Z", "fields": MEMORY,
         "mine": MEMORY},
        {"kind": "supersede", "key": "k", "at": TIME, "id": 1, "base": TIME, "fields": {**MEMORY, "successor": 2}},
        {"kind": "supersede", "key": "k", "at": TIME, "id": 1, "base": TIME, "fields": MEMORY},
        {"kind": "forget", "key": "k", "at": TIME, "id": 1, "base": TIME},
    ),
}  # fmt: skip
IDS = {"id", "memory_id", "other_id", "superseded_by", "successor"}
"""Keys of JSON whose number is to be that of a memory of the caller's."""


@dataclass(frozen=True, slots=True)
class Call:
    """What was called with a canary, and what came of it."""

    role: str
    function: str
    argument: str
    shape: str
    error: str = ""

    def __str__(self) -> str:
        return f"{self.role}: {self.function}({self.argument} => {self.shape})"


@dataclass(slots=True)
class Calls:
    """All calls; the number in a canary is the place of its call. Number 0 is what was stored before."""

    made: list[Call] = field(default_factory=lambda: [Call("owner", "what is stored", "", "")])

    def word(self) -> str:
        """The canary of the next call."""
        return f"quagga{len(self.made)}zz"

    def blamed(self, text: str) -> list[Call]:
        """The calls whose canaries a text holds."""
        return [self.made[number] for number in sorted({int(one) for one in CANARY.findall(text.casefold())})]


def clients_functions() -> frozenset[str]:
    """Names of the functions that the client, the command line and the daemon call."""
    files = [*(ROOT / "pyclient").rglob("*.py"), *(ROOT / "embedder").rglob("*.py")]
    code = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return frozenset(re.findall(r"\b(?:pgrecall|public)\.(\w+)", code))


def call_everything(ground: Ground, calls: Calls) -> set[str]:
    """Call what is meant to be called as every role, and as the owner; returns the functions' names.

    A helper that only an administrator could call, and that no client calls, is not: the functions before it check what it gets.
    """
    called = set()
    with ground.tenants.owner() as owner:
        tenants = {
            function.name
            for role in ROLES[:3]
            for function in read_catalog(owner, ground.logins[role]).functions
        }
        meant = public() | clients_functions()
        for role in (*ROLES, "owner"):
            login = ground.logins.get(role) or owner.execute("SELECT current_user").fetchone()[0]  # type: ignore[index]
            catalog = read_catalog(owner, login)
            arguments = Arguments(random.Random(role), catalog, ground.ids)
            with psycopg.connect(ground.tenants.dsn, autocommit=True) as conn:
                if role in ground.logins:
                    conn.execute(f"SET SESSION AUTHORIZATION {login}".encode())
                conn.execute("SET statement_timeout = '5s'")
                conn.execute("SET pgrecall.namespace = 'evil'")
                for function in catalog.functions:
                    if function.name in tenants or function.name.split(".")[1] in meant:
                        called.add(function.name)
                        _call(conn, role, function, arguments, calls, ground)
    return called


def _call(
    conn: Connection[Any], role: str, function: Function, arguments: Arguments, calls: Calls, ground: Ground
) -> None:
    own = ground.tenants.own_memory
    for place, argument in enumerate(function.arguments):
        for shape, value in _values(argument, own, ground.tenants.library_memory):
            given = {place: value}
            _run(conn, role, function, arguments, calls, given, shape, upto=function.required)
        if argument.kind in ("text", "name"):
            # What is stored already, such as a key, and the others canaries.
            _run(
                conn,
                role,
                function,
                arguments,
                calls,
                {place: STORED},
                "what is stored",
                upto=len(function.arguments),
            )
    # Every text at once, complete, and with one argument missing: a row that a constraint refuses has them all.
    texts = {place: "{canary}" for place, one in enumerate(function.arguments) if one.kind == "text"}
    for missing in (None, *range(len(function.arguments))) if texts else ():
        given = {place: value for place, value in texts.items() if place != missing}
        if missing is not None:
            given[missing] = None
        shape = (
            "every text" if missing is None else f"every text but NULL for {function.arguments[missing].name}"
        )
        _run(conn, role, function, arguments, calls, given, shape, upto=len(function.arguments))


def _values(argument: Argument, own: int, other: int) -> Iterator[tuple[str, Any]]:
    """Values for an argument, with what to call them: {canary} stands for the call's word."""
    kind = argument.kind
    if kind in ("text", "name"):
        yield "a word", "{canary}"
        yield "much text", "{canary} " * 60000
        yield "half an array", "[{canary}"
        yield "an object", '{"{canary}": 1}'
        yield "control characters", "{canary}\x01\n\u202e"
        yield "a wrong time", "2025-13-01 {canary}"
    elif kind == "text[]":
        yield "a list", ["{canary}"]
        yield "twice the same", ["{canary}", "{canary}"]
        yield "a long item", ["{canary}" * 3000]
        yield "half a vector", ["[1,{canary}]"]
        yield "with NULL", [None, "{canary}"]
    elif kind == "jsonb":
        yield "an object", '{"{canary}": "{canary}"}'
        yield "a list", '["{canary}"]'
        yield "a list of objects", '[{"{canary}": "{canary}"}]'
        yield "a text", '"{canary}"'
        for document in DOCUMENTS.get(argument.name, ()):
            for path, changed in _variants(_numbered(document, own, other)):
                yield f"wrong at {path}", json.dumps(changed)


def _numbered(document: Any, own: int, other: int) -> Any:
    """The document with the ids of memories that there are."""
    if isinstance(document, dict):
        return {
            key: (own if value == 1 else other)
            if key in IDS and isinstance(value, int)
            else _numbered(value, own, other)
            for key, value in document.items()
        }
    return [_numbered(one, own, other) for one in document] if isinstance(document, list) else document


def _variants(document: Any) -> Iterator[tuple[str, Any]]:
    """The document with one value at a time in another type, out of range, or renamed."""
    for path in list(_paths(document)):
        name = "/".join(map(str, path))
        for shape, value in (
            ("text", "{canary}"), ("a wrong time", "2025-13-01 {canary}"), ("object", {"{canary}": "{canary}"}),
            ("list", ["{canary}", {"{canary}": 1}]), ("long text", "{canary} " * 40000),
        ):  # fmt: skip
            changed = copy.deepcopy(document)
            _parent(changed, path)[path[-1]] = value
            yield f"{name}: {shape}", changed
        if isinstance(path[-1], str):
            changed = copy.deepcopy(document)
            parent = _parent(changed, path)
            parent["{canary} " + path[-1]] = parent.pop(path[-1])
            yield f"{name}: renamed", changed


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield (*path, key)
        yield from _paths(part, (*path, key))


def _parent(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path[:-1]:
        value = value[key]
    return value


def _run(
    conn: Connection[Any], role: str, function: Function, arguments: Arguments, calls: Calls, given: dict[int, Any],
    shape: str, *, upto: int,
) -> None:  # fmt: skip
    """Call a function with some arguments as parameters, and with what a caller means for the others; take it back."""
    word = calls.word()
    parts, values = [], []
    for place, argument in enumerate(function.arguments):
        name = f'"{argument.name}" => ' if argument.name else ""
        if place in given:
            parts.append(f"{name}%s::{argument.kind}")
            values.append(_with(word, given[place]))
        elif place < upto:
            parts.append(name + _plain(arguments, argument).replace("%", "%%"))
    verb = "CALL" if function.kind == "p" else "SELECT * FROM"
    statement = f"{verb} {function.name}({', '.join(parts)})"
    named = ", ".join(function.arguments[place].name for place in given)
    error = ""
    try:
        if function.kind == "p":
            conn.execute(statement.encode(), values)
        else:
            with conn.transaction(force_rollback=True):
                conn.execute(statement.encode(), values)
    except psycopg.Error as refused:
        error = said(refused)
        assert not conn.closed, error
    calls.made.append(Call(role, function.name, named, shape, error))


def _plain(arguments: Arguments, argument: Argument) -> str:
    """A value that a caller could mean; of arrays one item, so that they fit each other."""
    if not argument.kind.endswith("[]"):
        return arguments.plain(argument)
    return f"ARRAY[{arguments.plain(replace(argument, kind=argument.kind[:-2]))}]::{argument.kind}"


def _with(word: str, value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("{canary}", word)
    return [_with(word, one) for one in value] if isinstance(value, list) else value
