"""The pages about one question: what is found, what each score is made of, and what helped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse

from pgrecall.errors import InvalidInput, PgrecallError
from pgrecall.query.legs import LEGS

from .context import PageContext, page_context
from .memory_list import filled_namespaces, recent
from .posted_form import read_posted
from .query_form import EMBED_SECONDS, QueryForm, identity
from .settings import check, grouped

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from pgrecall.models import Explanation, RecalledMemory

UNSURE = 0.5
"""A best confidence below this one is worth a notice."""


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

    @property
    def confidence(self) -> float | None:
        """The highest confidence of the memories; None if recall gives none."""
        return max((one.confidence for one in self.memories if one.confidence is not None), default=None)

    @property
    def is_unsure(self) -> bool:
        """Whether the memories probably do not answer the question."""
        return self.confidence is not None and self.confidence < UNSURE


async def find(context: PageContext, form: QueryForm) -> Found:
    """Ask a question, and have what it finds explained.

    Raises:
        PgrecallError: What `recall` raises.
    """
    options = form.arguments() | {"include_sensitive": context.include_sensitive}
    namespace = await context.call(context.client.namespace_in_force, form.namespace or None)
    result = await context.call(context.client.recall, form.q, **options)
    explained: Mapping[int, Explanation] = {}
    if result:
        ids = [memory.id for memory in result]
        explanations = await context.call(context.client.explain, form.q, ids=ids, **options)
        explained = {one.id: one for one in explanations if one.arithmetic is not None}
    legs = [leg for leg in LEGS if any(getattr(one, f"{leg}_weight") for one in explained.values())]
    return Found(result.memories, explained, legs, result.notice, namespace)


async def search(request: Request) -> Response:
    """Show the form, and what the question finds."""
    context = page_context(request)
    form = QueryForm.read(request.query_params)
    settings = await context.call(context.client.live_settings)
    found, newest, problem = None, None, None
    elsewhere: Sequence[str] = ()
    try:
        if form.is_blank:
            newest = await recent(context, form.namespace)
            if not newest:
                elsewhere = await filled_namespaces(context)
        else:
            check(form.settings, settings)
            found = await find(context, form)
    except PgrecallError as error:
        problem = error
    return context.page(
        "search.html",
        problem=problem,
        form=form,
        found=found,
        newest=newest,
        elsewhere=elsewhere,
        namespaces=await context.namespaces(),
        groups=grouped(settings, form.settings),
        recorded=request.query_params.get("recorded"),
    )


async def feedback(request: Request) -> Response:
    """Record whether a memory answered the question, and show the results again."""
    context = page_context(request)
    given = await read_posted(request, str(context.form_token))
    form = QueryForm.read(given)
    id = identity(given.get("id", ""))
    await context.call(
        context.client.learning.feedback,
        form.q,
        id,
        {"yes": True, "no": False}.get(given.get("useful", "")),
        namespace=form.namespace or None,
        embed="daemon",
        embed_timeout=EMBED_SECONDS,
    )
    return RedirectResponse(form.address("/", recorded=id) + f"#hit-{id}", status_code=303)


async def explain(request: Request) -> Response:
    """Show why one memory ranks as it does, or why it does not come."""
    context = page_context(request)
    form = QueryForm.read(request.query_params)
    explained, notice, problem = None, None, None
    try:
        id = identity(request.query_params.get("id", ""))
        if form.is_blank:
            raise InvalidInput("there is no question", hint="Ask one on the search page first.")
        check(form.settings, await context.call(context.client.live_settings))
        options = form.arguments() | {"include_sensitive": context.include_sensitive}
        result = await context.call(context.client.explain, form.q, ids=[id], **options)
        [explained] = result
        notice = result.notice
    except PgrecallError as error:
        problem = error
    return context.page("explain.html", problem=problem, form=form, explained=explained, notice=notice)
