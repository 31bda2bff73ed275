"""`pgrecall recall` and `pgrecall timeline`."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgrecall.filters import Filter
from pgrecall.formatting import format_age, origin_mark, sanitize_line
from pgrecall.query.legs import LEGS, ranks_of

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
    terminal,
    who_embeds,
    who_expands,
)
from .elsewhere import note_elsewhere
from .filters import UNFILTERED, with_filters

if TYPE_CHECKING:
    from rich.table import Table

    from pgrecall.models import RecalledMemory, RecallResult
    from pgrecall.query.reranking import Reranker

SHOWN = 240
"""Characters of a memory that the table shows without --full."""

RERANK_KEY = "PGRECALL_RERANK_API_KEY"


@with_filters()
def recall(
    query: Annotated[str, typer.Argument(help="The question.")],
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
    rerank: Annotated[
        str | None,
        typer.Option(help="Rerank with a local cross-encoder (name or folder) or a server (http…)."),
    ] = None,
    rerank_model: Annotated[
        str | None,
        typer.Option(
            help=f"Name of the model, for servers with Cohere's or Jina's API; API key: {RERANK_KEY}."
        ),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Print long memories in full.")] = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Find the memories most relevant to a question.

    The table shows score, rank in each leg, cosine similarity, age and content.
    """
    settings = call_settings(setting)
    weights = namespace_weights(namespace_weight)
    expander = who_expands(expand, expand_model)
    reranker = _reranker(rerank, rerank_model)
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        result = client.recall(
            query,
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
            rerank=reranker,
        )
        if not result:
            note_elsewhere(client, namespace)
    print_recalled(result, full=full, as_json=as_json)


@with_filters()
def timeline(
    topic: Annotated[str, typer.Argument(help="The topic.")],
    k: Annotated[int, typer.Option("-k", "--k", min=1, max=1000, help="How many memories at most.")] = 20,
    namespace: Namespaces = None,
    filters: Filter = UNFILTERED,
    embed: Embed = None,
    embed_by_daemon: ByDaemon = False,
    private: Private = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Find the memories most relevant to a topic, in chronological order."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        result = client.timeline(
            topic,
            k=k,
            embed=who_embeds(embed, embed_by_daemon),
            embed_timeout=embed_seconds(),
            private=private,
            **read_namespaces(namespace),
            filter=filters,
        )
    print_notice(result.notice)
    if as_json:
        print_json([memory.as_dict() for memory in result])
        return
    if not result:
        note("nothing found")
    for memory in result:
        if memory.is_new_session and memory.session is not None:
            echo(f"--- {sanitize_line(memory.session)}")
        gap = "" if memory.gap is None else f" (+{format_age(memory.gap)})"
        said_by = "" if memory.speaker is None else f"{sanitize_line(memory.speaker)}: "
        text = f"{origin_mark(memory.origin)}{said_by}{sanitize_line(memory.content)}"
        echo(f"{memory.happened_at:%Y-%m-%d %H:%M}{gap}  {text}")


def print_recalled(result: "RecallResult", *, full: bool, as_json: bool) -> None:
    """Print the result of a recall, with its notice.

    Args:
        result: The result of `recall`.
        full: Whether to print long memories in full.
        as_json: Whether to print a list of objects instead of a table.
    """
    print_notice(result.notice)
    if as_json:
        print_json([memory.as_dict() for memory in result])
        return

    if not result:
        note("nothing found")
        return
    terminal().print(recall_table(result, full=full))


def recall_table(result: "RecallResult", now: datetime | None = None, *, full: bool = False) -> "Table":
    """Return a result as a table: rank, score, rank in each leg, similarity, age, content.

    Args:
        result: The result of `recall`.
        now: The time that ages are relative to; None is the present.
        full: Whether to show long memories in full.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for heading in ("#", "score", *LEGS, "sim", "age"):
        table.add_column(heading, justify="right", no_wrap=True)
    reranked = any(memory.rerank_score is not None for memory in result)
    if reranked:
        table.add_column("rerank", justify="right", no_wrap=True)
    several = len({memory.namespace_name for memory in result}) > 1
    if several:
        table.add_column("namespace", overflow="fold")
    table.add_column("content", overflow="fold", ratio=1)
    present = datetime.now(UTC) if now is None else now
    for place, memory in enumerate(result, 1):
        content = f"{origin_mark(memory.origin)}{sanitize_line(memory.content)}"
        table.add_row(
            str(place),
            f"{memory.score:.4f}",
            *("-" if rank is None else str(rank) for rank in ranks_of(memory).values()),
            "-" if memory.similarity is None else f"{memory.similarity:.3f}",
            format_age(present - _when(memory)),
            *(["-" if memory.rerank_score is None else f"{memory.rerank_score:.4f}"] if reranked else []),
            *([Text(sanitize_line(memory.namespace_name or ""))] if several else []),
            Text(content if full or len(content) <= SHOWN else f"{content[:SHOWN]}…"),
        )
    return table


def _when(memory: "RecalledMemory") -> datetime:
    return memory.created_at if memory.occurred_at is None else memory.occurred_at


def _reranker(address: str | None, model: str | None) -> "Reranker | None":
    """Create the reranker of --rerank; a local model is loaded before its timeout starts."""
    if address is None:
        return None
    from pgrecall.query.reranking import CrossEncoderReranker, HttpReranker

    # A URL is never looked up as a model: model names appear in errors and are sent to a hub.
    if "://" in address or ("@" in address and not Path(address).exists()):
        return HttpReranker(address, model, api_key_env=RERANK_KEY if os.environ.get(RERANK_KEY) else None)
    local = CrossEncoderReranker(address, download=True)
    local.load()
    return local
