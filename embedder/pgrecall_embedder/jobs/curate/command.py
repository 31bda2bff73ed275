"""Curation by a language model on demand, from the command line, with the caller's rights."""

from __future__ import annotations

import asyncio
import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from pgrecall import AsyncClient
from pgrecall.errors import PgrecallError
from pgrecall.installing import install_command
from pgrecall_embedder.jobs.asking.llm_access import client_for
from pgrecall_embedder.jobs.setup import Setup

from .curator import curator_version
from .decision import decide, question_from

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pgrecall.models import CurationDecision
    from pgrecall_embedder.llm import LlmClient

    from .decision import Decision, Question

__all__ = ["Decided", "curate_by_model"]

_COLUMNS = ("id", "content", "anchor", "content_hash", "cosine")


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided about one memory.

    Attributes:
        question: The memory and the older ones near it.
        decision: The decision.
        number: Of the decision that was done; None if nothing was.
    """

    question: Question
    decision: Decision
    number: int | None


def curate_by_model(
    dsn: str | None, memories: Sequence[int], *, dry_run: bool, report: Callable[[Decided], None]
) -> None:
    """Have the language model of the settings decide about memories, and do what it says.

    Args:
        dsn: Connection string of the database; None takes the configured one.
        memories: Their ids, oldest first.
        dry_run: Only say what would be done.
        report: Called with each decision.

    Raises:
        PgrecallError: No language model is set up, it cannot be asked, or a memory may only be read.
    """
    if any(importlib.util.find_spec(name) is None for name in ("httpx", "tenacity")):
        raise PgrecallError(
            "a language model needs httpx and tenacity", hint=f"Run: {install_command('llm')}."
        )
    asyncio.run(_curate(dsn, memories, dry_run, report))


async def _curate(
    dsn: str | None, memories: Sequence[int], dry_run: bool, report: Callable[[Decided], None]
) -> None:
    async with AsyncClient(dsn, pool_max=1) as database:
        settings = {setting.name: setting.value or "" for setting in await database.admin.settings_in_force()}
        async with client_for(Setup("", settings, ())) as client:
            for memory in memories:
                rows = await database.curation.question(memory)
                question = question_from([tuple(row[name] for name in _COLUMNS) for row in rows])
                if question is not None:
                    decision = await decide(client, question)
                    number = None if dry_run else await _applied(database, client, question, decision)
                    report(Decided(question, decision, number))


async def _applied(
    database: AsyncClient, client: LlmClient, question: Question, decided: Decision
) -> int | None:
    other = decided.other
    return await database.curation.apply(
        question.new.memory_id,
        None if other is None else other.memory_id,
        cast("CurationDecision", decided.decision),
        decider=curator_version(client.model),
        evidence=decided.evidence,
        memory_hash=question.new.content_hash,
        other_hash=None if other is None else other.content_hash,
    )
