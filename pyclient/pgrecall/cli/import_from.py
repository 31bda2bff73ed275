"""`pgrecall import-from`: memories of other programs, as often as wanted."""

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
    typer.Option(help="What external ids begin with, instead of the kind: for a second source of a kind."),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Read everything, say what would become of it, write nothing.")
]
RejectedFile = Annotated[
    Path | None, typer.Option("--rejected", help="Where to write what was rejected, as JSON Lines.")
]
Verify = Annotated[
    bool, typer.Option("--verify/--no-verify", help="Compare the source with the memories at the end.")
]
SkipDeleted = Annotated[
    bool,
    typer.Option(
        "--skip-deleted", help="Leave out what was deleted there, instead of storing it as forgotten."
    ),
]
ImportanceMax = Annotated[
    float, typer.Option(min=1e-6, help="The importance of the most important ones there, such as 10.")
]
SourceDsn = Annotated[
    str | None, typer.Option("--from", help="The source's database; default: the one of the memories.")
]
SameModel = Annotated[
    str | None,
    typer.Option(help="The model that made the embeddings: they are taken over, if it is the active one."),
]


class Users(StrEnum):
    """What becomes of the user_id of mem0."""

    namespace = "namespace"
    tag = "tag"
    metadata = "metadata"


@dataclass(frozen=True, slots=True)
class _To:
    """Where to, and how."""

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

    Columns that are no field of a memory go to its metadata. The file is only read.
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
    """Import an export of the older memory service: an object a line, with the fields of its table."""
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
    """Import the PostgreSQL table of the older memory service, where it stands.

    The table is only read. It may be in the same database, or in the one that --from names.
    """
    from pgrecall.contrib.importers.table import table_source

    to = _To(connection_string(dsn, data_dir), namespace, prefix, dry_run, rejected, verify, skip_deleted)
    _run(to, lambda dsn, _: table_source(source or dsn, name, most=importance_max))


@import_from.command()
def mem0(
    collection: Annotated[str, typer.Argument(help="The table of the collection.")] = "mem0",
    source: SourceDsn = None,
    users: Annotated[Users, typer.Option(help="What becomes of user_id.")] = Users.namespace,
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
    collection: Annotated[str, typer.Argument(help="The collection, or the table of the newer form.")],
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
    repository: Annotated[Path, typer.Argument(help="Its folder.")],
    revision: Annotated[str, typer.Option(help="The commit whose history is meant.")] = "HEAD",
    merges: Annotated[bool, typer.Option("--merges", help="Merge commits too.")] = False,
    namespace: Namespace = None,
    prefix: Prefix = None,
    dry_run: DryRun = False,
    rejected: RejectedFile = None,
    verify: Verify = True,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import the history of a git repository: a memory for each commit, and one for each note."""
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
    """Import a folder of Markdown: a memory for each section, with the headings above it as its title."""
    from pgrecall.contrib.importers.markdown import markdown_source

    to = _To(connection_string(dsn, data_dir), namespace, prefix, dry_run, rejected, verify)
    _run(to, lambda _, __: markdown_source(folder))


_Open = Callable[[str, int | None], "AbstractContextManager[Source]"]
"""Opens a source, told the connection string of the memories and the dimension of embeddings to take over."""


def _run(to: _To, opened: _Open, same_model: str | None = None) -> None:
    """Import, verify, and say what came of it.

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
            # Only the planner's statistics: a role that may not refresh them leaves that to autovacuum.
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
    """Return the active model's dimension if it is the one that is named; None if none is."""
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
    """Write what is rejected into a file, or print the first of it."""
    from pgrecall import PgrecallError

    try:
        # Line by line: whatever ends the run, what was found until then is there.
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
        note(f"and {number - _SHOWN} more: --rejected FILE has them all")


@contextmanager
def _progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show how many rows were dealt with, on a terminal."""
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
    for number, said in (
        (report.sensitive, "are sensitive"),
        (report.deleted, "were deleted there: forgotten here"),
        (report.left_out, "of those left out"),
        (report.kept, "have changed, but were forgotten or superseded here: they stay so"),
    ):
        if number:
            typer.echo(f"{number} {said}")
    if report.rejected:
        typer.echo(f"{report.rejected} rejected", err=True)


def _print_comparison(compared: "Verification") -> None:
    typer.echo(f"compared with the source: {compared.same} the same")
    if compared.changed_here:
        typer.echo(f"{compared.changed_here} changed here since")
    for number, said in ((compared.missing, "missing"), (compared.differing, "that differ")):
        if number:
            typer.echo(f"{number} {said}", err=True)
