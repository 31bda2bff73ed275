"""The commands, and how a command line is run."""

from collections.abc import Callable
from functools import cache
from typing import Annotated

import typer
from typer.main import get_command

from .agent import agent
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
from .hook import hook
from .imports import import_
from .learn import feedback, learn
from .manage import count, forget, get, history, list_, restore, sessions, supersede, update
from .mcp import mcp
from .memories import export, remember
from .namespaces import namespace
from .offline import offline
from .page import page
from .psql import psql
from .reembed import reembed
from .schema import migrate
from .search import recall, timeline
from .server import down, dsn, up
from .shard import shard
from .status import status
from .ui import ui

__all__ = ["app", "run"]

app = typer.Typer(
    name="pgrecall",
    help="Long-term memory for agents inside PostgreSQL.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_Help = str | None
# `--help` lists them by these headings, in this order. A group of commands has a help text of its own.
_COMMANDS: dict[str, dict[str, Callable[..., None] | tuple[typer.Typer, _Help]]] = {
    "Remember and recall": {
        "remember": remember,
        "recall": recall,
        "facts": facts,
        "timeline": timeline,
        "briefing": briefing,
        "page": (page, "Keep standing answers of a namespace, and print them."),
        "explain": explain,
    },
    "Manage memories": {
        "get": get,
        "list": list_,
        "count": count,
        "sessions": sessions,
        "history": history,
        "update": update,
        "supersede": supersede,
        "forget": forget,
        "restore": restore,
        "erase": erase,
        "scrub": scrub,
        "duplicates": duplicates,
        "curate": (curate, "Supersede repeated and outdated memories, or undo that."),
        "graph": (graph, "Build, inspect, correct and export the concept graph."),
        "feedback": feedback,
        "learn": learn,
        "namespace": (namespace, "List, create and rename namespaces; how long their memories are kept."),
    },
    "Move in and out": {
        "import": (import_, "Import memories from a file or another program."),
        "export": export,
        "offline": (offline, "Recall and write without a server, in a local copy of a namespace."),
    },
    "Set up and run": {
        "up": up,
        "down": down,
        "dsn": dsn,
        "psql": psql,
        "migrate": migrate,
        "embedder": embedder,
        "reembed": reembed,
        "failures": (failures, "Print the memories that could not be embedded, or retry them."),
        "status": status,
        "doctor": doctor,
        "config": (config, None),
        "shard": (shard, "Distribute namespaces over several databases behind a router."),
    },
    "Serve": {
        "agent": (agent, "Set up Claude Code, Codex, Cursor, Gemini CLI or VS Code with this memory."),
        "mcp": mcp,
        "hook": (hook, "Recall before a prompt and capture after a turn, called by coding agents."),
        "ui": ui,
    },
}
# What follows `psql` is for psql.
_PASSED_ON = {"psql": {"allow_extra_args": True, "ignore_unknown_options": True}}
for heading, commands in _COMMANDS.items():
    for name, command in commands.items():
        if isinstance(command, tuple):
            app.add_typer(command[0], name=name, help=command[1], rich_help_panel=heading)
        else:
            app.command(name, rich_help_panel=heading, context_settings=_PASSED_ON.get(name))(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        from pgrecall import __version__

        from .common import echo

        echo(f"pgrecall {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Long-term memory for agents inside PostgreSQL."""


def run(arguments: list[str] | None) -> None:
    """Run a command line; None takes the arguments of the process.

    Raises:
        SystemExit: Always: 0 on success, 1 on failure, 2 on a usage error.
    """
    from pgrecall.errors import PgrecallError

    from .common import print_error

    try:
        _command()(args=arguments, prog_name="pgrecall")
    except PgrecallError as error:
        print_error(error)
        raise SystemExit(1) from None


@cache
def _command() -> Callable[..., None]:
    """Build the commands, which takes longer than running one: once in a process that runs several."""
    return get_command(app)
