"""`pgrecall failures`: memories that could not be embedded, read or curated and are no longer retried."""

from typing import TYPE_CHECKING, Annotated

import typer

from pgrecall.formatting import counted, format_age, sanitize_line

from .common import AsJson, DataDir, Dsn, connection_string, note, print_json, print_result, terminal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pgrecall.models import Failure

failures = typer.Typer(invoke_without_command=True)
Cause = Annotated[str | None, typer.Option(help="Only failures with this cause.", show_default=False)]
Kind = Annotated[
    str | None,
    typer.Option(
        help="Only jobs of this kind: embedding, text, llm, notes, sparse, curation.", show_default=False
    ),
]


@failures.callback()
def show(
    context: typer.Context,
    cause: Cause = None,
    kind: Kind = None,
    k: Annotated[int, typer.Option("-k", "--k", min=1, help="Maximum number of failures.")] = 100,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Print the memories whose embedding, extraction or curation failed five times, or retry them.

    Prints id, kind, namespace, cause and the last error, never the content.
    """
    if context.invoked_subcommand is not None:
        return
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        found = client.admin.failures(cause, k=k, kind=kind)
    if as_json:
        print_json([failure.as_dict() for failure in found])
        return
    if not found:
        note("no failures")
        return
    _print_table(found)
    if len(found) == k:
        note(f"there may be more: -k {10 * k}")
    note("retry them with: pgrecall failures retry")


@failures.command()
def retry(
    cause: Cause = None,
    kind: Kind = None,
    id: Annotated[int | None, typer.Option("--id", help="Only this memory.", show_default=False)] = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Retry all failed memories, or some; embedders start immediately."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        freed = client.admin.retry_failures(cause, id=id, kind=kind)
    text = f"{counted(freed, 'memory')} will be retried"
    print_result({"retried": freed}, text, as_json=as_json)


def _print_table(found: "Iterable[Failure]") -> None:
    from datetime import UTC, datetime

    from rich import box
    from rich.table import Table
    from rich.text import Text

    now = datetime.now(UTC)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for heading in ("memory", "generation", "attempts", "ago"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("namespace", "cause", "kind"):
        table.add_column(heading, overflow="fold")
    table.add_column("error", overflow="fold", ratio=1)
    for failure in found:
        table.add_row(
            str(failure.memory_id),
            str(failure.generation or ""),
            str(failure.attempts),
            format_age(now - failure.failed_at),
            *(
                Text(sanitize_line(text))
                for text in (failure.namespace, failure.cause, failure.kind, failure.error)
            ),
        )
    terminal().print(table)
