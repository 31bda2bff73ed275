"""One label for what a namespace's relationships call by several, beyond what rules know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pgrecall_embedder.jobs.concepts.vectors import cosines
from pgrecall_embedder.llm.labels import Verdict, canonical, choose_label, decide

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pgrecall_embedder.jobs.concepts.vectors import Embed
    from pgrecall_embedder.llm import Cache, LlmClient

    from .queue import ExtractionQueue

__all__ = ["Labels"]

# Cosines of the default model, all-MiniLM-L6-v2, between labels of two or three words: from SAME on they
# differ in grammar only, below ASK they say different things.
SAME: Final = 0.93
ASK: Final = 0.75
_MOST_KNOWN: Final = 1000


class Labels:
    """Decides which labels mean the same.

    Args:
        queue: Where labels and decisions are.
        embed: Embeds labels; None: only rules decide.
    """

    def __init__(self, queue: ExtractionQueue, embed: Embed | None) -> None:
        self._queue = queue
        self._embed = embed
        self._decided: set[tuple[int, str]] = set()
        self._vectors: dict[str, str | None] = {}
        self._generation: int | None = None

    async def settle(
        self, client: LlmClient, cache: Cache | None, namespace_id: int, stated: Iterable[str]
    ) -> None:
        """Decide on the labels that some facts state, before these are stored.

        Args:
            client: Asked where similarity does not tell.
            cache: Where its answers are kept.
            namespace_id: Whose facts they are.
            stated: Their labels.

        Raises:
            LlmMisconfigured: The server will not answer before something is set right.
            LlmUnavailable: It cannot be asked now.
        """
        if self._embed is None:
            return
        wanted = {canonical(label).label for label in stated}
        new = sorted(label for label in wanted if (namespace_id, label) not in self._decided)
        if not new:
            return
        known = dict.fromkeys((await self._queue.resolved_labels(namespace_id))[:_MOST_KNOWN])
        for label in new:
            if label not in known and await self._queue.label_for(namespace_id, label) == label:
                await self._decide(client, cache, namespace_id, label, list(known))
                known[await self._queue.label_for(namespace_id, label)] = None
            self._decided.add((namespace_id, label))

    async def _decide(
        self, client: LlmClient, cache: Cache | None, namespace_id: int, label: str, known: Sequence[str]
    ) -> None:
        similar = await self._similar(label, known)
        decision = decide(label, similar, ASK, SAME)
        match, method = decision.match, "embedding"
        if decision.verdict is Verdict.ASK:
            match, method = await choose_label(client, label, decision.candidates, cache=cache), "llm"
        if match is None:
            await self._queue.set_label(namespace_id, label, label, method, None)
        else:
            await self._queue.set_label(namespace_id, label, match, method, dict(similar).get(match))

    async def _similar(self, label: str, known: Sequence[str]) -> list[tuple[str, float]]:
        """Return the known labels with their cosine to a label; none without vectors."""
        missing = [one for one in (label, *known) if one not in self._vectors]
        if missing and self._embed is not None:
            found = await self._embed(missing)
            if found is None:
                return []
            if found.generation != self._generation:
                # Vectors of two models cannot be compared.
                self._generation = found.generation
                if self._vectors:
                    self._vectors = {}
                    return await self._similar(label, known)
            for one, made in zip(missing, found.vectors, strict=True):
                self._vectors[one] = made if isinstance(made, str) else None
        own = self._vectors.get(label)
        others = [(one, vector) for one in known if (vector := self._vectors.get(one)) is not None]
        if own is None or not others:
            return []
        return list(
            zip((one for one, _ in others), cosines(own, [vector for _, vector in others]), strict=True)
        )
