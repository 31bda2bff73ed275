"""`pgrecall agent`: set coding agents up, and undo that."""

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .common import confirm, echo, note, print_error
from .hook import Agent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgrecall.contrib.agents import Change

agent = typer.Typer(no_args_is_help=True)

# As the table has it: no database is asked here. A test compares them.
_LONGEST_NAMESPACE = 200

Which = Annotated[Agent, typer.Argument(help="The agent.", show_default=False)]
Project = Annotated[
    bool, typer.Option("--project", help="In the current folder, for all who work on it, not for this user.")
]
PrintOnly = Annotated[bool, typer.Option("--print", help="Print the changes and make none.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@agent.command()
def install(
    which: Which,
    project: Project = False,
    namespace: Annotated[
        str | None,
        typer.Option("--namespace", "-n", help="Namespace of the agent; default: as for every command."),
    ] = None,
    print_only: PrintOnly = False,
    yes: Yes = False,
) -> None:
    """Give an agent this memory: its MCP server, recall before a prompt, capture after a turn.

    Prints the changes of its configuration before it makes them. Everything else in the files stays as it is.
    """
    from pgrecall.contrib.agents import adapter, apply, planned_install

    if namespace is not None:
        _check_namespace(namespace)
    folder = Path.cwd() if project else None
    options = [] if namespace is None else ["--namespace", namespace]
    found = adapter(which.value, project=folder, program=_program(project), options=options)
    changes = planned_install(which.value, found, folder)
    if not changes:
        echo(f"{found.title} is set up")
        return
    _show(changes)
    if print_only:
        return
    if not yes:
        confirm(
            f"Change {len(changes)} of the files of {found.title}?",
            found=f"there are changes for {found.title}",
            verb="make them",
            can_try=False,
        )
    apply(changes)
    echo(f"{found.title} is set up. {found.note}")
    for variable in ("PGRECALL_DSN", "PGRECALL_DATA_DIR"):
        if os.environ.get(variable):
            note(f"{variable} is not written there: set it where the agent starts, or in the settings file")


@agent.command()
def uninstall(
    which: Which, project: Project = False, print_only: PrintOnly = False, yes: Yes = False
) -> None:
    """Undo `pgrecall agent install`: a file that nobody has changed since is as before, byte by byte."""
    from pgrecall.contrib.agents import apply, planned_uninstall
    from pgrecall.errors import PgrecallError

    changes, faults = planned_uninstall(which.value, Path.cwd() if project else None)
    if not changes and not faults:
        echo(f"{which.value} was not set up by pgrecall")
        return
    _show(changes)
    if not yes and changes and not print_only:
        confirm(
            f"Change {len(changes)} of the files of {which.value}?",
            found=f"there are changes for {which.value}",
            verb="make them",
            can_try=False,
        )
    for change in [] if print_only else changes:
        try:
            apply([change])
        except PgrecallError as error:
            faults.append(error)
            continue
        if change.was_edited:
            note(f"{change.path} had been changed since: only the entries of pgrecall are gone")
        else:
            echo(f"{change.path} is as it was")
    for fault in faults[:-1]:
        print_error(fault)
    if faults:
        raise faults[-1]


def _check_namespace(name: str) -> None:
    """Refuse a name that no namespace can have or no line can hold: a hook would fail in silence."""
    from pgrecall.errors import InvalidInput

    if not name.strip() or len(name) > _LONGEST_NAMESPACE or not name.isprintable():
        raise InvalidInput(
            f"a namespace needs a name of 1 to {_LONGEST_NAMESPACE} visible characters in one line",
            hint="Leave --namespace out to work in that of every command.",
        )


def _program(project: bool) -> list[str]:
    """Return how the agent calls this program: a project's files hold on other machines too."""
    if project:
        return ["pgrecall"]
    called = Path(sys.argv[0])
    found = (
        str(called.absolute()) if called.name == "pgrecall" and called.exists() else shutil.which("pgrecall")
    )
    return [sys.executable, "-m", "pgrecall"] if found is None else [found]


def _show(changes: "Sequence[Change]") -> None:
    from difflib import unified_diff

    for change in changes:
        before, after = (change.before or "").splitlines(), (change.after or "").splitlines()
        new = str(change.path) if change.after is not None else "(deleted)"
        old = str(change.path) if change.before is not None else "(new)"
        for line in unified_diff(before, after, old, new, n=0, lineterm=""):
            echo(line)
