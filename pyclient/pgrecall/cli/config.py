"""`pgrecall config`: the settings in force and their sources."""

from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from pgrecall.formatting import sanitize_line

from .common import AsJson, DataDir, Dsn, connection_string, note, print_json, print_result, terminal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pgrecall.models import SettingInForce


class _Settings(TyperGroup):
    """The command's group: `config NAME` is short for `config get NAME`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Take what is no command for the name of a setting."""
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = ["get", *args]
        return super().resolve_command(ctx, args)


config = typer.Typer(cls=_Settings, invoke_without_command=True)
Name = Annotated[str, typer.Argument(help="The setting's short name, such as rrf_k.")]


@config.callback()
def show(
    context: typer.Context,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only settings that differ from the default.")
    ] = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Print every setting in force with its value and source, or store one.

    Sources, strongest first: argument; environment PGRECALL_NAME; the settings file; parameter (SET,
    ALTER ROLE, ALTER DATABASE); profile; what the namespace has learned, which is not shown here; stored
    (`pgrecall config set`); default.
    """
    if context.invoked_subcommand is not None:
        return
    from pgrecall import Client, PgrecallError

    from .connection_settings import connection_settings

    connection = connection_settings(dsn, data_dir)
    try:
        with Client(connection_string(dsn, data_dir), pool_max=1) as client:
            database = client.admin.settings_in_force()
    except PgrecallError:
        # The user now needs to know which server was tried, and which source named it.
        if not as_json:
            _print_table(connection, changed=changed)
        raise
    rows = {setting.name: setting for setting in (*connection, *database)}
    # This user's values override the database's, such as its default namespace.
    rows.update({setting.name: setting for setting in connection if setting.value is not None})
    if as_json:
        print_json([setting.as_dict() for setting in _wanted(rows.values(), changed=changed)])
    else:
        _print_table(rows.values(), changed=changed)


@config.command()
def get(name: Name, as_json: AsJson = False, dsn: Dsn = None, data_dir: DataDir = None) -> None:
    """Print one setting; `pgrecall config NAME` does too."""
    from pgrecall import Client
    from pgrecall.config.file import closest_match_hint
    from pgrecall.errors import InvalidInput

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        found = {setting.name: setting for setting in client.admin.settings_in_force()}
    if name not in found:
        raise InvalidInput(
            f"there is no setting {name!r}", hint=closest_match_hint(name, list(found)) or None
        )
    print_result(found[name].as_dict(), _described(found[name]), as_json=as_json)


@config.command("set")
def set_(
    name: Name,
    value: Annotated[str, typer.Argument(help="The value to store.")],
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Store a setting for the whole database."""
    _store(name, value, connection_string(dsn, data_dir), as_json=as_json)


@config.command()
def unset(name: Name, as_json: AsJson = False, dsn: Dsn = None, data_dir: DataDir = None) -> None:
    """Remove a stored setting, so that its default applies."""
    _store(name, None, connection_string(dsn, data_dir), as_json=as_json)


def _store(name: str, value: str | None, dsn: str | None, *, as_json: bool) -> None:
    from pgrecall import Client

    with Client(dsn, pool_max=1) as client:
        client.admin.set_setting(name, value)
        [stored] = [setting for setting in client.admin.settings_in_force() if setting.name == name]
    print_result(stored.as_dict(), f"{name} = {_described(stored)}", as_json=as_json)
    if stored.source not in ("stored", "default"):
        note(f"the stored value has no effect here, because this source overrides it: {stored.source}")


def _described(setting: "SettingInForce") -> str:
    return sanitize_line(f"{setting.value} ({setting.source})")


def _wanted(rows: "Iterable[SettingInForce]", *, changed: bool) -> "list[SettingInForce]":
    return [row for row in rows if not changed or row.source != "default"]


def _place(setting: "SettingInForce") -> tuple[bool, bool, bool, str]:
    """Order groups: how to connect, everyday, the others by name, and what earlier systems did."""
    group = setting.group
    return group != "connection", group != "everyday", group == "earlier", group


def _print_table(rows: "Iterable[SettingInForce]", *, changed: bool) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("setting", no_wrap=True)
    for heading in ("value", "source", "unit"):
        table.add_column(heading, overflow="fold")
    table.add_column("meaning", overflow="fold", ratio=1)
    group = None
    for row in sorted(_wanted(rows, changed=changed), key=_place):
        if row.group != group:
            group = row.group
            table.add_section()
            table.add_row(Text(group, style="bold"))
        cells = (row.value, row.source, row.unit, row.description)
        table.add_row(
            row.name, *(Text("-" if cell in (None, "") else sanitize_line(str(cell))) for cell in cells)
        )
    terminal().print(table)
