"""`pgrecall hook`: what coding agents call. It never fails, and prints nothing but memories."""

from enum import StrEnum
from typing import Annotated

import typer

from .common import DataDir, Dsn, Namespace, connection_string, require_database

hook = typer.Typer(no_args_is_help=True)


class Agent(StrEnum):
    """A coding agent."""

    claude_code = "claude-code"
    codex = "codex"
    cursor = "cursor"
    gemini = "gemini"
    vscode = "vscode"


@hook.command()
def capture(
    agent: Annotated[Agent, typer.Argument(help="Whose transcript it is.")],
    namespace: Namespace = None,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Store what is new in a session's transcript, each turn once.

    Agents call it when a turn or the session ends and before they compact it. Reads the JSON that the agent
    passes on standard input. Errors go to a log: ~/.local/state/pgrecall/hooks.log.
    """
    from pgrecall import Client
    from pgrecall.contrib.hooks.capturing import capture as capture_turns
    from pgrecall.contrib.hooks.hook_log import describe, log_line
    from pgrecall.contrib.hooks.payload import read_payload

    try:
        payload = read_payload()
        require_database(dsn, data_dir)
        with Client(connection_string(dsn, data_dir), pool_max=1) as client:
            done = capture_turns(client, agent.value, payload, namespace=namespace)
        if done.rejected:
            log_line("capture", f"{done.rejected} lines or messages of {agent.value} were rejected")
    except Exception as error:  # noqa: BLE001 - no error may stop the agent
        log_line("capture", describe(error))
