"""`pgrecall remember`, `pgrecall import` and `pgrecall export`."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from enum import StrEnum
from io import BufferedReader, RawIOBase
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, cast

import typer

from pgrecall.formatting import sanitize

from .common import DataDir, Dsn, Namespace, connection_string, json_object, moment, note

if TYPE_CHECKING:
    from pgrecall.jsonl.load import ImportReport

_BEGINNING = 1024


class FileFormat(StrEnum):
    """What a file to import holds."""

    jsonl = "jsonl"
    json = "json"
    csv = "csv"
    tsv = "tsv"


class OnConflict(StrEnum):
    """What happens when the external id already exists."""

    error = "error"
    keep = "keep"
    update = "update"


def remember(
    content: Annotated[str, typer.Argument(help="The text; - reads standard input.")],
    title: Annotated[str | None, typer.Option(help="A short name.")] = None,
    category: Annotated[str | None, typer.Option(help="One word for its kind.")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A tag; repeatable.")] = None,
    keyword: Annotated[
        list[str] | None, typer.Option(help="An additional keyword to find it by; repeatable.")
    ] = None,
    importance: Annotated[float | None, typer.Option(help="0 to 1.")] = None,
    metadata: Annotated[str | None, typer.Option(help="A JSON object.")] = None,
    source: Annotated[str | None, typer.Option(help="Where it comes from.")] = None,
    session: Annotated[str | None, typer.Option(help="The conversation it belongs to.")] = None,
    speaker: Annotated[str | None, typer.Option(help="Who said it.")] = None,
    position: Annotated[int | None, typer.Option(help="Its order within the session.")] = None,
    language: Annotated[
        str | None, typer.Option(help="A text-search configuration, such as german; auto detects it.")
    ] = None,
    sensitive: Annotated[bool, typer.Option("--sensitive", help="Never embed it.")] = False,
    occurred_at: Annotated[str | None, typer.Option(help="When it happened, ISO 8601.")] = None,
    expires_at: Annotated[
        str | None, typer.Option(help="From then on it is never returned, ISO 8601.")
    ] = None,
    external_id: Annotated[str | None, typer.Option(help="Your own id for it.")] = None,
    on_conflict: Annotated[
        OnConflict, typer.Option(help="What to do if the id already exists.")
    ] = OnConflict.error,
    namespace: Namespace = None,
    create_namespace: Annotated[
        bool, typer.Option("--create-namespace", help="Create the namespace if it does not exist.")
    ] = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Store one memory and print its id."""
    extra = json_object("--metadata", metadata)
    happened, ends = moment("--occurred-at", occurred_at), moment("--expires-at", expires_at)
    text = sys.stdin.read() if content == "-" else content
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        number = client.remember(
            text,
            title=title,
            category=category,
            tags=tag,
            expanded_keywords=keyword,
            importance=importance,
            metadata=extra,
            source=source,
            session=session,
            speaker=speaker,
            position=position,
            language=language,
            is_sensitive=sensitive,
            occurred_at=happened,
            expires_at=ends,
            external_id=external_id,
            on_conflict=on_conflict.value,
            namespace=namespace,
            create_namespace=create_namespace,
        )
    typer.echo(number)


def import_(
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
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import memories from a file. Importing the same memories again changes nothing.

    Each line, element or row has content and optionally id, title, lang, category, tags, expanded_keywords,
    importance, metadata, source, session, speaker, position, occurred_at, created_at, valid_from, valid_to,
    expires_at, is_sensitive. Other keys go to the metadata. Times without a zone are UTC. Missing namespaces
    are created. Lines of `pgrecall export` also have embedding and namespace. A table has a header; its tags
    are separated by semicolons.
    """
    if not _is_dash(file) and (file.is_dir() or not file.exists()):
        raise typer.BadParameter(f"there is no file {file}", param_hint="file")
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
    _print_report(report)
    if report.rejected:
        raise typer.Exit(1)


def export(
    file: Annotated[Path, typer.Argument(help="Output file; - writes standard output.")] = Path("-"),
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="Only this namespace; default: all.")
    ] = None,
    include_sensitive: Annotated[
        bool, typer.Option("--include-sensitive", help="Include sensitive memories, in plain text.")
    ] = False,
    include_forgotten: Annotated[
        bool, typer.Option("--include-forgotten", help="Include forgotten memories.")
    ] = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Write memories as JSON Lines with all fields and embeddings, for `pgrecall import`.

    By default, sensitive and forgotten memories are left out, and so are memories superseded only by them.
    The file appears under its name when it is complete, and only its owner can read it.
    """
    from pgrecall import Client

    number = 0
    with (
        Client(connection_string(dsn, data_dir), pool_max=1) as client,
        _written(file) as out,
        # Closed here, so that the cursor is closed before the connection.
        closing(
            client.transfer.export_memories(
                namespace, include_sensitive=include_sensitive, include_forgotten=include_forgotten
            )
        ) as lines,
    ):
        for number, line in enumerate(lines, 1):  # noqa: B007 - the last is the number of lines
            out.write(line.encode() + b"\n")
    note(f"{_count(number, 'memory', 'memories')} exported")


@contextmanager
def _written(file: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that is renamed when it is complete."""
    from tempfile import NamedTemporaryFile

    from pgrecall import PgrecallError

    if _is_dash(file):
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if file.is_dir():
        raise typer.BadParameter(f"{file} is a folder", param_hint="file")
    try:
        # Readable only by its owner: the database hides its contents from other users.
        with NamedTemporaryFile("wb", dir=file.parent, prefix=f".{file.name}-", delete=False) as out:
            unfinished = Path(out.name)
            try:
                yield out
                out.flush()
                os.fsync(out.fileno())
                unfinished.replace(file)
            except BaseException:
                unfinished.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise PgrecallError(
            f"cannot write {file}: {error.strerror}",
            hint="Check the path, its permissions and the free space.",
        ) from error


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

    with bar, nullcontext(sys.stdin.buffer) if _is_dash(file) else open_lines(file) as raw:
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


def _is_dash(file: Path) -> bool:
    return str(file) == "-"


def _print_report(report: "ImportReport") -> None:
    for rejection in report.rejected:
        typer.echo(f"line {rejection.line}: {rejection.reason}", err=True)
    where = f" in {_count(len(report.namespaces), 'namespace')}" if report.namespaces else ""
    typer.echo(f"{_count(report.stored, 'memory', 'memories')} stored{where}")
    if report.present:
        typer.echo(f"{_count(report.present, 'line')} already there")
    if report.differing:
        note(f"{_count(report.differing, 'line')} of them differ from the stored memory, which is unchanged")
    if report.embedded:
        typer.echo(f"{_count(report.embedded, 'embedding')} stored")
    if report.placed:
        lines = _count(report.placed, "line")
        note(f"{lines} without a position: placed in the order of the lines of their session")
    for model, number in report.left_out.items():
        note(f"{_count(number, 'embedding')} of {sanitize(model)} skipped: an embedder will recompute them")
    if report.rejected:
        typer.echo(f"{_count(len(report.rejected), 'line')} rejected", err=True)
    if report.without_id:
        note(f"{_count(report.without_id, 'line')} without an id: importing again stores duplicates")


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else f'{one}s' if many is None else many}"
