"""Prints what memory knows about a prompt, within a budget of time.

The agent waits for it at each prompt, so it takes the short way: psycopg and the public functions that
`Client.briefing` calls, without the client, whose import would take as long as the database does.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from .hook_log import describe, log_line
from .payload import event_of, read_payload, text_at

if TYPE_CHECKING:
    import psycopg

    from pgrecall.config.session_settings import RequestedSetting

__all__ = ["BUDGET", "Asked", "recall_for", "run_alone"]

BUDGET = "PGRECALL_HOOK_BUDGET_MS"
"""The variable with the budget of hooks that were installed."""

_BUDGET_MS = 300
_MOST_MS = 60_000
_LONGEST_PROMPT = 2000
"""Characters of a prompt that are asked with: the rest is more often a pasted file than a question."""

_WITHOUT_PROMPT = "recent conversations and key facts"


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of the command.

    Attributes:
        namespace: Where to look; None: as for every command.
        budget_ms: Milliseconds after which it prints what it has; None: as `BUDGET` says, or 300.
        max_chars: The longest text, in characters.
        dsn: The database; None: as for every command.
    """

    namespace: str | None = None
    budget_ms: int | None = None
    max_chars: int = 2000
    dsn: str | None = None


def run_alone(options: list[str]) -> None:
    """Run the command in a process of its own, and end that.

    Returns:
        Only if the options need the whole command line to be understood.
    """
    asked = _asked(options)
    if asked is None:
        return
    recall_for(asked)
    # What still runs is late, and tearing the interpreter down would take another 30 ms of the user's time.
    os._exit(0)


def _asked(options: list[str]) -> Asked | None:
    """Read pairs of an option and its value; None if there is anything else."""
    asked = Asked()
    for option, value in zip(options[::2], options[1::2], strict=False):
        match option:
            case "--namespace" | "-n":
                asked = replace(asked, namespace=value)
            case "--dsn":
                asked = replace(asked, dsn=value)
            case _:
                return None
    return None if len(options) % 2 else asked


def recall_for(asked: Asked) -> None:
    """Read what the agent says from standard input, and print memories in the form that it takes.

    Never raises an error: whatever fails is a line in the log.
    """
    budget = _BUDGET_MS if asked.budget_ms is None else asked.budget_ms
    configured = os.environ.get(BUDGET, "")
    if asked.budget_ms is None and configured.isdecimal():
        budget = _MOST_MS if len(configured) > len(str(_MOST_MS)) else min(int(configured), _MOST_MS)
    until = monotonic() + budget / 1000
    payload: dict[str, Any] = {}
    found: list[str] = []

    def work() -> None:
        try:
            payload.update(read_payload())
            _recall(asked, text_at(payload, "prompt"), until, found)
        except Exception as error:  # noqa: BLE001 - no error may stop the user
            log_line("recall", describe(error))

    try:
        # No agent that leaves the input open, lost network or slow import may keep the user waiting.
        worker = Thread(target=work, daemon=True)
        worker.start()
        worker.join(max(0.0, until - monotonic()))
        if worker.is_alive() and not found:
            log_line("recall", f"no answer within {budget} ms")
        elif found and found[-1]:
            # Flushed here, where an error of the agent's pipe is caught. On a closed one nothing is printed.
            print(_formed(found[-1], event_of(payload)), flush=True)
    except Exception as error:  # noqa: BLE001 - no error may stop the user
        log_line("recall", describe(error))


def _formed(text: str, event: str | None) -> str:
    """Return a text as the agent that sent an event takes it; as it is if a person asked."""
    if event is None:
        from pgrecall.formatting import printable

        return printable(text)
    if event[0].islower():
        # Cursor's events begin with a small letter.
        return json.dumps({"additional_context": text})
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})


