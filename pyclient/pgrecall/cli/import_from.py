"""`pgrecall import-from`: repeatable imports from other programs."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgrecall.formatting import sanitize

from .common import DataDir, Dsn, Namespace, connection_string, note

if TYPE_CHECKING:
    from pgrecall import Client
    from pgrecall.contrib.importers import ImportFromReport, Rejected, Source, Verification

import_from = typer.Typer(no_args_is_help=True)

_SHOWN = 20

Prefix = Annotated[
    str | None,
    typer.Option(
        help="Prefix of external ids; default: the kind of source. For a second source of one kind."
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Read everything and print what would happen, without writing.")
]
RejectedFile = Annotated[
    Path | None, typer.Option("--rejected", help="File for the rejected rows, as JSON Lines.")
]
Verify = Annotated[
    bool, typer.Option("--verify/--no-verify", help="Compare the source with the memories afterwards.")
]
SkipDeleted = Annotated[
    bool,
    typer.Option(
        "--skip-deleted", help="Skip rows deleted in the source, instead of storing them as forgotten."
    ),
]
ImportanceMax = Annotated[
    float, typer.Option(min=1e-6, help="The highest importance in the source, such as 10.")
]
SourceDsn = Annotated[
    str | None,
    typer.Option("--from", help="Connection string of the source; default: the database of the memories."),
]
SameModel = Annotated[
    str | None,
    typer.Option(
        help="The model of the embeddings in the source; they are imported if it is the active model."
    ),
]


class Users(StrEnum):
    """What the user_id of mem0 is mapped to."""

    namespace = "namespace"
    tag = "tag"
    metadata = "metadata"


@dataclass(frozen=True, slots=True)
class _To:
    """The target, and options common to all sources."""

    dsn: str | None
    namespace: str | None
    prefix: str | None
    dry_run: bool
    rejected: Path | None
    verify: bool
    skip_deleted: bool = False


@import_from.command()
def sqlite(
    file: Annotated[Path, typer.Argument(help="The SQLite file.")],
    table: Annotated[str, typer.Option(help="The table of memories.")] = "memories",
    importance_max: ImportanceMax = 1.0,
    skip_deleted: SkipDeleted = False,
    namespace: Namespace = None,
    prefix: Prefix = None,
    dry_run: DryRun = False,
    rejected: RejectedFile = None,
    verify: Verify = True,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import the SQLite file of the older memory service.

    Columns that are not fields of a memory go to its metadata. The file is not changed.
    """
    from pgrecall.contrib.importers.sqlite import sqlite_source

    to = _To(connection_string(dsn, data_dir), namespace, prefix, dry_run, rejected, verify, skip_deleted)
    _run(to, lambda _, __: sqlite_source(file, table=table, most=importance_max))


