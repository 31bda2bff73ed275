"""`pgrecall page`: standing answers of a namespace."""

from enum import StrEnum
from typing import Annotated

import typer

from pgrecall.formatting import counted, sanitize_line

from .common import (
    AsJson,
    DataDir,
    Dsn,
    Namespace,
    connection_string,
    echo,
    note,
    print_json,
    require_namespace,
)

page = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The page, such as about-user.")]


class Unit(StrEnum):
    """What a budget counts."""

    characters = "characters"
    tokens = "tokens"


class SectionName(StrEnum):
    """What a line of a page is."""

    facts = "facts"
    preferences = "preferences"
    open = "open"
    recent = "recent"


@page.command("set")
def set_page(
    name: Annotated[
        str | None,
        typer.Argument(help="The page; without one, about-user and recent, if they are not there."),
    ] = None,
    question: Annotated[
        str | None, typer.Option(help="What its lines are recalled for; default: the namespace as a whole.")
    ] = None,
    budget: Annotated[
        int, typer.Option(min=50, max=100_000, help="The most that its lines have together.")
    ] = 2000,
    unit: Annotated[Unit, typer.Option(help="What the budget counts.")] = Unit.characters,
    section: Annotated[
        list[SectionName] | None,
        typer.Option(help="A section, once for each, an earlier one first; default: all."),
    ] = None,
    namespace: Namespace = None,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Make a page or change it, and fill it."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), namespace=namespace, pool_max=1) as client:
        if name is None:
            client.pages.set_defaults()
            return
        client.pages.set(
            name,
            question,
            budget=budget,
            unit=unit.value,
            sections=[one.value for one in section] if section else None,
        )


@page.command("show")
def show(
    name: Name,
    namespace: Namespace = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Print a page, each line with the ids of the memories that it rests on."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), namespace=namespace, pool_max=1) as client:
        found = client.pages.get(name)
        if found is None:
            require_namespace(client, namespace)
    if found is None:
        note(f"there is no page {sanitize_line(name)}")
        raise typer.Exit(1)
    if as_json:
        print_json(found.as_dict())
        return
    if found.stale_since is not None:
        note(f"behind since {found.stale_since.isoformat(timespec='seconds')}")
    if found.lines:
        echo(found.as_text())


@page.command("list")
def list_pages(
    namespace: Namespace = None, as_json: AsJson = False, dsn: Dsn = None, data_dir: DataDir = None
) -> None:
    """List the pages of a namespace."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), namespace=namespace, pool_max=1) as client:
        found = client.pages.list()
    if as_json:
        print_json([one.as_dict() for one in found])
        return
    for one in found:
        state = "" if one.stale_since is None else f", behind since {one.stale_since:%Y-%m-%d %H:%M}"
        question = "" if one.question is None else f": {sanitize_line(one.question)}"
        echo(f"{one.name}{question} ({counted(one.lines, 'line')}, {one.budget} {one.unit}{state})")


@page.command("drop")
def drop(name: Name, namespace: Namespace = None, dsn: Dsn = None, data_dir: DataDir = None) -> None:
    """Drop a page. The memories stay."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), namespace=namespace, pool_max=1) as client:
        if not client.pages.drop(name):
            note(f"there is no page {sanitize_line(name)}")
            raise typer.Exit(1)