def _recall(asked: Asked, prompt: str | None, until: float, found: list[str]) -> None:
    """Append a briefing by words and concepts, and then one by meaning too, if there is time.

    The first call of a session takes longest. An embedder works on the prompt meanwhile, so the second
    briefing is no later than it would be alone.
    """
    import psycopg

    from pgrecall.arguments import checked_arguments
    from pgrecall.config import file as settings_file
    from pgrecall.config.session_settings import requested_settings
    from pgrecall.config.settings import load
    from pgrecall.connecting import open_connection
    from pgrecall.errors import error_from

    settings = load()
    requested = requested_settings(settings_file.read())
    question = (prompt or _WITHOUT_PROMPT)[:_LONGEST_PROMPT]
    arguments = checked_arguments(
        query=question, max_chars=asked.max_chars, namespace=asked.namespace or settings.namespace
    )
    try:
        with open_connection(psycopg.Connection, asked.dsn or settings.dsn or _embedded()) as connection:
            local = _accepted(connection, requested) if requested else {}
            vector, model, id = _request(connection, question, until)
            if vector is None:
                found.append(_briefing(connection, arguments, local, until))
                vector = None if id is None else _answer(connection, id, until)
            if vector is not None:
                arguments["query_vec"], local["pgrecall.query_model"] = vector, model
                found.append(_briefing(connection, arguments, local, until))
    except psycopg.Error as error:
        raise error_from(error) from error


def _request(connection: psycopg.Connection[Any], question: str, until: float) -> tuple[Any, Any, Any]:
    """Ask an embedder daemon for the embedding: the cached one with its model, or the id to wait with."""
    from pgrecall._sync.cursor import is_read_only
    from pgrecall.arguments import call

    if is_read_only(connection):
        return None, None, None
    [(id, vector, model, fault, pause, *_)] = connection.execute(
        *call("pgrecall.request_query_embedding", {"query": question})
    )
    # An embedder that is not notified looks only so often.
    is_late = pause is not None and monotonic() + pause > until
    return vector, model, None if fault is not None or is_late else id


def _answer(connection: psycopg.Connection[Any], id: int, until: float) -> Any:
    """Wait for an embedder's answer; None if it does not come in time."""
    from pgrecall.arguments import call

    waiting = call("pgrecall.wait_query_embedding", {"id": id, "seconds": max(0.0, until - monotonic())})
    return next((answer for answer, *_ in connection.execute(*waiting)), None)


def _briefing(
    connection: psycopg.Connection[Any], arguments: dict[str, Any], local: dict[str, str], until: float
) -> str:
    from pgrecall._sync.cursor import set_local
    from pgrecall.arguments import call
    from pgrecall.concurrency import STATEMENT_TIMEOUT

    with connection.transaction():
        set_local(connection, local)
        connection.execute(STATEMENT_TIMEOUT, [max(1, int(1000 * (until - monotonic())))])
        [(text,)] = connection.execute(*call("public.recall_briefing", arguments))
        return str(text)


def _accepted(connection: psycopg.Connection[Any], requested: tuple[RequestedSetting, ...]) -> dict[str, str]:
    """Return those of environment and settings file that are settings of the database, by full name."""
    from psycopg.rows import dict_row

    from pgrecall.arguments import call
    from pgrecall.config.session_settings import accept_settings

    with connection.cursor(row_factory=dict_row) as cursor:
        known = cursor.execute(*call("pgrecall.settings_list", {})).fetchall()
    return {f"pgrecall.{name}": one.value for name, one in accept_settings(requested, known).items()}


def _embedded() -> str:
    """Return the connection string of the embedded server.

    Raises:
        PgrecallError: It does not run: to start it takes longer than a prompt may wait.
    """
    from pgrecall.errors import PgrecallError
    from pgrecall.server import EmbeddedServer

    server = EmbeddedServer()
    if not server.running():
        raise PgrecallError(
            "no database is named, and the embedded server does not run",
            hint="Run `pgrecall up`, or set PGRECALL_DSN.",
        )
    return server.dsn()
