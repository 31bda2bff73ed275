"""Drops objects in the order of their dependencies, and nothing that depends on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["drop", "drop_unused"]


def drop(conn: psycopg.Connection[Any], commands: Sequence[str]) -> None:
    """Run DROPs in dependency order, without CASCADE, which would drop objects of the user.

    Raises:
        psycopg.errors.DependentObjectsStillExist: Something else depends on one of the objects.
    """
    blocked = drop_unused(conn, commands)
    if blocked is not None:
        raise blocked


def drop_unused(
    conn: psycopg.Connection[Any], commands: Sequence[str]
) -> psycopg.errors.DependentObjectsStillExist | None:
    """Run those DROPs that nothing else stands against; return what the first of the others says."""
    while commands:
        blocked = []
        for command in commands:
            try:
                with conn.transaction():
                    conn.execute(command.encode())
            except psycopg.errors.DependentObjectsStillExist as error:
                blocked.append((command, error))
        if len(blocked) == len(commands):
            return blocked[0][1]
        commands = [command for command, _ in blocked]
    return None
