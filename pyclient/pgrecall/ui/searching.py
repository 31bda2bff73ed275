"""The pages about one question: what is found and what each score is made of, and one memory explained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgrecall.errors import InvalidInput, PgrecallError

from .asking import Asked, identity
from .desk import Desk, desk_of
from .settings import check, grouped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from pgrecall.explaining import Explanation
    from pgrecall.models import RecalledMemory

LEGS = ("lexical", "dense", "graph")


@dataclass(frozen=True, slots=True)
class Found:
    """What a question found.

    Attributes:
        memories: The memories, best first.
        explained: Why, by id; a memory that came or went meanwhile has none.
        legs: The legs that took part.
        notice: Why the dense leg was left out; None if it was not.
        namespace: The namespace in force, and whether it is there.
    """

    memories: Sequence[RecalledMemory]
    explained: Mapping[int, Explanation]
    legs: Sequence[str]
    notice: str | None
    namespace: tuple[str, bool]


async def find(desk: Desk, asked: Asked) -> Found:
    """Ask a question, and have what it finds explained.

    Raises:
        PgrecallError: What `recall` raises.
    """
    wanted = asked.arguments() | {"include_sensitive": desk.include_sensitive}
    namespace = await desk.call(desk.client.namespace_in_force, asked.namespace or None)
    result = await desk.call(desk.client.recall, asked.q, **wanted)
    explained: Mapping[int, Explanation] = {}
    if result:
        ids = [memory.id for memory in result]
        explanations = await desk.call(desk.client.explain, asked.q, ids=ids, **wanted)
        explained = {one.id: one for one in explanations if one.arithmetic is not None}
    legs = [leg for leg in LEGS if any(getattr(one, f"{leg}_weight") for one in explained.values())]
    return Found(result.memories, explained, legs, result.notice, namespace)


async def search(request: Request) -> Response:
    """Show the form, and what the question finds."""
    desk = desk_of(request)
    asked = Asked.read(request.query_params)
    settings = await desk.call(desk.client.live_settings)
    found, problem = None, None
    if not asked.is_blank:
        try:
            check(asked.settings, settings)
            found = await find(desk, asked)
        except PgrecallError as error:
            problem = error
    return desk.page(
        "search.html",
        problem=problem,
        asked=asked,
        found=found,
        groups=grouped(settings, asked.settings),
        legs=LEGS,
    )


async def explain(request: Request) -> Response:
    """Show why one memory ranks as it does, or why it does not come."""
    desk = desk_of(request)
    asked = Asked.read(request.query_params)
    explained, notice, problem = None, None, None
    try:
        id = identity(request.query_params.get("id", ""))
        if asked.is_blank:
            raise InvalidInput("there is no question", hint="Ask one on the search page first.")
        check(asked.settings, await desk.call(desk.client.live_settings))
        wanted = asked.arguments() | {"include_sensitive": desk.include_sensitive}
        result = await desk.call(desk.client.explain, asked.q, ids=[id], **wanted)
        [explained] = result
        notice = result.notice
    except PgrecallError as error:
        problem = error
    return desk.page(
        "explain.html", problem=problem, asked=asked, explained=explained, notice=notice, legs=LEGS
    )
