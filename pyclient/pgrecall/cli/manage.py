"""`pgrecall get`, `list`, `count`, `sessions`, `history`, `update`, `supersede`, `forget` and `restore`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from pgrecall.filters import Filter
from pgrecall.formatting import counted, format_value, sanitize_line

from .common import (
    AsJson,
    DataDir,
    Dsn,
    Namespace,
    Namespaces,
    confirm,
    connection_string,
    echo,
    given_text,
    json_object,
    moment,
    note,
    print_json,
    print_result,
    read_namespaces,
)
from .elsewhere import note_elsewhere
from .filters import UNFILTERED, with_filters
from .origin import Origin

if TYPE_CHECKING:
    from pgrecall import Client
    from pgrecall.models import StoredMemory

Id = Annotated[int, typer.Argument(help="The memory.", metavar="ID")]
Ids = Annotated[list[int], typer.Argument(help="The memories.", metavar="ID…")]
Forgotten = Annotated[bool, typer.Option("--forgotten", help="Forgotten memories instead.")]


def get(
    ids: Ids,
    include_forgotten: Annotated[
        bool, typer.Option("--include-forgotten", help="Print forgotten and expired ones too.")
    ] = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Print memories with all their fields."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        found = client.get_many(ids, include_forgotten=include_forgotten)
    if as_json:
        print_json([memory.as_dict() for memory in found])
    else:
        for place, memory in enumerate(found):
            echo("\n" * bool(place) + _fields(memory))
    _report_missing(ids, [memory.id for memory in found])


@with_filters()
def list_(
    k: Annotated[int, typer.Option("-k", "--k", min=1, max=1000, help="How many memories at most.")] = 20,
    after: Annotated[
        int | None, typer.Option(help="Continue after this memory, the last one of the page before.")
    ] = None,
    oldest_first: Annotated[bool, typer.Option("--oldest-first", help="Reverse the order.")] = False,
    forgotten: Forgotten = False,
    namespace: Namespaces = None,
    filters: Filter = UNFILTERED,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """List memories, newest first, a line each."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1, strict=True) as client:
        found = client.list(
            k=k,
            after=after,
            oldest_first=oldest_first,
            forgotten=forgotten,
            **read_namespaces(namespace),
            filter=filters,
        )
        if not found:
            note_elsewhere(client, namespace)
    if as_json:
        print_json([memory.as_dict() for memory in found])
        return
    for memory in found:
        echo(_line(memory))
    if any(memory.superseded_by is not None for memory in found):
        note("~ marks memories that another one has superseded")
    if len(found) == k:
        note(f"there may be more: --after {found[-1].id}")


