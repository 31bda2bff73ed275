"""What the inspector reads besides what every client can: concepts, and what settings accept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psycopg import sql

from pgrecall._async.client import AsyncClient
from pgrecall.arguments import as_str

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


_READ_ONLY = {"transaction_read_only": "on"}

_SETTINGS = sql.SQL("""
    SELECT r.name, r.value, r."default", r.accepts, r.unit, r.effect, d.choices
    FROM pgrecall.settings_reference r JOIN pgrecall.setting_definitions d USING (name)
    WHERE NOT d.is_stored_only
    ORDER BY r.name
""")
_NAMESPACE = sql.SQL("""
    SELECT pgrecall.namespace_name(%(namespace)s) AS name, pgrecall.namespace_id(%(namespace)s) AS id
""")
_CONCEPT = sql.SQL("""
    SELECT id, namespace, name, type, aliases, mentions, about, first_seen, last_seen, merged
    FROM pgrecall.show_concept(%(id)s)
""")
_PASSAGES = sql.SQL("SELECT number, starts_at, ends_at FROM pgrecall.show_passages(%(id)s)")
_CONCEPTS = sql.SQL("""
    SELECT id, name, type, mentions FROM pgrecall.list_concepts(%(namespace)s, %(part)s, %(k)s)
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSetting:
    """A setting that a call can give.

    Attributes:
        name: Its short name.
        value: What is in force.
        default: What it is by default.
        accepts: What it accepts, in words.
        unit: What it is counted in, or its kind.
        effect: What it does.
        choices: The words it accepts; None if it accepts others.
    """

    name: str
    value: str | None
    default: str | None
    accepts: str
    unit: str | None
    effect: str
    choices: list[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """One row of `pgrecall.show_concept`."""

    id: int
    namespace: str
    name: str
    type: str
    aliases: list[str]
    mentions: int
    about: int
    first_seen: datetime | None
    last_seen: datetime | None
    merged: list[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedConcept:
    """A concept in a list, and how many memories mention it."""

    id: int
    name: str
    type: str
    mentions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """One row of `pgrecall.concept_neighbours`."""

    neighbour_id: int
    name: str
    type: str
    shared: int
    weight: float
    relationships: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One row of `pgrecall.show_passages`."""

    number: int
    starts_at: int
    ends_at: int


class Reader(AsyncClient):
    """A client that also reads concepts, passages and settings for the pages."""

    async def live_settings(self) -> list[LiveSetting]:
        """Return the settings that a call can give, by name."""
        return [LiveSetting(**row) for row in await self._selected(_SETTINGS, {})]

    async def namespace_in_force(self, namespace: str | None) -> tuple[str, bool]:
        """Return the name of the namespace that a call works in, and whether it is there."""
        named = await self._named(namespace)
        [row] = await self._selected(_NAMESPACE, {"namespace": named})
        return str(row["name"]), row["id"] is not None

    async def passages(self, id: int) -> list[Passage]:
        """Return the embedded passages of a memory, in their order; a short one has none."""
        return [Passage(**row) for row in await self._selected(_PASSAGES, {"id": id})]

    async def find_concept(self, name: str, namespace: str | None) -> int | None:
        """Return the id of the concept with this name, in any case; None if there is none."""
        arguments = {"name": as_str("name", name), "namespace": await self._named(namespace)}
        [row] = await self._database.rows("pgrecall.find_concept", arguments, _READ_ONLY)
        found = row["find_concept"]
        return None if found is None else int(found)

    async def concept(self, id: int) -> Concept | None:
        """Return a concept; None if there is none of that id."""
        rows = await self._selected(_CONCEPT, {"id": id})
        return Concept(**rows[0]) if rows else None

    async def newest_concepts(self, namespace: str | None, k: int) -> list[ListedConcept]:
        """Return those of the newest thousand concepts that most memories mention."""
        return await self._concepts(namespace, None, k)

    async def concepts_containing(self, part: str, namespace: str | None, k: int) -> list[ListedConcept]:
        """Return concepts whose name holds these letters, the shortest names first."""
        return await self._concepts(namespace, as_str("name", part), k)

    async def _concepts(self, namespace: str | None, part: str | None, k: int) -> list[ListedConcept]:
        arguments = {"namespace": await self._named(namespace), "part": part, "k": k}
        return [ListedConcept(**row) for row in await self._selected(_CONCEPTS, arguments)]

    async def neighbours(self, id: int, k: int) -> list[Neighbour]:
        """Return what a concept goes with, the strongest ties first."""
        rows = await self._database.rows(
            "pgrecall.concept_neighbours", {"concept_id": id, "k": k}, _READ_ONLY
        )
        return [Neighbour(**row) for row in rows]

    async def concept_memories(self, id: int, k: int) -> tuple[int, ...]:
        """Return the ids of memories that mention a concept: those about it first, then the newest."""
        rows = await self._database.rows(
            "pgrecall.memories_of_concept", {"concept_id": id, "k": k}, _READ_ONLY
        )
        return tuple(row["memories_of_concept"] for row in rows)

    async def _named(self, namespace: str | None) -> str | None:
        named = await self._database.namespace(namespace)
        return None if named is None else as_str("namespace", named)

    async def _selected(self, statement: sql.SQL, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        async with self._database.connection() as connection:
            return await self._database.fetch(connection, statement.format(), parameters, _READ_ONLY)
