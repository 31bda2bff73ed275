"""`pgrecall hook`: what coding agents call. It never fails, and prints nothing but memories."""

from enum import StrEnum
from typing import Annotated

import typer

from pgrecall.formatting import counted

from .common import DataDir, Dsn, Namespace, connection_string, require_database

hook = typer.Typer(no_args_is_help=True)

# Longer than the budget of a recall: no prompt waits for it. An agent may leave the input open for ever.
_INPUT_SECONDS = 5.0


class Agent(StrEnum):
    """A coding agent."""

    claude_code = "claude-code"
    codex = "codex"
    cursor = "cursor"
    gemini = "gemini"
    vscode = "vscode"


@hook.command()
def recall(
    namespace: Namespace = None,
    budget_ms: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=60_000,
            help="Milliseconds after which it prints what it has; default: PGRECALL_HOOK_BUDGET_MS, or 300.",
            show_default=False,
        ),
    ] = None,
    max_chars: Annotated[
        int, typer.Option(min=200, max=100_000, help="Maximum length of the text in characters.")
    ] = 2000,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Print memories and facts about a prompt, for the agent's context.

    Agents call it before each prompt. Reads the JSON that the agent passes on standard input. Errors go to a
    log: ~/.local/state/pgrecall/hooks.log.
    """
    from pgrecall.contrib.hooks.recalling import Asked, recall_for

    recall_for(Asked(namespace, budget_ms, max_chars, connection_string(dsn, data_dir)))


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
        payload = read_payload(_INPUT_SECONDS)
        require_database(dsn, data_dir)
        with Client(connection_string(dsn, data_dir), pool_max=1) as client:
            done = capture_turns(client, agent.value, payload, namespace=namespace)
        if done.rejected:
            log_line("capture", f"{counted(done.rejected, 'message')} or lines of {agent.value} rejected")
    except Exception as error:  # noqa: BLE001 - no error may stop the agent
        log_line("capture", describe(error))
