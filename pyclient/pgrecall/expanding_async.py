"""How the client has a query expanded by a language model before it recalls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .asking_async import READ_ONLY, AsyncAsking
from .connecting import in_thread
from .errors import PgrecallError
from .expansion import Expanded, Expansion, ExpansionFailed, LlmExpander

if TYPE_CHECKING:
    from .expansion import Outcome
    from .options import Expand


class AsyncExpanding(AsyncAsking):
    """A session that can have queries expanded."""

    async def _expanded(
        self, query: str, expand: Expand, namespace: str | None, *, is_private: bool
    ) -> Expanded:
        """Have a query expanded as the caller wants it; never fail for it."""
        if not isinstance(expand, LlmExpander):
            return Expanded(expand)
        home = await self._namespace(namespace)
        found = await self._by_model(query, expand, home, is_private=is_private)
        if self._metrics is not None and found.outcome is not None:
            self._metrics.expanded(found.outcome)
        return found

    async def _by_model(
        self, query: str, expander: LlmExpander, namespace: str | None, *, is_private: bool
    ) -> Expanded:
        """Look for what is known of a query, else ask a language model and keep what it says.

        No connection is held while it is asked. Whatever goes wrong, the query is recalled as it is.
        """
        if is_private:
            return _as_it_is("a private query is not sent to a language model", "private")
        asked = {"query": query} if namespace is None else {"query": query, "namespace": namespace}
        try:
            async with self._connection() as connection:
                is_read_only = any(connection.info.parameter_status(name) == "on" for name in READ_ONLY)
                [known] = await self._called(connection, "pgrecall.prepare_expansion", asked)
            if not known["is_expandable"]:
                return Expanded("off", "not_expandable")
            if known["terms"] is not None:
                kept = Expansion(tuple(known["terms"]), tuple(known["entities"]), known["intent"])
                return Expanded("llm", "cached", kept)
            if is_read_only:
                return _as_it_is("a read-only server keeps no expansion", "read_only")
            said = await in_thread(expander.expand, query, known["language"])
            async with self._connection() as connection:
                await self._called(
                    connection,
                    "pgrecall.cache_expansion",
                    {
                        **asked,
                        "terms": list(said.terms),
                        "entities": list(said.entities),
                        **({} if said.intent is None else {"intent": said.intent}),
                    },
                )
        except ExpansionFailed as error:
            return _as_it_is(error.message, error.outcome)
        except PgrecallError as error:
            # Whatever it was, the recall itself may do without: if not, it says so.
            return _as_it_is(error.message, "not_kept")
        return Expanded("llm", "asked", said)


def _as_it_is(reason: str, outcome: Outcome) -> Expanded:
    return Expanded("off", outcome, notice=f"{reason}: the query is not expanded")