@with_filters()
def count(
    forgotten: Forgotten = False,
    namespace: Namespaces = None,
    filters: Filter = UNFILTERED,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Count memories."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1, strict=True) as client:
        number = client.count(forgotten=forgotten, filter=filters, **read_namespaces(namespace))
        if not number:
            note_elsewhere(client, namespace)
    print_result({"memories": number}, str(number), as_json=as_json)


def sessions(
    k: Annotated[int, typer.Option("-k", "--k", min=1, max=1000, help="How many sessions at most.")] = 20,
    namespace: Namespace = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """List sessions, the most recent first, with their number of memories."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1, strict=True) as client:
        found = client.sessions(namespace=namespace, k=k)
        if not found:
            note_elsewhere(client, namespace)
    if as_json:
        print_json([one.as_dict() for one in found])
        return
    for one in found:
        echo(f"{one.last_at.astimezone():%Y-%m-%d}  {one.memories:>6}  {sanitize_line(one.session)}")


def history(
    id: Id,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Print every version of a memory, of its predecessors and its successors, oldest first."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        changes = client.history(id)
    if as_json:
        print_json([change.as_dict() for change in changes])
        return
    for change in changes:
        who = "role not recorded" if change.role is None else f"by {sanitize_line(change.role)}"
        which = "" if change.curation is None else f" (curation {change.curation})"
        when = f"{change.changed_at.astimezone():%Y-%m-%d %H:%M}"
        echo(f"{when}  {change.memory_id}  {change.action} {who}{which}")
        if change.before is None:
            echo(f"    {sanitize_line(change.content)}")
        for name, value in (change.after or {}).items():
            echo(f"    {name}: {_shown((change.before or {}).get(name))} -> {_shown(value)}")


def update(
    id: Id,
    content: Annotated[str | None, typer.Option(help="The new text; - reads standard input.")] = None,
    title: Annotated[str | None, typer.Option(help="A short name; '' clears it, as for the others.")] = None,
    category: Annotated[str | None, typer.Option(help="One word for its kind.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="A tag; repeatable. They replace the old ones.")
    ] = None,
    importance: Annotated[float | None, typer.Option(min=0, max=1, help="0 to 1.")] = None,
    metadata: Annotated[str | None, typer.Option(help="A JSON object, which replaces the old one.")] = None,
    source: Annotated[str | None, typer.Option(help="Where it comes from.")] = None,
    session: Annotated[str | None, typer.Option(help="The conversation it belongs to.")] = None,
    speaker: Annotated[str | None, typer.Option(help="Who said it.")] = None,
    occurred_at: Annotated[str | None, typer.Option(help="When it happened, ISO 8601.")] = None,
    expires_at: Annotated[
        str | None, typer.Option(help="From then on it is never returned, ISO 8601.")
    ] = None,
    origin: Origin = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Change fields of a memory. `pgrecall history` keeps the old ones."""
    extra = json_object("--metadata", metadata)
    happened, ends = moment("--occurred-at", occurred_at), moment("--expires-at", expires_at)
    text = None if content is None else given_text(content)
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        has_changed = client.update(
            id,
            content=text,
            title=title,
            category=category,
            tags=tag,
            importance=importance,
            metadata=extra,
            source=source,
            session=session,
            speaker=speaker,
            occurred_at=happened,
            expires_at=ends,
            origin=None if origin is None else origin.value,
        )
    told = "updated" if has_changed else "nothing changed"
    print_result({"id": id, "changed": has_changed}, told, as_json=as_json)


def supersede(
    id: Id,
    content: Annotated[
        str | None,
        typer.Argument(help="The new text, which becomes a new memory; - reads standard input."),
    ] = None,
    successor: Annotated[
        int | None, typer.Option(help="An existing memory as successor, instead of a text.")
    ] = None,
    occurred_at: Annotated[str | None, typer.Option(help="When it changed, ISO 8601.")] = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Replace a memory that is no longer true, and print its successor's id. The old one stays stored."""
    if (content is None) == (successor is None):
        raise typer.BadParameter("pass either a text or --successor")
    happened = moment("--occurred-at", occurred_at)
    text = None if content is None else given_text(content)
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        number = client.supersede(id, text, successor=successor, occurred_at=happened)
    print_result({"id": number, "supersedes": id}, str(number), as_json=as_json)


@with_filters("as_of", "include_superseded")
def forget(
    ids: Annotated[
        list[int] | None, typer.Argument(help="The memories; or pass filters.", metavar="[ID…]")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be forgotten.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    namespace: Namespace = None,
    filters: Filter = UNFILTERED,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Forget memories: recall no longer finds them, and `pgrecall restore` brings them back."""
    if bool(ids) == bool(filters.conditions()):
        raise typer.BadParameter("pass either ids or filters such as --session")
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        if ids:
            gone = _forgettable(client, ids) if dry_run else [id for id in ids if client.forget(id)]
            _print_number(len(gone), "to forget" if dry_run else "forgotten", as_json=as_json)
            _report_missing(ids, gone)
            return
        number = client.forget_many(dry_run=True, namespace=namespace, filter=filters)
        if dry_run:
            _print_number(number, "to forget", as_json=as_json)
            return
        if number and not yes:
            matching = counted(number, "memory")
            confirm(
                f"Forget {matching}?",
                found=f"{matching} {'matches' if number == 1 else 'match'}",
                verb=f"forget {'it' if number == 1 else 'them'}",
            )
        _print_number(client.forget_many(namespace=namespace, filter=filters), "forgotten", as_json=as_json)


def _forgettable(client: "Client", ids: Sequence[int]) -> list[int]:
    """Return those of some memories that `forget` would find, each once."""
    # One by one, as they are forgotten. With what has expired, which can be forgotten too.
    return [
        memory.id
        for id in dict.fromkeys(ids)
        for memory in client.get_many([id], include_forgotten=True)
        if memory.forgotten_at is None
    ]


def restore(ids: Ids, as_json: AsJson = False, dsn: Dsn = None, data_dir: DataDir = None) -> None:
    """Bring forgotten or expired memories back."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        number = sum(client.restore(id) for id in ids)
    _print_number(number, "restored", as_json=as_json)


def _print_number(number: int, what: str, *, as_json: bool) -> None:
    print_result({what.replace(" ", "_"): number}, f"{number} {what}", as_json=as_json)


def _line(memory: "StoredMemory") -> str:
    """Return a memory as one line that fits a terminal of 80 columns."""
    when = memory.occurred_at or memory.created_at
    mark = "~" if memory.superseded_by is not None else " "
    text = " ".join(sanitize_line(memory.title or memory.content).split())
    room = 80 - 2 - len(str(memory.id).rjust(7)) - 12
    shown = text if len(text) <= room else f"{text[: room - 1]}…"
    return f"{memory.id:>7} {mark}{when.astimezone():%Y-%m-%d}  {shown}"


def _fields(memory: "StoredMemory") -> str:
    """Return a memory as a block of lines: the fields that are set, then the text."""
    shown = {
        name: value
        for name, value in memory.as_dict().items()
        if name != "content" and value not in (None, [], {}, False)
    }
    lines = [f"{name:<18}{_shown(value)}" for name, value in shown.items()]
    return "\n".join([*lines, sanitize_line(memory.content)])


def _shown(value: object) -> str:
    """Return the value of a field as a line."""
    if isinstance(value, dict):
        import json

        return sanitize_line(json.dumps(value, ensure_ascii=False, default=str))
    return format_value(value)


def _report_missing(ids: Sequence[int], found: Sequence[int]) -> None:
    missing = [str(id) for id in ids if id not in set(found)]
    if missing:
        note(f"not found: {', '.join(missing)}")
        raise typer.Exit(1)


__all__ = [
    "count",
    "forget",
    "get",
    "history",
    "list_",
    "restore",
    "sessions",
    "supersede",
    "update",
]
