"""What was read of a memory, as pgrecall.complete_extractions() takes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pgrecall_embedder.llm.labels import canonical_fact, is_functional
from pgrecall_extract.base import Mention

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgrecall_extract.base import Extraction, Fact, TemporalReference

__all__ = ["encode", "encode_facts"]


def encode(read: Extraction, *, with_times: bool) -> str:
    """Return what was read as a JSON object, all but the memory's id and ticket.

    Args:
        read: Names, times and facts.
        with_times: False: times were not looked for, those that are stored stay.
    """
    item: dict[str, Any] = {"mentions": [_mention(mention) for mention in read.mentions]}
    if with_times:
        item["times"] = [_time(reference) for reference in read.times]
    item["facts"] = [_fact(fact) for fact in read.facts]
    return _text(item)


def encode_facts(facts: Sequence[Fact]) -> str:
    """Return facts as `encode` does, with the names that they are of.

    Args:
        facts: The facts of one memory.
    """
    ends = [
        (name, type, fact.confidence)
        for fact in facts
        for name, type in ((fact.subject, fact.subject_type), (fact.object, fact.object_type))
    ]
    mentions = [Mention(name, type, None, None, confidence, "llm") for name, type, confidence in ends]
    return _text({"mentions": [_mention(one) for one in mentions], "facts": [_fact(fact) for fact in facts]})


def _text(item: dict[str, Any]) -> str:
    return json.dumps(item, separators=(",", ":"))


def _mention(mention: Mention) -> dict[str, Any]:
    return {
        "name": mention.name,
        "type": mention.type,
        "start": mention.start,
        "end": mention.end,
        "confidence": mention.confidence,
        "source": mention.source,
        "is_about": mention.is_about,
    }


def _time(reference: TemporalReference) -> dict[str, Any]:
    return {
        "start": reference.start,
        "end": reference.end,
        "from_at": reference.from_at.isoformat(),
        "to_at": reference.to_at.isoformat(),
        "granularity": reference.granularity,
        "confidence": reference.confidence,
        "source": reference.source,
    }


def _fact(stated: Fact) -> dict[str, Any]:
    fact = canonical_fact(stated)
    return {
        "subject": fact.subject,
        "label": fact.label,
        "object": fact.object,
        "confidence": fact.confidence,
        "source": fact.source,
        "statement": fact.statement,
        "valid_from": None if fact.valid_from is None else fact.valid_from.isoformat(),
        "valid_to": None if fact.valid_to is None else fact.valid_to.isoformat(),
        "is_exclusive": is_functional(fact.label, fact.subject_type) and not fact.is_past,
    }
