"""`pgrecall remember` and `pgrecall export`."""

from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pgrecall.formatting import counted, escape_controls

from .common import (
    AsJson,
    DataDir,
    Dsn,
    Namespace,
    connection_string,
    given_text,
    json_object,
    moment,
    note,
    print_result,
)
from .origin import Origin
from .output_file import output_file


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
    importance: Annotated[float | None, typer.Option(min=0, max=1, help="0 to 1.")] = None,
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
    origin: Origin = None,
    external_id: Annotated[str | None, typer.Option(help="Your own id for it.")] = None,
    on_conflict: Annotated[
        OnConflict, typer.Option(help="What to do if the id already exists.")
    ] = OnConflict.error,
    namespace: Namespace = None,
    create_namespace: Annotated[
        bool, typer.Option("--create-namespace", help="Create the namespace if it does not exist.")
    ] = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Store one memory and print its id."""
    extra = json_object("--metadata", metadata)
    happened, ends = moment("--occurred-at", occurred_at), moment("--expires-at", expires_at)
    text = given_text(content)
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
            origin=None if origin is None else origin.value,
            external_id=external_id,
            on_conflict=on_conflict.value,
            namespace=namespace,
            create_namespace=create_namespace,
        )
    print_result({"id": number}, str(number), as_json=as_json)


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
    """Write memories as JSON Lines with all fields, embeddings and history, for `pgrecall import`.

    Policies for secrets come before the memories; retention rules, learned settings, feedback and judged
    queries follow them. The line of kind header names the tables that are not exported.

    By default, sensitive and forgotten memories are left out, and so are memories superseded only by them.
    The file appears under its name when it is complete, and only its owner can read it.
    """
    from pgrecall import Client

    number = 0
    with (
        Client(connection_string(dsn, data_dir), pool_max=1) as client,
        output_file(file) as out,
        # Closed here, so that the cursor is closed before the connection.
        closing(
            client.transfer.export(
                namespace, include_sensitive=include_sensitive, include_forgotten=include_forgotten
            )
        ) as lines,
    ):
        for line, is_memory in lines:
            out.write(escape_controls(line).encode() + b"\n")
            number += is_memory
    note(f"{counted(number, 'memory')} exported")
