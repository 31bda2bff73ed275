"""`pgrecall graph`: build, inspect, correct and export the concept graph."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pgrecall.formatting import counted
from pgrecall.installing import install_command

from .common import (
    AsJson,
    DataDir,
    Dsn,
    Namespace,
    connection_string,
    echo,
    note,
    print_json,
    print_result,
    require_namespace,
    terminal,
)
from .output_file import output_file

if TYPE_CHECKING:
    from psycopg import Connection

    from pgrecall.dsn import Target

graph = typer.Typer(no_args_is_help=True)


class Format(StrEnum):
    """The export formats."""

    GRAPHML = "graphml"
    DOT = "dot"


@graph.command()
def build(
    backfill: Annotated[
        bool,
        typer.Option(
            "--backfill", help="Also read memories that another version or other settings have read."
        ),
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Read every memory again.")] = False,
    namespace: Namespace = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Extract names, times and facts from memories until none are pending.

    --namespace restricts --backfill and --again; pending memories are read in every namespace.
    """
    if backfill and again:
        raise typer.BadParameter("--backfill and --again cannot be combined")
    from pgrecall.errors import EmbeddingUnavailable

    target = _target(dsn, data_dir, namespace)
    try:
        from pgrecall.embedder import build
    except ModuleNotFoundError as error:
        left = _leave_to_a_daemon(target, again=again, backfill=backfill)
        if left is not None:
            text = f"the running embedder will read {counted(left, 'memory')}"
            print_result({"left_to_embedder": left}, text, as_json=as_json)
            return
        raise EmbeddingUnavailable(
            f"memories cannot be read here: no module {error.name}",
            hint=f"Run: {install_command('embedder', 'nlp')}, or start a daemon elsewhere.",
        ) from error
    versions: dict[str, str | None] = dict(build.versions(target.dsn))
    if again:
        versions = dict.fromkeys(versions)
    with _connected(target) as connection:
        if again or backfill:
            for enricher, version in versions.items():
                _redo(connection, target, enricher, version)
        waiting = _status(connection)["pending_extractions"]
    done = _with_progress(target.dsn, waiting)
    print_result(done, f"read {counted(done['read'], 'memory')}", as_json=as_json)
    if done["read_failed"] and not as_json:
        note(f"{done['read_failed']} could not be read: SELECT * FROM pgrecall.jobs WHERE attempts > 0")


