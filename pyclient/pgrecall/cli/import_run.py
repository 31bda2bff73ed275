"""What all imports from other programs share: they read, store, compare and report."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pgrecall.formatting import counted, sanitize_line

from .common import echo, note, print_json, terminal

if TYPE_CHECKING:
    from pgrecall import Client
    from pgrecall.contrib.importers import ImportFromReport, Rejected, Source, Verification

_SHOWN = 20
_LONGEST_REJECTION = 1 << 20  # bytes


@dataclass(frozen=True, slots=True)
class To:
    """The target, and options common to all sources."""

    dsn: str | None
    namespace: str | None
    prefix: str | None
    dry_run: bool
    rejected: Path | None
    verify: bool
    as_json: bool
    skip_deleted: bool = False


Open = Callable[[str, int | None], "AbstractContextManager[Source]"]
"""Opens a source, given the connection string of the memories and the dimension of embeddings to import."""


def run(to: To, opened: Open, same_model: str | None = None) -> None:
    """Import, verify and print the report.

    Raises:
        typer.Exit: 1 if a row was rejected, is missing or differs.
    """
    from pgrecall import Client, PermissionDenied
    from pgrecall.contrib import importers

    with (
        Client(to.dsn, pool_max=1) as client,
        rejections(to.rejected) as reject,
        opened(client.open().dsn, _dimension(client, same_model)) as source,
    ):
        for sentence in source.found:
            note(sanitize_line(sentence))
        with progress("importing", source.total) as advance:
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
            with progress("comparing", source.total) as advance:
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
    if to.as_json:
        from dataclasses import asdict

        from pgrecall.models import plain

        found = {name: plain(value) for name, value in asdict(report).items() if name != "refused"}
        print_json(found | {"compared": None if compared is None else asdict(compared)})
    else:
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
def rejections(file: Path | None) -> Iterator[Callable[["Rejected"], None]]:
    """Write rejected rows to a file, or print the first ones."""
    from pgrecall import PgrecallError

    try:
        if file is not None:
            _refuse_another(file)
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
                echo(sanitize_line(f"{row.place}: {row.reason}"), err=True)

        yield reject
    if file is None and number > _SHOWN:
        note(f"and {number - _SHOWN} more: --rejected FILE writes them all")


def _refuse_another(file: Path) -> None:
    """Refuse a file that holds anything but rejected rows: it may be what is to be imported.

    Raises:
        InvalidInput: It does.
    """
    from pgrecall import InvalidInput
    from pgrecall.files import is_of_system

    if is_of_system(file) or not file.is_file():
        return
    with file.open("rb") as opened:
        first = opened.readline(_LONGEST_REJECTION)
    try:
        is_ours = not first or set(json.loads(first)) == {"place", "reason"}
    except (ValueError, TypeError, RecursionError):
        is_ours = False
    if not is_ours:
        raise InvalidInput(
            f"{file} exists, and holds something else than rejected rows",
            hint="Name another file with --rejected, or delete this one.",
        )


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show the number of processed rows, on a terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = terminal(stderr=True)
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
    echo(
        f"{counted(report.rows, 'row')}: {report.stored}{would} stored, {report.updated}{would} updated, "
        f"{report.present} already there"
    )
    for number, label in (
        (report.sensitive, "are sensitive"),
        (report.deleted, "were deleted in the source: stored as forgotten"),
        (report.left_out, "of those skipped"),
        (report.kept, "have changed, but were forgotten or superseded here: not updated"),
    ):
        if number:
            echo(f"{number} {label}")
    if report.rejected:
        echo(f"{report.rejected} rejected", err=True)


def _print_comparison(compared: "Verification") -> None:
    echo(f"compared with the source: {compared.same} the same")
    if compared.changed_here:
        echo(f"{compared.changed_here} changed here since")
    for number, label in ((compared.missing, "missing"), (compared.differing, "differ")):
        if number:
            echo(f"{number} {label}", err=True)
