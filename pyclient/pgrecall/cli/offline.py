"""`pgrecall offline`: a local copy of a namespace, for recall and writes without a server."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgrecall.filters import Filter
from pgrecall.formatting import counted, sanitize_line

from .common import (
    AsJson,
    DataDir,
    Dsn,
    Namespace,
    connection_string,
    echo,
    given_text,
    note,
    print_json,
    print_result,
)
from .filters import UNFILTERED, with_filters
from .search import print_recalled

if TYPE_CHECKING:
    from pgrecall.contrib.offline import Pushed, QueuedWrite

offline = typer.Typer(no_args_is_help=True)
_File = Annotated[Path, typer.Argument(help="The file of the copy.", show_default=False)]


@offline.command()
def pull(
    file: _File,
    include_sensitive: Annotated[
        bool | None,
        typer.Option(
            "--include-sensitive/--exclude-sensitive",
            help="Whether to copy sensitive memories; default: as in the last pull, initially no.",
            show_default=False,
        ),
    ] = None,
    moved: Annotated[
        bool,
        typer.Option("--moved", help="Accept a database that was restored, or upgraded to another server."),
    ] = False,
    namespace: Namespace = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Create a copy of a namespace, or send its queued writes and update it."""
    from pgrecall.contrib.offline import OfflineClient

    with OfflineClient(file, connection_string(dsn, data_dir), namespace=namespace) as copy:
        report = copy.pull(include_sensitive=include_sensitive, moved=moved)
        status = copy.status()
    if as_json:
        rest = {"stored": report.stored, "removed": report.removed, "is_purged": report.is_purged}
        print_json({"pushed": _as_dict(report.pushed)} | rest)
        return
    _print_pushed(report.pushed)
    echo(
        f"{report.stored} fetched, {report.removed} removed: "
        f"{counted(status.memories, 'memory')} of {sanitize_line(status.namespace)}"
    )
    if not report.is_purged:
        note("another process reads the file, so its pages may still hold removed memories; pull again later")


@offline.command()
def push(file: _File, as_json: AsJson = False, dsn: Dsn = None, data_dir: DataDir = None) -> None:
    """Send the queued writes of a copy to the server."""
    from pgrecall.contrib.offline import OfflineClient

    with OfflineClient(file, connection_string(dsn, data_dir)) as copy:
        pushed = copy.push()
    if as_json:
        print_json(_as_dict(pushed))
    else:
        _print_pushed(pushed)


@offline.command()
@with_filters("metadata_where", "timeframe")
def recall(
    file: _File,
    query: Annotated[str, typer.Argument(help="The question.")],
    k: Annotated[int, typer.Option("-k", "--k", min=1, max=1000, help="Maximum number of memories.")] = 10,
    filters: Filter = UNFILTERED,
    full: Annotated[bool, typer.Option("--full", help="Print long memories in full.")] = False,
    as_json: AsJson = False,
) -> None:
    """Search a copy by words."""
    from pgrecall.contrib.offline import OfflineClient

    with OfflineClient(file) as copy:
        result = copy.recall(query, k=k, filter=filters)
    print_recalled(result, full=full, as_json=as_json)


@offline.command()
def remember(
    file: _File,
    content: Annotated[str, typer.Argument(help="The text; - reads standard input.")],
    tag: Annotated[list[str] | None, typer.Option("--tag", help="A tag; repeatable.")] = None,
    as_json: AsJson = False,
) -> None:
    """Store a memory in a copy, queued for the server."""
    text = given_text(content)
    from pgrecall.contrib.offline import OfflineClient

    with OfflineClient(file) as copy:
        number = copy.remember(text, tags=tag)
    print_result({"id": number}, str(number), as_json=as_json)


@offline.command()
def status(file: _File, as_json: AsJson = False) -> None:
    """Print the contents of a copy, its queued writes, and the writes that the server refused."""
    from pgrecall.contrib.offline import OfflineClient

    with OfflineClient(file) as copy:
        status, refused = copy.status(), copy.refused()
    if as_json:
        print_json({**status.as_dict(), "refused": [write.as_dict() for write in refused]})
        return
    pulled = "never" if status.pulled_at is None else f"{status.pulled_at:%Y-%m-%d %H:%M} UTC"
    echo(
        f"{counted(status.memories, 'memory')} of {sanitize_line(status.namespace)}, pulled {pulled}, "
        f"{counted(status.queued, 'write')} queued"
    )
    _print_refused(refused)
    if refused:
        note("`pgrecall offline retry` queues them again, `pgrecall offline discard` drops one")


@offline.command()
def retry(file: _File, as_json: AsJson = False) -> None:
    """Queue refused writes again."""
    from pgrecall.contrib.offline import OfflineClient

    with OfflineClient(file) as copy:
        number = copy.retry()
    print_result({"queued": number}, f"{number} queued", as_json=as_json)


@offline.command()
def discard(
    file: _File,
    number: Annotated[int, typer.Argument(help="The number of the write, as printed by status.")],
    as_json: AsJson = False,
) -> None:
    """Drop a write that the server refused."""
    from pgrecall.contrib.offline import OfflineClient
    from pgrecall.errors import NotFound

    with OfflineClient(file) as copy:
        if not copy.discard(number):
            raise NotFound(
                f"no refused write has number {number}", hint="`pgrecall offline status` lists them."
            )
    print_result({"discarded": number}, "discarded", as_json=as_json)


def _as_dict(pushed: "Pushed") -> dict[str, object]:
    from dataclasses import asdict

    return {
        "sent": pushed.sent,
        "settled": [asdict(one) for one in pushed.settled],
        "refused": [write.as_dict() for write in pushed.refused],
    }


def _print_pushed(pushed: "Pushed") -> None:
    if pushed.sent:
        echo(f"{pushed.sent} sent")
    for one in pushed.settled:
        kept = "" if one.kept is None else f"; the other version is memory {one.kept}"
        echo(f"conflict: memory {one.memory_id} is now {_WINNERS[one.winner]}{kept}")
    _print_refused(pushed.refused)


def _print_refused(refused: "list[QueuedWrite] | tuple[QueuedWrite, ...]") -> None:
    for write in refused:
        echo(f"refused: {write.number} ({write.kind} {write.memory_id}): {sanitize_line(write.reason or '')}")


_WINNERS = {"mine": "as this copy had it", "theirs": "as the server had it"}
