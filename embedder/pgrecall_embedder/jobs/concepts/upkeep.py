"""What is done for concepts while no memory waits: names are embedded, and names of one thing joined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pgrecall_embedder.waiting import run_unless
from pgrecall_embedder.worker import Job, Step

if TYPE_CHECKING:
    from collections.abc import Callable

    from pgrecall_embedder.connection import Connection
    from pgrecall_embedder.jobs.setup import Setup

    from .asking import NameChoices
    from .vectors import Embed

__all__ = ["ConceptJob"]

_NAMES: Final = 64
_COMPARED: Final = 100


class ConceptJob(Job):
    """Keeps concepts.

    Args:
        connection: The connection for upkeep.
        embed: Embeds names; None: they are compared by their letters only.
        choices: Asks a language model about doubtful names.
        is_idle: Whether no memory waits.
        poll_seconds: How long to wait before looking again.
    """

    def __init__(
        self,
        connection: Connection,
        embed: Embed | None,
        choices: NameChoices,
        *,
        is_idle: Callable[[], bool],
        poll_seconds: float,
    ) -> None:
        super().__init__(poll_seconds)
        self._connection = connection
        self._embed = embed
        self._choices = choices
        self._is_idle = is_idle
        self._finishing = False
        self._hopeless: set[int] = set()

    def finish(self) -> None:
        """Return once nothing is left."""
        self._finishing = True
        self.wake()

    def change(self, setup: Setup) -> None:
        """Go on in another way, also where the language model was paused."""
        self._choices.change(setup)
        self.wake()

    async def run(self) -> None:
        """Work until stopped or, when draining, until nothing is left."""
        try:
            await super().run()
        finally:
            await self._choices.close()

    async def step(self) -> Step:
        """Embed, compare or ask about some names, unless a memory waits."""
        if self._is_idle() and await self._work():
            return Step.WORKED
        return Step.DONE if self._finishing else Step.IDLE

    async def _work(self) -> bool:
        """Do a little; return whether there was anything to do."""
        if self._embed is not None and await self._embed_names(self._embed):
            return True
        [(compared,)] = await self._connection.fetch("SELECT pgrecall.resolve_concepts(%s)", [_COMPARED])
        return int(compared) > 0 or bool(await run_unless(self.loop.stopping, self._choices.ask()))

    async def _embed_names(self, embed: Embed) -> bool:
        rows = await self._connection.fetch(
            "SELECT id, name FROM pgrecall.unembedded_concepts(%s)", [_NAMES + len(self._hopeless)]
        )
        waiting = [(int(number), str(name)) for number, name in rows if number not in self._hopeless]
        if not waiting:
            return False
        embedded = await embed([name for _, name in waiting])
        if embedded is None:
            return False
        done = [
            (number, vector, name)
            for (number, name), vector in zip(waiting, embedded.vectors, strict=True)
            if isinstance(vector, str)
        ]
        self._hopeless |= {number for number, _ in waiting} - {number for number, _, _ in done}
        columns = [list(column) for column in zip(*done, strict=True)] if done else [[], [], []]
        await self._connection.fetch(
            "SELECT pgrecall.embed_concepts(%s::bigint[], %s::text[], %s::text[], %s)",
            [*columns, embedded.generation],
        )
        return True
