"""The page that asks one question with two settings, and shows what moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgrecall.errors import PgrecallError

from .context import page_context
from .query_form import QueryForm
from .search_pages import Found, find
from .settings import check, grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from pgrecall.models import RecalledMemory

SIDES = ("a", "b")

SUGGESTED = {
    "Reciprocal ranks": {"fusion": "rrf"},
    "Words only": {"strategy": "fulltext"},
    "Vector only": {"strategy": "vector"},
    "No concept graph": {"graph_weight": "0"},
    "Newer counts": {"half_life": "30 days"},
    "Importance counts": {"importance_weight": "0.5"},
}
"""Settings worth a look, for those who do not know what to change."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A memory that one of two recalls found, or both.

    Attributes:
        memory: The memory.
        places: Its place in each, from 1; None where it is not found.
        scores: Its score in each.
    """

    memory: RecalledMemory
    places: tuple[int | None, int | None]
    scores: tuple[float | None, float | None]

    @property
    def change(self) -> str:
        """'same', 'up', 'down', 'new' or 'gone', from the first to the second."""
        before, after = self.places
        if before is None:
            return "new"
        if after is None:
            return "gone"
        return "same" if before == after else "up" if after < before else "down"

    @property
    def by(self) -> int:
        """By how many places."""
        before, after = self.places
        return 0 if before is None or after is None else abs(after - before)


def moved(before: Found, after: Found) -> list[Moved]:
    """Return every memory of two recalls: in the order of the second, then those that only the first has."""
    places = [
        {one.id: (place, one) for place, one in enumerate(found.memories, 1)} for found in (before, after)
    ]
    order = [*places[1], *(id for id in places[0] if id not in places[1])]
    rows = []
    for id in order:
        old, new = places[0].get(id), places[1].get(id)
        known = [one for one in (new, old) if one is not None]
        rows.append(
            Moved(
                known[0][1],
                (old[0] if old else None, new[0] if new else None),
                (old[1].score if old else None, new[1].score if new else None),
            )
        )
    return rows


def summarise(rows: Sequence[Moved]) -> str:
    """Say in a sentence how much moved."""
    counts = {name: sum(row.change == name for row in rows) for name in ("same", "up", "down", "new", "gone")}
    both = counts["same"] + counts["up"] + counts["down"]
    if both == counts["same"] == len(rows):
        return "Nothing moved."
    parts = (
        (counts["same"], "in place"),
        (counts["up"], "up"),
        (counts["down"], "down"),
        (counts["new"], "only with B"),
        (counts["gone"], "only with A"),
    )
    return f"{both} of {len(rows)} in both: " + ", ".join(f"{n} {name}" for n, name in parts if n) + "."


async def compare(request: Request) -> Response:
    """Show two recalls of one question side by side."""
    context = page_context(request)
    sides = [QueryForm.read(request.query_params, f"{side}.") for side in SIDES]
    settings = await context.call(context.client.live_settings)
    found, problem = None, None
    if not sides[0].is_blank:
        try:
            for side in sides:
                check(side.settings, settings)
            found = [await find(context, side) for side in sides]
        except PgrecallError as error:
            problem = error
    rows = [] if found is None else moved(*found)
    form = sides[0].with_settings({})
    names = {name for side in sides for name in side.settings}
    return context.page(
        "compare.html",
        namespaces=await context.namespaces(),
        problem=problem,
        form=form,
        sides=dict(zip(SIDES, sides, strict=True)),
        found=found,
        rows=rows,
        summary=summarise(rows),
        groups=grouped(settings, names),
        suggested={
            name: form.address("/compare", **{f"b.{setting}": value for setting, value in one.items()})
            for name, one in SUGGESTED.items()
        },
    )
