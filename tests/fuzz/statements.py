"""Statements of an attack: calls of functions with some of their arguments, and statements on tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fuzz.arguments import Arguments
    from fuzz.catalog import Function, Table

OPERATORS = ("=", "<", ">", "<=", "<>", "IS NOT DISTINCT FROM")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, what it is of, and the values that were given to it."""

    of: str
    text: str
    values: tuple[str, ...]
    on_table: bool = False


def call(function: Function, arguments: Arguments, *, plain: bool = False) -> Statement:
    """Call a function with what it needs and, by name, with any of the rest."""
    chance = arguments.chance
    given: list[str] = []
    values: list[str] = []
    for place, argument in enumerate(function.arguments):
        if place >= function.required and chance.random() < 0.5:
            continue
        value = arguments.plain(argument) if plain else arguments.hostile(argument)
        named = argument.name and (place >= function.required or chance.random() < 0.5 or len(given) < place)
        # What has been named once is named for the rest of the call.
        named = named or any(" => " in one for one in given[-1:])
        given.append(f'"{argument.name}" => {value}' if named else value)
        values.append(value)
    target = f"{function.name}({', '.join(given)})"
    text = f"CALL {target}" if function.kind == "p" else f"SELECT r::text FROM {target} r"
    return Statement(function.signature, text, tuple(values))


def on_table(table: Table, arguments: Arguments) -> Statement:
    """Read, write, change or delete rows of a table, or have a condition explained."""
    chance = arguments.chance
    verbs = [
        *["select", "explain"] * bool(table.selected),
        *["insert"] * bool(table.inserted),
        *["update"] * bool(table.updated),
        *["delete"] * table.deletes,
    ]
    verb = chance.choice(verbs)
    values: list[str] = []

    def condition() -> str:
        if not table.selected:
            return "true"
        column = chance.choice(table.selected)
        value = arguments.hostile(column)
        values.append(value)
        if column.kind == "text" and chance.random() < 0.3:
            return f"\"{column.name}\" LIKE {value} || '%'"
        return f'"{column.name}" {chance.choice(OPERATORS)} {value}'

    if verb in ("select", "explain"):
        start = "EXPLAIN (ANALYZE, VERBOSE) " if verb == "explain" else ""
        text = f"{start}SELECT t::text FROM (SELECT {_names(table)} FROM {table.name} WHERE {condition()} LIMIT 50) t"
    elif verb == "insert":
        columns = [column for column in table.inserted if chance.random() < 0.8] or [table.inserted[0]]
        values = [arguments.hostile(column) for column in columns]
        names = ", ".join(f'"{column.name}"' for column in columns)
        text = f"INSERT INTO {table.name} ({names}) VALUES ({', '.join(values)})"
    elif verb == "update":
        column = chance.choice(table.updated)
        value = arguments.hostile(column)
        text = f'UPDATE {table.name} SET "{column.name}" = {value} WHERE {condition()}'
        values.append(value)
    else:
        text = f"DELETE FROM {table.name} WHERE {condition()}"
    return Statement(f"{verb} {table.name}", text, tuple(values), on_table=True)


def _names(table: Table) -> str:
    return ", ".join(f'"{column.name}"' for column in table.selected)
