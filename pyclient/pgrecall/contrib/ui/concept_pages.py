"""The pages about concepts: find one, and walk from one to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.responses import RedirectResponse

from pgrecall.errors import NotFound, PgrecallError

from .context import PageContext, page_context

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from pgrecall.models import Explanation

    from .reader import Concept

LISTED = 60
NEIGHBOURS = 24
FACTS = 50
EVIDENCE = 3
"""Memories that are shown of a fact's evidence."""
MEMORIES = 25

_DIGITS = 19  # more have no bigint


async def concepts(request: Request) -> Response:
    """Show the concept of a name, or a list of those whose name holds these letters."""
    context = page_context(request)
    name, namespace = (request.query_params.get(part, "").strip() for part in ("name", "namespace"))
    known, listed, problem = ("", True), [], None
    try:
        known = await context.call(context.client.namespace_in_force, namespace or None)
        if name:
            exact = await context.call(context.client.find_concept, name, namespace or None)
            if exact is not None:
                return RedirectResponse(f"/concepts/{exact}", status_code=303)
            listed = await context.call(context.client.concepts_containing, name, namespace or None, LISTED)
        else:
            listed = await context.call(context.client.newest_concepts, namespace or None, LISTED)
    except PgrecallError as error:
        problem = error
    return context.page(
        "concepts.html",
        problem=problem,
        name=name,
        namespace=namespace,
        namespaces=await context.namespaces(),
        known=known,
        listed=listed,
    )


async def concept(request: Request) -> Response:
    """Show one concept: names, neighbours, what is said of it and by which memories."""
    context = page_context(request)
    number = request.path_params["id"]
    id = int(number) if number.isascii() and number.isdigit() and len(number) < _DIGITS else 0
    found = await context.call(context.client.concept, id)
    if found is None:
        raise NotFound("there is no such concept", hint="It may have been merged: look for its name.")
    neighbours = await context.call(context.client.neighbours, id, NEIGHBOURS)
    facts = await context.call(
        context.client.recall_facts,
        found.name,
        k=FACTS,
        embed=False,
        namespace=found.namespace,
        concepts=[found.name],
        include_superseded=True,
    )
    mentioning = await context.call(context.client.concept_memories, id, MEMORIES)
    evidence = [memory for fact in facts for memory in fact.evidence[:EVIDENCE]]
    return context.page(
        "concept.html",
        concept=found,
        neighbours=neighbours,
        facts=facts,
        shown_evidence=EVIDENCE,
        mentioning=mentioning,
        memories=await _memories(context, found, [*mentioning, *evidence]),
        here=urlencode({"namespace": found.namespace}),
    )


async def _memories(context: PageContext, found: Concept, ids: list[int]) -> Mapping[int, Explanation]:
    """Return memories by id; the explanation of a recall tells their texts, and whether they still hold."""
    if not ids:
        return {}
    explained = await context.call(
        context.client.explain,
        found.name,
        ids=list(dict.fromkeys(ids)),
        k=1,
        embed=False,
        namespace=found.namespace,
        include_sensitive=context.include_sensitive,
        include_superseded=True,
    )
    return {one.id: one for one in explained}
