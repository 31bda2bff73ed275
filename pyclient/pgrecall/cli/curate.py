"""`pgrecall curate` and `pgrecall duplicates`: repeated, refined and outdated memories."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pgrecall.formatting import counted, sanitize_line
from pgrecall.installing import install_command

from .common import (
    AsJson,
    DataDir,
    Dsn,
    Namespace,
    connection_string,
    echo,
    moment,
    note,
    print_json,
    print_result,
    terminal,
)
from .filters import Since

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

curate = typer.Typer(invoke_without_command=True)

_SHOWN = 70


class Decider(StrEnum):
    """What makes the decisions."""

    RULES = "rules"
    LLM = "llm"


@curate.callback()
def run(
    context: typer.Context,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the decisions without writing anything.")
    ] = False,
    decider: Annotated[
        Decider, typer.Option(help="What decides: rules, or the language model of the settings llm_*.")
    ] = Decider.RULES,
    since: Since = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, help="Maximum number of memories, oldest first.")
    ] = 1000,
    namespace: Namespace = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Compare undecided memories with older ones of the same namespace.

    Repeated, refined and outdated memories are superseded, never deleted. `pgrecall curate undo` undoes a
    decision.
    """
    if context.invoked_subcommand is not None:
        return
    from pgrecall import Client

    after = moment("--since", since)
    target = connection_string(dsn, data_dir)
    with Client(target, namespace=namespace, pool_max=1) as client:
        if decider is Decider.LLM:
            rows = _by_model(
                target, client.curation.uncurated(since=after, max_memories=limit), dry_run=dry_run
            )
        elif dry_run:
            rows = [one.as_dict() for one in client.curation.preview(since=after, max_memories=limit)]
        else:
            numbers = [
                client.curation.curate(one)
                for one in client.curation.uncurated(since=after, max_memories=limit)
            ]
            done = {number for number in numbers if number is not None}
            # A daemon may decide at the same time: its numbers lie in between.
            log = client.curation.log(changes=False, k=2 * len(done) + 100) if done else []
            rows = [one.as_dict() for one in reversed(log) if one.id in done]
    if as_json:
        print_json(rows)
        return
    changes = [row for row in rows if row["decision"] != "ADD"]
    _print_table(changes, dry_run=dry_run)
    verb = "would be" if dry_run else "were"
    echo(f"{counted(len(rows), 'memory')}: {len(changes)} {verb} superseded or supersede another")
    if changes and not dry_run:
        note("undo one with: pgrecall curate undo NUMBER")


@curate.command()
def log(
    k: Annotated[int, typer.Option("-k", "--k", min=1, help="Maximum number of decisions.")] = 100,
    every: Annotated[bool, typer.Option("--all", help="Include decisions that changed nothing.")] = False,
    namespace: Namespace = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Print decisions, newest first."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), namespace=namespace, pool_max=1) as client:
        found = client.curation.log(changes=not every, k=k)
    rows = [one.as_dict() for one in found]
    if as_json:
        print_json(rows)
    elif rows:
        _print_table(rows, dry_run=False)
    else:
        note("no decisions")


@curate.command()
def undo(
    number: Annotated[int, typer.Argument(help="The number of the decision.")],
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Undo a decision: the memory is restored, and the pair is not decided about again."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        was_there = client.curation.undo(number)
    text = f"undone: {number}" if was_there else f"{number} was already undone"
    print_result({"number": number, "undone": was_there}, text, as_json=as_json)


def duplicates(
    similarity: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Minimum cosine similarity; default: the setting duplicate_similarity.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", min=1, help="Maximum number of memories to compare, newest first.")
    ] = 10_000,
    namespace: Namespace = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Print duplicates and near-duplicates in clusters. Writes nothing."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), namespace=namespace, pool_max=1) as client:
        found = client.curation.duplicates(similarity=similarity, max_memories=limit)
    if as_json:
        print_json([one.as_dict() for one in found])
        return
    cluster = None
    for one in found:
        if one.cluster != cluster:
            cluster = one.cluster
            echo(f"cluster {cluster}")
        near = "same text" if one.cosine is None else f"{one.cosine:.3f}"
        echo(f"  {one.memory_id}  {near}  {_truncate(one.content)}")
    if not found:
        note("no duplicates")


def _by_model(dsn: str | None, memories: "Sequence[int]", *, dry_run: bool) -> list[dict[str, object]]:
    from pgrecall.errors import PgrecallError

    try:
        from pgrecall.embedder import Decided, curate_by_model
    except ModuleNotFoundError as error:
        raise PgrecallError(
            f"no language model can be used here: no module {error.name}",
            hint=f"Run: {install_command('embedder', 'llm')}, or let a daemon curate.",
        ) from error

    rows: list[dict[str, object]] = []

    def report(decided: Decided) -> None:
        other = decided.decision.other
        rows.append(
            {
                "id": decided.number,
                "memory_id": decided.question.new.memory_id,
                "decision": decided.decision.decision,
                "other_id": None if other is None else other.memory_id,
                "content": decided.question.new.content,
                "other_content": None if other is None else other.content,
                "evidence": dict(decided.decision.evidence),
            }
        )

    curate_by_model(dsn, memories, dry_run=dry_run, report=report)
    return rows


def _print_table(rows: "Iterable[dict[str, object]]", *, dry_run: bool) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    if not dry_run:
        table.add_column("number", justify="right", no_wrap=True)
    for heading in ("decision", "memory", "older"):
        table.add_column(heading, justify="left" if heading == "decision" else "right", no_wrap=True)
    for heading in ("it says", "the older one says"):
        table.add_column(heading, overflow="fold", ratio=1)
    for row in rows:
        decision = f"{row['decision']} (undone)" if row.get("undone_at") else str(row["decision"])
        cells = [decision, str(row["memory_id"]), "" if row["other_id"] is None else str(row["other_id"])]
        texts = (Text(_truncate(row["content"])), Text(_truncate(row["other_content"])))
        table.add_row(*([] if dry_run else [str(row["id"])]), *cells, *texts)
    if table.row_count:
        terminal().print(table)


def _truncate(text: object) -> str:
    line = sanitize_line("" if text is None else str(text))
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
