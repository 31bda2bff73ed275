"""What a tenant sees does not depend on another tenant's rows: answers, errors, plans, notifications.

Three databases differ in beta's rows alone: few; twenty times as many, of other words, keys and names; and as many again, of others.
Sequences stand at the same numbers, since ids tell how many rows there are of all tenants together (docs/tenants.md). So do sizes:
what follows from them, such as which plan is chosen, is compared between the two that are as large.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.memories import call
from support.noninterference import (
    BETA,
    EXPLAIN,
    EXPLAINED,
    LIMITS,
    OWN,
    SYSTEM,
    ask,
    calls,
    fill,
    questions,
    readable,
)
from support.waiting import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fuzz.arguments import Ids
    from fuzz.catalog import Catalog
    from support.noninterference import Told

CHANNELS = ("pgrecall_embed", "pgrecall_query", "pgrecall_answer")
KINDS = ("reader", "writer")
FEW_AND_MANY, AS_MANY = (0, 1), (1, 2)
SIZES = ("pgrecall.index_status(", "pgrecall.health(", "recall_status(", "pgrecall.recall_plan(")
"""Functions that tell sizes of tables and indexes, or which plan follows from them."""


@dataclass(frozen=True, slots=True)
class Databases:
    """The databases, and the tenant's roles, which are the same in each."""

    dsns: tuple[str, ...]
    roles: dict[str, str]
    ids: Ids
    catalogs: dict[str, Catalog]

    def differences(self, kind: str, asked: dict[tuple[int, int], list[str]]) -> list[tuple[str, str, str]]:
        """Statements, by the pair of databases, that tell the role something else in the one than in the other.

        A database that is in two pairs is asked once.
        """
        statements: dict[int, dict[str, None]] = {}
        for pair, texts in asked.items():
            for place in pair:
                statements.setdefault(place, {}).update(dict.fromkeys(texts))
        told = {
            place: ask(self.dsns[place], self.roles[kind], list(texts)) for place, texts in statements.items()
        }
        return [
            found
            for (one, other), texts in asked.items()
            for found in _differing(kind, texts, told[one], told[other])
        ]


def _sizeless(statements: list[str]) -> list[str]:
    return [text for text in statements if not any(size in text for size in SIZES)]


def _differing(kind: str, statements: list[str], one: Told, other: Told) -> list[tuple[str, str, str]]:
    slower = max(statements, key=lambda s: abs(one.seconds[s] - other.seconds[s]), default="")
    if slower:
        print(
            f"{kind}: {len(statements)} statements; the most different time: {one.seconds[slower]:.4f} s, {other.seconds[slower]:.4f} s: {slower[:150]}"
        )
    found = [(s, one.answers[s], other.answers[s]) for s in statements if one.answers[s] != other.answers[s]]
    for statement, *parts in [(s, *_around(a, b)) for s, a, b in found][:20]:
        print(f"{kind} sees a difference in {statement[:300]}", *parts, sep="\n    ")
    return [(s[:300], *_around(a, b)) for s, a, b in found]


def _around(one: str, other: str) -> tuple[str, str]:
    place = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return one[max(0, place - 60) : place + 100], other[max(0, place - 60) : place + 100]


@pytest.fixture(scope="module")
def databases(new_database: Callable[..., str], template: str) -> Iterator[Databases]:
    dsns = tuple(new_database(template) for _ in BETA)
    roles = {kind: f"tenant_{kind}_{os.getpid()}" for kind in KINDS}
    ids, catalogs = [], {}
    with psycopg.connect(dsns[0], autocommit=True) as owner:
        for kind, role in roles.items():
            owner.execute(f"CREATE ROLE {role} IN ROLE pgrecall_{kind}".encode())
    try:
        for number, dsn in enumerate(dsns):
            with psycopg.connect(dsn, autocommit=True) as owner:
                ids.append(fill(owner, roles["writer"], number))
                call(owner, "pgrecall.grant_namespace", roles["reader"], OWN)
                catalogs = {kind: readable(owner, role) for kind, role in roles.items()}
        assert ids[0] == ids[1] == ids[2]
        yield Databases(dsns, roles, ids[0], catalogs)
    finally:
        for dsn in dsns:
            with psycopg.connect(dsn, autocommit=True) as owner:
                for role in roles.values():
                    owner.execute(f"DROP OWNED BY {role}".encode())
        with psycopg.connect(dsns[0], autocommit=True) as owner:
            for role in roles.values():
                owner.execute(f"DROP ROLE {role}".encode())


@pytest.mark.slow
@pytest.mark.pg15
@pytest.mark.parametrize("kind", KINDS)
def test_functions_tell_the_same(databases: Databases, kind: str) -> None:
    statements = list(calls(databases.catalogs[kind], databases.ids))
    assert len(statements) > 100
    asked = {AS_MANY: statements, FEW_AND_MANY: _sizeless(statements)}
    assert databases.differences(kind, asked) == []


@pytest.mark.parametrize("kind", KINDS)
def test_plans_of_functions_are_the_same(databases: Databases, kind: str) -> None:
    statements = [EXPLAIN.format(costs="") + text for text in EXPLAINED] + list(EXPLAINED)
    asked = {AS_MANY: statements, FEW_AND_MANY: _sizeless(statements)}
    assert databases.differences(kind, asked) == []


@pytest.mark.slow
@pytest.mark.pg15
@pytest.mark.parametrize("kind", KINDS)
def test_questions_of_relations_are_answered_the_same(databases: Databases, kind: str) -> None:
    """Conditions that an index would answer before the policy is asked: by first letters, keys, names, numbers."""
    print(f"{kind} may read:", *(table.name for table in databases.catalogs[kind].tables if table.selected))
    statements = list(questions(databases.catalogs[kind]))
    assert databases.differences(kind, {AS_MANY: statements, FEW_AND_MANY: statements}) == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_system_catalogs_tell_the_same(databases: Databases, kind: str) -> None:
    assert databases.differences(kind, {FEW_AND_MANY: list(SYSTEM)}) == []


def test_what_differs_beside_are_sizes(databases: Databases) -> None:
    """The limit that docs/tenants.md states: names are the same, and all that differs are numbers."""
    one, other = (ask(dsn, databases.roles["writer"], list(LIMITS)) for dsn in databases.dsns[:2])
    assert one.answers != other.answers
    for statement in LIMITS:
        without = ["".join(c for c in told.answers[statement] if not c.isdigit()) for told in (one, other)]
        assert without[0] == without[1]


def test_notifications_are_the_same(databases: Databases) -> None:
    heard: list[list[Any]] = []
    for number, dsn in enumerate(databases.dsns):
        with (
            psycopg.connect(dsn, autocommit=True) as listener,
            psycopg.connect(dsn, autocommit=True) as owner,
        ):
            listener.execute(f"SET SESSION AUTHORIZATION {databases.roles['writer']}".encode())
            for channel in CHANNELS:
                listener.execute(f"LISTEN {channel}".encode())
            namespace, _, words = BETA[number]
            call(owner, "remember", " ".join(words), namespace=namespace)
            heard.append([(n.channel, n.payload) for n in listener.notifies(timeout=PATIENCE, stop_after=1)])
    assert heard[0] == heard[1] == heard[2] != []
