"""`pgrecall explain`: prints why a recall ranks memories as it does."""

from typing import TYPE_CHECKING, Annotated

import typer

from pgrecall.filters import Filter
from pgrecall.formatting import sanitize_line
from pgrecall.query.legs import BOOSTS, DESCRIBED

from .common import (
    AsJson,
    ByDaemon,
    DataDir,
    Dsn,
    EfSearch,
    Embed,
    ExpandBy,
    ExpandModel,
    HowMany,
    Namespaces,
    NamespaceWeights,
    Private,
    Settings,
    call_settings,
    connection_string,
    echo,
    embed_seconds,
    namespace_weights,
    note,
    print_json,
    print_notice,
    read_namespaces,
    who_embeds,
    who_expands,
)
from .filters import UNFILTERED, with_filters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pgrecall.models import Explanation

SHOWN = 80
"""Characters of a memory shown beside its score."""
_PARTS = ("share", "evidence", "lead", "contradiction", "base")
"""The order in which the parts of the confidence are told."""


@with_filters()
def explain(
    query: Annotated[str, typer.Argument(help="The question.")],
    id: Annotated[
        list[int] | None,
        typer.Option("--id", help="Explain this memory, whether returned or not; repeatable."),
    ] = None,
    k: HowMany = None,
    namespace: Namespaces = None,
    namespace_weight: NamespaceWeights = None,
    filters: Filter = UNFILTERED,
    embed: Embed = None,
    embed_by_daemon: ByDaemon = False,
    private: Private = False,
    setting: Settings = None,
    ef_search: EfSearch = None,
    expand: ExpandBy = None,
    expand_model: ExpandModel = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Explain why memories are ranked as they are, or why one is not returned.

    Without --id, explains the memories that the recall returns. Each has one line per leg: its rank, its
    score, the weight of the leg, and what that adds to the relevance. A line tells what speaks for and
    against its answering the question, as log odds.
    """
    settings = call_settings(setting)
    weights = namespace_weights(namespace_weight)
    expander = who_expands(expand, expand_model)
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        result = client.explain(
            query,
            ids=id,
            k=k,
            embed=who_embeds(embed, embed_by_daemon),
            embed_timeout=embed_seconds(),
            private=private,
            **read_namespaces(namespace),
            namespace_weights=weights,
            filter=filters,
            hnsw_ef_search=ef_search,
            settings=settings,
            expand=expander,
        )
    print_notice(result.notice)
    if as_json:
        print_json([explanation.as_dict() for explanation in result])
        return
    if not result:
        note("nothing found")
    for number, explanation in enumerate(result):
        if number:
            echo()
        for line in block(explanation):
            echo(line)


def block(explained: "Explanation") -> "Iterator[str]":
    """Yield the lines about one memory: place or reason, legs, factors, arithmetic."""
    if explained.place is None:
        yield f"memory {explained.id} is not returned: {sanitize_line(explained.reason or '')}"
    else:
        yield f"{explained.place}. memory {explained.id}, score {_number(explained.score)}"
    text = sanitize_line(": ".join(part for part in (explained.title, explained.content) if part))
    if text:
        yield f"   {text if len(text) <= SHOWN else f'{text[:SHOWN]}…'}"
    if explained.arithmetic is None:
        return
    if explained.place is None:
        verb = "its score is" if explained.is_candidate else "it would score"
        yield f"   {verb} {_number(explained.score)}"
    yield from _legs(explained)
    factors = (
        ("importance", explained.importance_factor),
        ("age", explained.decay_factor),
        ("named concept", explained.entity_factor),
        ("other speaker", explained.speaker_factor),
        ("newer", explained.newer_factor),
        ("trusted", explained.trust_factor),
        ("namespace", explained.namespace_weight),
    )
    shown = ", ".join(f"{name} {_number(factor)}" for name, factor in factors if factor not in (1, None))
    if shown:
        yield f"   {'times':<11}{shown}"
    if explained.mmr_penalty:
        yield f"   {'MMR':<11}subtracted {_number(explained.mmr_penalty)} for similarity to earlier results"
    if explained.duplicates:
        yield f"   {'hides':<11}{', '.join(map(str, explained.duplicates))}"
    yield from _confidence(explained)
    yield f"   {explained.arithmetic}"


def _legs(explained: "Explanation") -> "Iterator[str]":
    for leg, described in DESCRIBED.items():
        value = getattr(explained, described.score)
        rank, weight, part = (getattr(explained, f"{leg}_{column}") for column in ("rank", "weight", "part"))
        if not weight:
            yield f"   {leg:<11}not used"
            continue
        place = "-" if rank is None else f"rank {rank}"
        shown = "-" if value is None else f"{described.kind} {_number(value)}"
        if leg == "dense" and value is None:
            shown = "no embedding: scored as average" if part else "no embedding"
        yield f"   {leg:<11}{place:<10}{shown:<30}weight {weight:<7g}adds {_number(part)}"
        if leg == "dense" and explained.passage is not None:
            start, end = explained.passage
            text = sanitize_line((explained.content or "")[start:end])
            yield f"   {'':<21}passage {start} to {end}: {text if len(text) <= SHOWN else f'{text[:SHOWN]}…'}"
        if leg == "lexical" and explained.expansion_score is not None:
            terms = ", ".join(map(sanitize_line, explained.added_terms))
            yield f"   {'':<21}{_number(explained.expansion_score)} of the score from added terms: {terms}"
    for boost, name in BOOSTS.items():
        part = getattr(explained, f"{boost}_part")
        if part is not None and round(part, 8) != 0:
            yield f"   {name:<65}adds {_number(part)}"


def _confidence(explained: "Explanation") -> "Iterator[str]":
    if explained.confidence is None or explained.confidence_parts is None:
        return
    parts = {name: explained.confidence_parts[name] for name in _PARTS}
    sides = (
        ("for", [f"{name} {part:.2f}" for name, part in parts.items() if round(part, 2) > 0]),
        ("against", [f"{name} {-part:.2f}" for name, part in parts.items() if round(part, 2) < 0]),
    )
    said = "; ".join(f"{side}: {', '.join(found)}" for side, found in sides if found)
    yield f"   confidence {_number(explained.confidence)} ({said})"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"