@graph.command()
def show(
    name: Annotated[str, typer.Argument(help="Any of the concept's names.")],
    k: Annotated[int, typer.Option("-k", "--k", min=1, help="Maximum number of neighbours.")] = 20,
    namespace: Namespace = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Print a concept: its names, its number of mentions, and its neighbours."""
    target = _target(dsn, data_dir, namespace)
    with _connected(target) as connection:
        concept = _concept(connection, target, name)
        [found] = _rows(
            connection,
            "SELECT id, namespace, name, type, aliases, mentions, about, first_seen, last_seen, merged "
            "FROM pgrecall.show_concept(%s)",
            [concept],
        )
        neighbours = _rows(
            connection,
            "SELECT neighbour_id AS id, name, type, shared, weight, relationships "
            "FROM pgrecall.concept_neighbours(%s, %s)",
            [concept, k],
        )
    if as_json:
        from pgrecall.models import plain

        print_json({key: plain(value) for key, value in found.items()} | {"neighbours": neighbours})
        return
    _print_concept(found, neighbours)


@graph.command()
def export(
    format: Annotated[Format, typer.Option(help="Output format.")] = Format.GRAPHML,
    out: Annotated[Path | None, typer.Option(help="Output file; default: standard output.")] = None,
    min_mentions: Annotated[int, typer.Option(min=0, help="Omit concepts that fewer memories mention.")] = 2,
    namespace: Namespace = None,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Write the graph of a namespace: concepts, shared mentions and relationships."""
    target = _target(dsn, data_dir, namespace)
    from pgrecall import Client

    from .graph_files import FORMATS

    with _connected(target) as connection:
        require_namespace(Client.on(connection), target.namespace)
        lines = FORMATS[format.value](_graph_rows(connection, target, min_mentions))
        if out is None:
            sys.stdout.writelines(lines)
        else:
            with output_file(out) as file:
                file.writelines(line.encode() for line in lines)


@graph.command()
def merge(
    name: Annotated[str, typer.Argument(help="The concept to merge.")],
    into: Annotated[str, typer.Argument(help="The concept to keep.")],
    namespace: Namespace = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Merge a concept into another one, which takes over its names."""
    target = _target(dsn, data_dir, namespace)
    with _connected(target) as connection:
        pair = [_concept(connection, target, name), _concept(connection, target, into)]
        number = _value(connection, "SELECT pgrecall.merge_concepts(%s, %s)", pair)
    text = f"merged; `pgrecall graph split {number}` undoes it"
    print_result({"merge_id": number}, text, as_json=as_json)


@graph.command()
def split(
    merge: Annotated[int, typer.Argument(help="The number of the merge, as printed by `graph show --json`.")],
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Undo a merge."""
    with _connected(_target(dsn, data_dir, None)) as connection:
        concept = _value(connection, "SELECT pgrecall.split_concept(%s)", [merge])
        name = _value(connection, "SELECT name FROM pgrecall.show_concept(%s)", [concept])
    text = f"split: {_clean(name)} is a separate concept again"
    print_result({"concept_id": concept, "name": name}, text, as_json=as_json)


@graph.command()
def rules(
    type: Annotated[str, typer.Argument(help="The type in capitals: PROJECT, or your own.")],
    keyword: Annotated[
        list[str] | None, typer.Option("--keyword", help="A name, case-insensitive; repeatable.")
    ] = None,
    pattern: Annotated[
        list[str] | None, typer.Option("--pattern", help="A regular expression; repeatable.")
    ] = None,
    namespace: Namespace = None,
    everywhere: Annotated[
        bool, typer.Option("--everywhere", help="Apply the rules to all namespaces.")
    ] = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Replace the names and patterns that mark an entity of a type.

    Without names and patterns, removes the rules of the type. `pgrecall graph build --backfill` applies new
    rules to older memories.
    """
    if everywhere and namespace is not None:
        raise typer.BadParameter("--everywhere and --namespace cannot be combined")
    keywords, patterns = keyword or [], pattern or []
    from pgrecall.embedder import EntityRules, Gazetteer, InvalidRules
    from pgrecall.errors import InvalidInput

    try:
        Gazetteer([EntityRules(type, tuple(keywords), tuple(patterns))])
    except InvalidRules as error:
        raise InvalidInput(error.message, hint=error.hint) from None
    target = _target(dsn, data_dir, namespace)
    with _connected(target) as connection:
        home = None
        if not everywhere:
            home = _value(connection, "SELECT pgrecall.namespace_name(%s)", [target.namespace])
        _rows(
            connection,
            "SELECT pgrecall.set_entity_rules(%s, %s::text[], %s::text[], %s)",
            [type, keywords, patterns, home],
        )
    print_result(
        {"type": type, "keywords": keywords, "patterns": patterns, "namespace": home},
        f"{type}: {counted(len(keywords), 'keyword')}, {counted(len(patterns), 'pattern')}, "
        "for memories read from now on",
        as_json=as_json,
    )


def _target(dsn: str | None, data_dir: Path | None, namespace: str | None) -> "Target":
    from pgrecall.dsn import resolve

    return resolve(connection_string(dsn, data_dir), namespace, None)


@contextmanager
def _connected(target: "Target") -> "Iterator[Connection[dict[str, Any]]]":
    """Connect, check the installed version, and map the driver's errors to pgrecall's."""
    import psycopg
    from psycopg.rows import dict_row

    from pgrecall.adapters import READABLE
    from pgrecall.admin.bundle import not_migrated, verify
    from pgrecall.connecting import open_connection
    from pgrecall.errors import SchemaMismatch, error_from

    try:
        with open_connection(
            psycopg.Connection, target.dsn, row_factory=dict_row, context=READABLE
        ) as connection:
            try:
                [served] = _rows(connection, "SELECT oldest, newest FROM pgrecall.contract()")
            except psycopg.Error as error:
                if not isinstance(error_from(error), SchemaMismatch):
                    raise
                raise not_migrated(is_older=error.sqlstate == "42883") from error
            verify(**served)
            yield connection
    except psycopg.Error as error:
        raise error_from(error) from error


def _rows(connection: "Connection[dict[str, Any]]", query: Any, values: Any = ()) -> list[dict[str, Any]]:
    return connection.execute(query, values).fetchall()


def _value(connection: "Connection[dict[str, Any]]", query: Any, values: Any = ()) -> Any:
    [row] = _rows(connection, query, values)
    [value] = row.values()
    return value


def _status(connection: "Connection[dict[str, Any]]") -> dict[str, Any]:
    from psycopg import sql

    schema = _value(connection, "SELECT pgrecall.function_schema()")
    statement = sql.SQL("SELECT workers, pending_extractions FROM {}()")
    [found] = _rows(connection, statement.format(sql.Identifier(schema, "recall_status")))
    return found


def _concept(connection: "Connection[dict[str, Any]]", target: "Target", name: str) -> int:
    found = _value(connection, "SELECT pgrecall.find_concept(%s, %s)", [name, target.namespace])
    if found is None:
        from pgrecall import Client
        from pgrecall.errors import NotFound

        require_namespace(Client.on(connection), target.namespace)
        raise NotFound(
            f'no concept is called "{name}"',
            hint="Give the full stored name; case does not matter.",
        )
    return int(found)


def _redo(connection: Any, target: "Target", enricher: str, version: str | None) -> None:
    noted = _value(connection, "SELECT pgrecall.reextract(%s, %s, %s)", [target.namespace, version, enricher])
    if noted:
        note(
            f"{counted(noted, 'memory')} to be read again"
            if enricher == "text"
            else f"{noted} by the language model"
        )


def _leave_to_a_daemon(target: "Target", *, again: bool, backfill: bool) -> int | None:
    """Leave the work to a live daemon, and return how much it is; None if none can do it."""
    with _connected(target) as connection:
        found = _status(connection)
        if not found["workers"] or backfill:
            return None
        if again:
            _redo(connection, target, "text", None)
            found = _status(connection)
    return int(found["pending_extractions"])


def _with_progress(dsn: str, waiting: int) -> dict[str, int]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from pgrecall.embedder import build

    columns = (TextColumn("reading"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=terminal(stderr=True), transient=True) as progress:
        bar = progress.add_task("reading", total=waiting)
        return build.build(dsn, lambda done: progress.update(bar, completed=done))


def _graph_rows(connection: Any, target: "Target", min_mentions: int) -> Iterator[Any]:
    """Yield the graph from a server-side cursor, so that neither side holds all of it."""
    from psycopg.rows import class_row

    from .graph_files import GraphRow

    with connection.transaction(), connection.cursor("graph", row_factory=class_row(GraphRow)) as cursor:
        cursor.itersize = 5000
        # Times as text: PostgreSQL's calendar has a wider range than Python's.
        cursor.execute(
            "SELECT kind, id, target_id, name, type, weight, valid_from::text, valid_to::text, "
            "superseded_at::text FROM pgrecall.graph_export(%s, %s)",
            [target.namespace, min_mentions],
        )
        yield from cursor


def _print_concept(found: dict[str, Any], neighbours: list[dict[str, Any]]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    where = f"concept {found['id']} of {_clean(found['namespace'])}"
    echo(f"{_clean(found['name'])} ({_clean(found['type'])}), {where}")
    echo(f"  names      {', '.join(map(_clean, found['aliases']))}")
    echo(f"  mentioned  by {counted(found['mentions'], 'memory')}, about it: {found['about']}")
    if found["mentions"]:
        echo(f"  seen       {found['first_seen']} to {found['last_seen']}")
    for one in found["merged"]:
        echo(f"  merged     {_clean(one['name'])} by {one['method']}, merge {one['merge_id']}")
    if not neighbours:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for heading in ("neighbour", "type", "shared", "weight", "relationships"):
        table.add_column(heading, overflow="fold")
    for one in neighbours:
        ties = ", ".join(map(_clean, one["relationships"] or ()))
        cells = (_clean(one["name"]), _clean(one["type"]), str(one["shared"]), f"{one['weight']:.2f}", ties)
        table.add_row(*map(Text, cells))
    terminal().print(table)


def _clean(text: str) -> str:
    from pgrecall.formatting import sanitize_line

    return sanitize_line(text)
