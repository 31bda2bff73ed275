"""`pgrecall import FILE`: JSON Lines, JSON arrays and tables."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from difflib import get_close_matches
from enum import StrEnum
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from pgrecall.formatting import sanitize_line

from .common import AsJson, DataDir, Dsn, Namespace, connection_string, counted, is_dash, note, print_json

if TYPE_CHECKING:
    from pgrecall.jsonl.load import ImportReport

KINDS = ("sqlite", "jsonl", "table", "mem0", "langchain", "git", "markdown")
"""The other programs that `pgrecall import` knows."""

_BEGINNING = 1024
_SQLITE = b"SQLite format 3\0"


class FileFormat(StrEnum):
    """What a file to import holds."""

    jsonl = "jsonl"
    json = "json"
    csv = "csv"
    tsv = "tsv"


def import_file(
    file: Annotated[
        Path, typer.Argument(help="JSON Lines, a JSON array, CSV or TSV; - reads standard input.")
    ],
    file_format: Annotated[
        FileFormat | None,
        typer.Option(
            "--format",
            help="What the file holds; default: by its name and first character.",
            show_default=False,
        ),
    ] = None,
    map_: Annotated[
        list[str] | None,
        typer.Option("--map", help="COLUMN=FIELD: the field of a column of a table; repeatable."),
    ] = None,
    namespace: Namespace = None,
    namespace_field: Annotated[
        str | None, typer.Option(help="The key that names each line's namespace, such as conversation.")
    ] = None,
    detect_language: Annotated[
        bool, typer.Option("--detect-language", help="Detect the language of lines that name none.")
    ] = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import a file: JSON Lines, a JSON array, CSV or TSV. Importing the same memories again changes nothing.

    Each line, element or row has content and optionally id, title, lang, category, tags, expanded_keywords,
    importance, metadata, source, session, speaker, position, occurred_at, created_at, valid_from, valid_to,
    expires_at, is_sensitive. Other keys go to the metadata. Times without a zone are UTC. Missing namespaces
    are created. Lines of `pgrecall export` also have embedding and namespace. A table has a header; its tags
    are separated by semicolons.
    """
    if not is_dash(file):
        _check(file)
    columns = dict(_column(given) for given in map_ or ())
    from pgrecall import Client, PermissionDenied
    from pgrecall.jsonl.load import import_jsonl

    with (
        Client(connection_string(dsn, data_dir), pool_max=1) as client,
        _opened(file, file_format, columns) as (lines, progress),
    ):
        client.open()
        report = import_jsonl(
            client,
            lines,
            namespace=namespace,
            namespace_field=namespace_field,
            detect_language=detect_language,
            progress=progress,
        )
        if report.stored:
            # A role without the privilege leaves the planner's statistics to autovacuum.
            with suppress(PermissionDenied):
                client.admin.analyze()
    if as_json:
        from dataclasses import asdict

        print_json(asdict(report))
    else:
        _print_report(report)
    if report.rejected:
        raise typer.Exit(1)


@contextmanager
def _opened(
    file: Path, file_format: FileFormat | None, columns: dict[str, str]
) -> Iterator[tuple[Iterator[bytes], Callable[[int], None]]]:
    """Open the file as lines, with a progress bar over its bytes."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    from pgrecall.jsonl.formats import array_lines, guess_format, table_lines
    from pgrecall.jsonl.lines import open_lines

    console = Console(stderr=True)
    bar = Progress(
        TextColumn("importing"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    task = bar.add_task("import", total=file.stat().st_size if file.is_file() else None)

    def advance(size: int) -> None:
        bar.advance(task, size)

    with bar, nullcontext(sys.stdin.buffer) if is_dash(file) else open_lines(file) as raw:
        buffered = BufferedReader(cast("RawIOBase", raw))
        found = file_format or guess_format(file.name, buffered.peek(_BEGINNING)[:_BEGINNING])
        if columns and found not in {"csv", "tsv"}:
            raise typer.BadParameter("only a table has columns: CSV or TSV", param_hint="--map")
        if found == "jsonl":
            yield iter(buffered), advance
            return
        converted = (
            array_lines(buffered)
            if found == "json"
            else table_lines(buffered, "," if found == "csv" else "\t", columns)
        )
        with closing(converted) as lines:
            yield lines, advance


def _column(given: str) -> tuple[str, str]:
    column, equals, field = given.partition("=")
    if not (column and equals and field):
        raise typer.BadParameter(f"{given!r} is not COLUMN=FIELD", param_hint="--map")
    return column, field


def _check(file: Path) -> None:
    """Refuse what is no file to read, and name the command that reads it.

    Raises:
        typer.BadParameter: There is no such file, or another command imports it.
    """
    if file.is_dir():
        kind = "git" if (file / ".git").exists() else "markdown"
        raise typer.BadParameter(
            f"{file} is a folder: `pgrecall import {kind} {file}` imports it", param_hint="file"
        )
    if not file.exists():
        near = get_close_matches(str(file), KINDS, n=1)
        instead = f"; did you mean `pgrecall import {near[0]}`?" if near else ""
        raise typer.BadParameter(f"there is no file {file}{instead}", param_hint="file")
    if file.is_file():
        with file.open("rb") as opened:
            if opened.read(len(_SQLITE)) == _SQLITE:
                raise typer.BadParameter(
                    f"{file} is a SQLite file: `pgrecall import sqlite {file}` imports it", param_hint="file"
                )


def _print_report(report: "ImportReport") -> None:
    for rejection in report.rejected:
        typer.echo(f"line {rejection.line}: {rejection.reason}", err=True)
    where = f" in {counted(len(report.namespaces), 'namespace')}" if report.namespaces else ""
    typer.echo(f"{counted(report.stored, 'memory', 'memories')} stored{where}")
    if report.present:
        typer.echo(f"{counted(report.present, 'line')} already there")
    if report.differing:
        note(f"{counted(report.differing, 'line')} of them differ from the stored memory, which is unchanged")
    if report.embedded:
        typer.echo(f"{counted(report.embedded, 'embedding')} stored")
    if report.placed:
        lines = counted(report.placed, "line")
        note(f"{lines} without a position: placed in the order of the lines of their session")
    for model, number in report.left_out.items():
        skipped = f"{counted(number, 'embedding')} of {sanitize_line(model)} skipped"
        note(f"{skipped}: an embedder will recompute them")
    if report.rejected:
        typer.echo(f"{counted(len(report.rejected), 'line')} rejected", err=True)
    if report.without_id:
        note(f"{counted(report.without_id, 'line')} without an id: importing again stores duplicates")
