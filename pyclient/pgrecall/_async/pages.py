"""Pages for the asynchronous client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pgrecall.arguments import checked_arguments
from pgrecall.models import Page, PageInfo, PageLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgrecall.models import Section

    from .database import AsyncDatabase


class AsyncPages:
    """Standing answers of a namespace, which the daemon keeps up to date: `client.pages`."""

    def __init__(self, database: AsyncDatabase) -> None:
        self._database = database

    async def get(self, name: str, *, namespace: str | None = None) -> Page | None:
        """Return a page; None if there is none of that name. Recalls nothing, so it takes no time.

        Args:
            name: Its name, such as 'about-user'.
            namespace: The namespace; None is the client's.
        """
        arguments = checked_arguments(name=name, namespace=await self._database.namespace(namespace))
        rows = await self._database.rows("pgrecall.page", arguments)
        if not rows:
            return None
        [row] = rows
        return Page.of({**row, "name": name, "lines": tuple(PageLine.of(line) for line in row["lines"])})

    async def list(self, *, namespace: str | None = None) -> list[PageInfo]:
        """Return the pages of a namespace, by name.

        Args:
            namespace: The namespace; None is the client's.
        """
        arguments = checked_arguments(namespace=await self._database.namespace(namespace))
        return [PageInfo.of(row) for row in await self._database.rows("pgrecall.list_pages", arguments)]

    async def set(
        self,
        name: str,
        question: str | None = None,
        *,
        budget: int = 2000,
        unit: Literal["characters", "tokens"] = "characters",
        sections: Sequence[Section] | None = None,
        namespace: str | None = None,
    ) -> None:
        """Make a page, or change it, and fill it. The same call again fills it without a daemon.

        Args:
            name: 1 to 100 small letters, digits, - and _.
            question: What its lines are recalled for; None: the namespace as a whole.
            budget: The most that its lines have together, 50 to 100000.
            unit: What the budget counts; a token is taken to be three bytes.
            sections: Its sections, an earlier one first; None: all.
            namespace: The namespace; None is the client's.

        Raises:
            InvalidInput: A name, budget or section that no page has, or more than 32 pages.
            UnknownNamespace: There is no such namespace.
            PermissionDenied: The role may only read it.
        """
        arguments = checked_arguments(
            name=name,
            question=question,
            budget=budget,
            unit=unit,
            sections=None if sections is None else list(sections),
            namespace=await self._database.namespace(namespace),
        )
        await self._database.rows("pgrecall.set_page", arguments)

    async def set_defaults(self, *, namespace: str | None = None) -> None:
        """Give a namespace the pages 'about-user' and 'recent', unless it has them, and fill them.

        Args:
            namespace: The namespace; None is the client's.

        Raises:
            UnknownNamespace: There is no such namespace.
            PermissionDenied: The role may only read it.
        """
        arguments = checked_arguments(namespace=await self._database.namespace(namespace))
        await self._database.rows("pgrecall.set_default_pages", arguments)

    async def drop(self, name: str, *, namespace: str | None = None) -> bool:
        """Drop a page. The memories stay.

        Args:
            name: Its name.
            namespace: The namespace; None is the client's.

        Returns:
            Whether there was one.

        Raises:
            UnknownNamespace: There is no such namespace.
            PermissionDenied: The role may only read it.
        """
        arguments = checked_arguments(name=name, namespace=await self._database.namespace(namespace))
        return bool(await self._database.value("pgrecall.drop_page", arguments))
