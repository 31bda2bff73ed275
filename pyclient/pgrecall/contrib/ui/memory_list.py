"""The page that lists memories by namespace, session, speaker and so on, the newest first."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pgrecall.errors import PgrecallError
from pgrecall.filters import Filter

from .context import page_context
from .query_form import identity, moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.datastructures import QueryParams
    from starlette.requests import Request
    from starlette.responses import Response

    from pgrecall.models import StoredMemory

    from .context import PageContext

PAGE = 25
RECENT = 10
"""Memories that the search page shows before there is a question."""

LOOKED_AT, NAMED = 50, 5
"""Namespaces that are looked into, and that are named, where the one in force has no memory."""

FORGOTTEN, SUPERSEDED = "forgotten", "superseded"


@dataclass(frozen=True, slots=True)
class ListForm:
    """What an address asks to list, each part as it was written.

    Attributes:
        namespace: The namespace.
        session: Only this conversation or document.
        speaker: Only what this person said.
        category: Only this category.
        tag: Only with this tag.
        source: Only from this source.
        since: From this time on, ISO 8601.
        until: Before this time, ISO 8601.
        state: 'superseded' lists also what no longer holds, 'forgotten' what is forgotten instead.
        order: 'oldest' lists the oldest first.
        after: The id of the last memory of the page before.
    """

    namespace: str = ""
    session: str = ""
    speaker: str = ""
    category: str = ""
    tag: str = ""
    source: str = ""
    since: str = ""
    until: str = ""
    state: str = ""
    order: str = ""
    after: str = ""

    @classmethod
    def read(cls, given: QueryParams) -> ListForm:
        """Read the parameters of an address."""
        return cls(**{name: given.get(name, "").strip() for name in FIELDS})

    @property
    def is_filtered(self) -> bool:
        """True if there is more than a namespace and a place."""
        return any(getattr(self, name) for name in FIELDS if name not in {"namespace", "after"})

    def address(self, **changed: object) -> str:
        """Return a link of this site that lists the same but for what is changed."""
        given = {name: getattr(self, name) for name in FIELDS} | changed
        pairs = [(name, str(value)) for name, value in given.items() if value]
        return f"/memories?{urlencode(pairs)}" if pairs else "/memories"

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `Client.list`.

        Raises:
            InvalidInput: A time or `after` cannot be read.
        """
        return {
            "namespace": self.namespace or None,
            "filter": Filter(
                sessions=[self.session] if self.session else None,
                speakers=[self.speaker] if self.speaker else None,
                categories=[self.category] if self.category else None,
                tags_any=[self.tag] if self.tag else None,
                sources=[self.source] if self.source else None,
                since=moment(self.since, "since"),
                until=moment(self.until, "until"),
                include_superseded=True if self.state == SUPERSEDED else None,
            ),
            "forgotten": True if self.state == FORGOTTEN else None,
            "oldest_first": self.order == "oldest",
            "after": identity(self.after) if self.after else None,
        }


FIELDS = tuple(field.name for field in fields(ListForm))


async def filled_namespaces(context: PageContext) -> list[str]:
    """Return some namespaces that have memories, by name."""
    found: list[str] = []
    for one in (await context.namespaces())[:LOOKED_AT]:
        if len(found) < NAMED:
            memories = await context.call(context.client.list, k=1, namespace=one.name)
            found += [one.name] if memories else []
    return found


async def recent(context: PageContext, namespace: str) -> Sequence[StoredMemory]:
    """Return the newest memories of a namespace; '' is the default one."""
    return await context.call(
        context.client.list,
        k=RECENT,
        namespace=namespace or None,
        include_sensitive=context.include_sensitive,
    )


async def memories(request: Request) -> Response:
    """Show a page of memories."""
    context = page_context(request)
    form = ListForm.read(request.query_params)
    namespace, listed, problem = ("", True), [], None
    try:
        namespace = await context.call(context.client.namespace_in_force, form.namespace or None)
        listed = list(
            await context.call(
                context.client.list, k=PAGE, include_sensitive=context.include_sensitive, **form.arguments()
            )
        )
    except PgrecallError as error:
        problem = error
    return context.page(
        "memories.html",
        problem=problem,
        form=form,
        namespace=namespace,
        namespaces=await context.namespaces(),
        listed=listed,
        is_full=len(listed) == PAGE,
    )