@import_from.command()
def jsonl(
    file: Annotated[Path, typer.Argument(help="JSON Lines.")],
    importance_max: ImportanceMax = 1.0,
    skip_deleted: SkipDeleted = False,
    namespace: Namespace = None,
    prefix: Prefix = None,
    dry_run: DryRun = False,
    rejected: RejectedFile = None,
    verify: Verify = True,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import an export of the older memory service: one object per line, with the fields of its table."""
    from pgrecall.contrib.importers.jsonl import jsonl_source

    to = _To(connection_string(dsn, data_dir), namespace, prefix, dry_run, rejected, verify, skip_deleted)
    _run(to, lambda _, __: jsonl_source(file, most=importance_max))


@import_from.command()
def table(
    name: Annotated[str, typer.Argument(help="The table, such as public.memories.")],
    source: SourceDsn = None,
    importance_max: ImportanceMax = 1.0,
    skip_deleted: SkipDeleted = False,
    namespace: Namespace = None,
    prefix: Prefix = None,
    dry_run: DryRun = False,
    rejected: RejectedFile = None,
    verify: Verify = True,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import the PostgreSQL table of the older memory service.

    The table is not changed. It may be in the same database, or in the one named by --from.
    """
    from pgrecall.contrib.importers.table import table_source

    to = _To(connection_string(dsn, data_dir), namespace, prefix, dry_run, rejected, verify, skip_deleted)
    _run(to, lambda dsn, _: table_source(source or dsn, name, most=importance_max))


@import_from.command()
def mem0(
    collection: Annotated[str, typer.Argument(help="The table of the collection.")] = "mem0",
    source: SourceDsn = None,
    users: Annotated[Users, typer.Option(help="What user_id is mapped to.")] = Users.namespace,
    same_model: SameModel = None,
    namespace: Namespace = None,
    prefix: Prefix = None,
    dry_run: DryRun = False,
    rejected: RejectedFile = None,
    verify: Verify = True,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import a collection of mem0 in pgvector."""
    from pgrecall.contrib.importers.mem0 import mem0_source

    to = _To(connection_string(dsn, data_dir), namespace, prefix, dry_run, rejected, verify)
    _run(
        to,
        lambda dsn, dimension: mem0_source(source or dsn, collection, users=users.value, dimension=dimension),
        same_model,
    )


@import_from.command()
def langchain(
    collection: Annotated[str, typer.Argument(help="The collection, or the table of PGVectorStore.")],
    source: SourceDsn = None,
    same_model: SameModel = None,
    namespace: Namespace = None,
    prefix: Prefix = None,
    dry_run: DryRun = False,
    rejected: RejectedFile = None,
    verify: Verify = True,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import a collection of langchain-postgres: of PGVector, or of PGVectorStore."""
    from pgrecall.contrib.importers.langchain import langchain_source

    to = _To(connection_string(dsn, data_dir), namespace, prefix, dry_run, rejected, verify)
    _run(
        to,
        lambda dsn, dimension: langchain_source(source or dsn, collection, dimension=dimension),
        same_model,
    )


@import_from.command()
def git(
    repository: Annotated[Path, typer.Argument(help="Path of the repository.")],
    revision: Annotated[str, typer.Option(help="The commit whose history is imported.")] = "HEAD",
    merges: Annotated[bool, typer.Option("--merges", help="Include merge commits.")] = False,
    namespace: Namespace = None,
    prefix: Prefix = None,
    dry_run: DryRun = False,
    rejected: RejectedFile = None,
    verify: Verify = True,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import the history of a git repository: one memory per commit and per note."""
    from pgrecall.contrib.importers.git import git_source

    to = _To(connection_string(dsn, data_dir), namespace, prefix, dry_run, rejected, verify)
    _run(to, lambda _, __: git_source(repository, revision=revision, merges=merges))


@import_from.command()
def markdown(
    folder: Annotated[Path, typer.Argument(help="The folder, or one file.")],
    namespace: Namespace = None,
    prefix: Prefix = None,
    dry_run: DryRun = False,
    rejected: RejectedFile = None,
    verify: Verify = True,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import a folder of Markdown: one memory per section, with the headings above it as its title."""
    from pgrecall.contrib.importers.markdown import markdown_source

    to = _To(connection_string(dsn, data_dir), namespace, prefix, dry_run, rejected, verify)
    _run(to, lambda _, __: markdown_source(folder))


_Open = Callable[[str, int | None], "AbstractContextManager[Source]"]
"""Opens a source, given the connection string of the memories and the dimension of embeddings to import."""


def _run(to: _To, opened: _Open, same_model: str | None = None) -> None:
    """Import, verify and print the report.

    Raises:
        typer.Exit: 1 if a row was rejected, is missing or differs.
    """
    from pgrecall import Client, PermissionDenied
    from pgrecall.contrib import importers

    with (
        Client(to.dsn, pool_max=1) as client,
        _rejections(to.rejected) as reject,
        opened(client.open().dsn, _dimension(client, same_model)) as source,
    ):
        for sentence in source.found:
            note(sanitize(sentence))
        with _progress("importing", source.total) as advance:
            report = importers.import_from(
                client,
                source,
                reject=reject,
                namespace=to.namespace,
                prefix=to.prefix,
                keep_deleted=not to.skip_deleted,
                dry_run=to.dry_run,
                progress=advance,
            )
        if report.stored and not to.dry_run:
            # A role without the privilege leaves the planner's statistics to autovacuum.
            with suppress(PermissionDenied):
                client.admin.analyze()
        compared = None
        if to.verify and not to.dry_run:
            with _progress("comparing", source.total) as advance:
                compared = importers.verify(
                    client,
                    source,
                    report,
                    found=reject,
                    namespace=to.namespace,
                    prefix=to.prefix,
                    keep_deleted=not to.skip_deleted,
                    progress=advance,
                )
    _print_report(report, dry_run=to.dry_run)
    if compared is not None:
        _print_comparison(compared)
    if report.rejected or (compared is not None and not compared.holds):
        raise typer.Exit(1)


def _dimension(client: "Client", same_model: str | None) -> int | None:
    """Return the dimension of the active model, which must be `same_model`; None if that is None."""
    from pgrecall import InvalidInput

    if same_model is None:
        return None
    active = client.active_model()
    if active is None or active.name != same_model:
        raise InvalidInput(
            f"the active model is {'none' if active is None else active.name}, not {same_model}",
            hint="Leave --same-model out: an embedder computes the embeddings again.",
        )
    return active.dimension


@contextmanager
def _rejections(file: Path | None) -> Iterator[Callable[["Rejected"], None]]:
    """Write rejected rows to a file, or print the first ones."""
    from pgrecall import PgrecallError

    try:
        # Line-buffered: an interrupted run keeps the rows rejected so far.
        opened = nullcontext() if file is None else file.open("w", encoding="utf-8", buffering=1)
    except OSError as error:
        raise PgrecallError(
            f"cannot write {file}: {error.strerror}", hint="Check the path and its permissions."
        ) from error
    number = 0
    with opened as out:

        def reject(row: "Rejected") -> None:
            nonlocal number
            number += 1
            if out is not None:
                out.write(json.dumps({"place": row.place, "reason": row.reason}) + "\n")
            elif number <= _SHOWN:
                typer.echo(sanitize(f"{row.place}: {row.reason}"), err=True)

        yield reject
    if file is None and number > _SHOWN:
        note(f"and {number - _SHOWN} more: --rejected FILE writes them all")


@contextmanager
def _progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show the number of processed rows, on a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    bar = Progress(
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    task = bar.add_task(what, total=total)
    with bar:
        yield lambda rows: bar.advance(task, rows)


def _print_report(report: "ImportFromReport", *, dry_run: bool) -> None:
    would = " would be" if dry_run else ""
    typer.echo(
        f"{report.rows} rows: {report.stored}{would} stored, {report.updated}{would} updated, "
        f"{report.present} already there"
    )
    for number, label in (
        (report.sensitive, "are sensitive"),
        (report.deleted, "were deleted in the source: stored as forgotten"),
        (report.left_out, "of those skipped"),
        (report.kept, "have changed, but were forgotten or superseded here: not updated"),
    ):
        if number:
            typer.echo(f"{number} {label}")
    if report.rejected:
        typer.echo(f"{report.rejected} rejected", err=True)


def _print_comparison(compared: "Verification") -> None:
    typer.echo(f"compared with the source: {compared.same} the same")
    if compared.changed_here:
        typer.echo(f"{compared.changed_here} changed here since")
    for number, label in ((compared.missing, "missing"), (compared.differing, "differ")):
        if number:
            typer.echo(f"{number} {label}", err=True)
