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

from pgrecall.formatting import counted, sanitize_line

from .common import (
    AsJson,
    DataDir,
    Dsn,
    Namespace,
    connection_string,
    echo,
    is_dash,
    note,
    print_json,
    terminal,
)
from .import_run import rejections

if TYPE_CHECKING:
    from pgrecall.jsonl.load import ImportReport, Line

KINDS = (
    "sqlite", "jsonl", "table", "mem0", "langchain", "git", "markdown",
    "claude-code", "codex", "chatgpt", "claude",
)  # fmt: skip
"""The other programs that `pgrecall import` knows."""

_BEGINNING = 1024
_SQLITE = b"SQLite format 3\0"


class OnConflict(StrEnum):
    """What happens to a memory whose line has its id and differs."""

    keep = "keep"
    update = "update"


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
    delimiter: Annotated[
        str | None,
        typer.Option(help="What separates the cells of a table, or 'tab'; default: as its header shows."),
    ] = None,
    on_conflict: Annotated[
        OnConflict,
        typer.Option(
            help="For an id that is already there with other fields: keep that memory, or update it."
        ),
    ] = OnConflict.keep,
    keep_origins: Annotated[
        bool,
        typer.Option(
            "--keep-origins",
            help="Keep the origins that a file of yours states. Without it the origin is import, or less.",
        ),
    ] = False,
    rejected: Annotated[
        Path | None, typer.Option("--rejected", help="File for the rejected lines, as JSON Lines.")
    ] = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import a file: JSON Lines, a JSON array, CSV or TSV.

    Rows with an id, and lines of `pgrecall export`, are stored once, however often they are imported. Rows
    without one are stored again each time.

    Each line, element or row has content and optionally id, title, lang, category, tags, expanded_keywords,
    importance, metadata, source, session, speaker, position, occurred_at, created_at, valid_from, valid_to,
    expires_at, is_sensitive, origin. Other keys go to the metadata. Times without a zone are UTC. Missing
    namespaces are created. Lines of `pgrecall export` also have embedding and namespace, and are rejected if
    `--namespace` names another. A table has a header; its tags are separated by semicolons. The exit code
    is 1 if a line was rejected, or differs from the memory that is kept.
    """
    if not is_dash(file):
        _check(file)
    columns = dict(_column(given) for given in map_ or ())
    from pgrecall import Client, PermissionDenied
    from pgrecall.contrib.importers import Rejected
    from pgrecall.jsonl.load import import_jsonl

    with (
        Client(connection_string(dsn, data_dir), pool_max=1) as client,
        rejections(rejected) as reject,
        _opened(file, file_format, columns, delimiter) as (lines, progress, unit),
    ):
        client.open()
        report = import_jsonl(
            client,
            lines,
            namespace=namespace,
            namespace_field=namespace_field,
            detect_language=detect_language,
            on_conflict=on_conflict.value,
            keep_origins=keep_origins,
            progress=progress,
        )
        for rejection in () if as_json and rejected is None else report.rejected:
            reject(Rejected(f"{unit} {rejection.line}", rejection.reason))
        if report.stored:
            # A role without the privilege leaves the planner's statistics to autovacuum.
            with suppress(PermissionDenied):
                client.admin.analyze()
    if as_json:
        from dataclasses import asdict

        print_json(asdict(report))
    else:
        _print_report(report)
    if report.rejected or report.differing:
        raise typer.Exit(1)


@contextmanager
def _opened(
    file: Path, file_format: FileFormat | None, columns: dict[str, str], delimiter: str | None
) -> Iterator[tuple[Iterator["bytes | Line"], Callable[[int], None], str]]:
    """Open the file as lines, with a progress bar over its bytes, and what its lines are called."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    from pgrecall.files import open_regular
    from pgrecall.jsonl.encodings import as_utf8
    from pgrecall.jsonl.formats import array_lines, guess_format, table_lines
    from pgrecall.jsonl.lines import bounded_lines

    console = terminal(stderr=True)
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

    with bar, nullcontext(sys.stdin.buffer) if is_dash(file) else open_regular(file) as raw:
        buffered = as_utf8(BufferedReader(cast("RawIOBase", raw)))
        found = file_format or guess_format(file.name, buffered.peek(_BEGINNING)[:_BEGINNING])
        is_table = found in {"csv", "tsv"}
        if (columns or delimiter) and not is_table:
            raise typer.BadParameter(
                "only a table has columns: CSV or TSV", param_hint="--map" if columns else "--delimiter"
            )
        if found == "jsonl":
            yield bounded_lines(buffered), advance, "line"
            return
        converted = (
            table_lines(buffered, _separator(delimiter), columns, usual="," if found == "csv" else "\t")
            if is_table
            else array_lines(buffered)
        )
        with closing(converted) as lines:
            yield lines, advance, "line" if is_table else "element"


def _separator(given: str | None) -> str | None:
    from pgrecall.jsonl.formats import is_separator

    separator = {"tab": "\t", "\\t": "\t"}.get(given, given) if given is not None else None
    if separator is not None and not is_separator(separator):
        raise typer.BadParameter(f"{given!r} is not one character", param_hint="--delimiter")
    return separator


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
    where = f" in {counted(len(report.namespaces), 'namespace')}" if report.namespaces else ""
    echo(f"{counted(report.stored, 'memory')} stored{where}")
    if report.present:
        echo(f"{counted(report.present, 'line')} already there")
    if report.updated:
        echo(f"{counted(report.updated, 'memory')} updated")
    if report.differing:
        note(
            f"{counted(report.differing, 'line')} of them differ from the stored memory, which is unchanged: "
            "--on-conflict update replaces it, unless it was forgotten or superseded, or the line is of an "
            "export"
        )
    if report.records:
        echo(f"{counted(report.records, 'record')} of history, feedback and rules stored")
    if report.embedded:
        echo(f"{counted(report.embedded, 'embedding')} stored")
    if report.placed:
        lines = counted(report.placed, "line")
        note(f"{lines} without a position: placed in the order of the lines of their session")
    for model, number in report.left_out.items():
        skipped = f"{counted(number, 'embedding')} of {sanitize_line(model)} skipped"
        note(f"{skipped}: an embedder will recompute them")
    if report.rejected:
        echo(f"{counted(len(report.rejected), 'line')} rejected", err=True)
        if any(rejection.reason.startswith("not UTF-8") for rejection in report.rejected):
            from pgrecall.jsonl.encodings import NOT_UTF8

            note(NOT_UTF8)
    if report.without_id:
        note(f"{counted(report.without_id, 'line')} without an id: importing again stores duplicates")
