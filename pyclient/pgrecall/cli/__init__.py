"""The command line `pgrecall`."""

import io
import sys
from collections.abc import Callable
from typing import Annotated

import typer

from .briefing import briefing
from .config import config
from .curate import curate, duplicates
from .daemon import embedder
from .doctor import doctor
from .erase import erase, scrub
from .explain import explain
from .facts import facts
from .failures import failures
from .graph import graph
from .import_from import import_from
from .mcp import mcp
from .memories import export, import_, remember
from .offline import offline
from .reembed import reembed
from .schema import migrate
from .search import recall, timeline
from .server import down, dsn, up
from .shard import shard
from .status import status
from .ui import ui

__all__ = ["app", "main"]

app = typer.Typer(
    name="pgrecall",
    help="Long-term memory for agents inside PostgreSQL.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
# In the order of `--help`: the way one meets them.
_COMMANDS: dict[str, Callable[..., None]] = {
    "up": up,
    "down": down,
    "dsn": dsn,
    "migrate": migrate,
    "remember": remember,
    "import": import_,
    "export": export,
    "erase": erase,
    "scrub": scrub,
    "embedder": embedder,
    "reembed": reembed,
    "recall": recall,
    "explain": explain,
    "timeline": timeline,
    "facts": facts,
    "briefing": briefing,
    "duplicates": duplicates,
    "mcp": mcp,
    "status": status,
    "doctor": doctor,
    "ui": ui,
}
for name, command in _COMMANDS.items():
    app.command(name)(command)
app.add_typer(
    import_from, name="import-from", help="Import the memories of other programs, as often as wanted."
)
app.add_typer(
    failures, name="failures", help="Print the memories that were given up, or have them tried again."
)
app.add_typer(config, name="config")
app.add_typer(
    curate, name="curate", help="Supersede what is said twice or no longer true, or take that back."
)
app.add_typer(
    graph, name="graph", help="Build the concept graph, look at it, correct it, write it to a file."
)

app.add_typer(offline, name="offline", help="Recall and write without a server, in a copy of a namespace.")
app.add_typer(shard, name="shard", help="Spread namespaces over several databases, behind a router.")


def _print_version(wanted: bool) -> None:
    if wanted:
        from pgrecall import __version__

        typer.echo(f"pgrecall {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Long-term memory for agents inside PostgreSQL."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line.

    Args:
        arguments: The words after `pgrecall`; None takes the process's own.

    Raises:
        SystemExit: Always: 0 if all went well, 1 if not, 2 if the command was not understood.
    """
    from pgrecall.errors import PgrecallError

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A memory may hold characters the terminal cannot show; that must not end the command.
            stream.reconfigure(errors="backslashreplace")
    try:
        app(args=arguments, prog_name="pgrecall")
    except PgrecallError as error:
        typer.secho(f"error: {_collapse_spaces(error.message)}", err=True, fg="red")
        if error.hint is not None:
            typer.echo(f"hint: {_collapse_spaces(error.hint)}", err=True)
        raise SystemExit(1) from None


def _collapse_spaces(text: str) -> str:
    return " ".join(text.split())
