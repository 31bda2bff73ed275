"""Options, parsing and printing that the commands share.

This module and the commands import only typer at import time. Everything else is imported when a command
runs, so that `pgrecall --help` is fast.
"""

import codecs
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, cast

import typer

from pgrecall.formatting import escape_controls, printable
from pgrecall.local_zone import time_zone

if TYPE_CHECKING:
    from rich.console import Console

    from pgrecall import Client
    from pgrecall.errors import PgrecallError
    from pgrecall.query.embedding import Embed as EmbedBy
    from pgrecall.query.expansion import Expand


class ReadNamespaces(TypedDict, total=False):
    """The namespaces of a call that may read several, as its arguments."""

    namespace: str | None
    namespaces: list[str]


EXPAND_KEY = "PGRECALL_EXPAND_API_KEY"
_EMBED_SECONDS = 2.0

Dsn = Annotated[
    str | None,
    typer.Option(
        "--dsn",
        help="Connection string; default: PGRECALL_DSN or the settings file, else the embedded server.",
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Folder of the embedded server; default: PGRECALL_DATA_DIR."),
]
Namespace = Annotated[
    str | None, typer.Option("--namespace", "-n", help="Namespace; default: PGRECALL_NAMESPACE.")
]
Namespaces = Annotated[
    list[str] | None,
    typer.Option(
        "--namespace", "-n", help="Namespace; repeat it to read several; default: PGRECALL_NAMESPACE."
    ),
]
NamespaceWeights = Annotated[
    list[str] | None,
    typer.Option(
        "--namespace-weight",
        help="NAME=NUMBER: multiply the scores of one of several namespaces, 0 to 1. Repeatable.",
    ),
]
Embed = Annotated[
    bool | None,
    typer.Option(
        "--embed/--no-embed",
        help="Embed the question, or recall by words and concepts only; default: embed if a model or an "
        "embedder is available.",
        show_default=False,
    ),
]
HowMany = Annotated[
    int | None,
    typer.Option(
        "-k",
        "--k",
        min=1,
        max=1000,
        help="How many memories at most; default: the setting k.",
        show_default=False,
    ),
]
ByDaemon = Annotated[
    bool,
    typer.Option(
        "--embed-by-daemon", help="Let an embedder daemon embed the question, through the database."
    ),
]
Private = Annotated[
    bool, typer.Option("--private", help="Do not send the question to an embedder: it is stored nowhere.")
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="NAME=VALUE: a setting of this recall, such as rrf_k=60. Repeatable."),
]
ExpandBy = Annotated[
    str | None,
    typer.Option(
        "--expand",
        help="Query expansion: aliases, llm (stored answers), off, or the URL of a language model (http…).",
    ),
]
ExpandModel = Annotated[
    str | None, typer.Option(help=f"Name of the model at the URL of --expand; API key: {EXPAND_KEY}.")
]
EfSearch = Annotated[
    int | None, typer.Option("--ef-search", min=1, max=1000, help="hnsw.ef_search for this recall.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def connection_string(dsn: str | None, data_dir: Path | None) -> str | None:
    """Return the connection string of --dsn or --data-dir; None leaves it to the environment.

    Starts the embedded server of --data-dir if it is not running. Only `pgrecall up` makes one, as a path may
    be mistyped.

    Raises:
        PgrecallError: There is no embedded server, or it cannot be started.
    """
    if dsn is not None and data_dir is not None:
        raise typer.BadParameter("--dsn and --data-dir cannot be combined")
    if data_dir is None:
        return dsn
    from .embedded import existing_server

    with server_errors():
        return existing_server(data_dir).up()


def require_database(dsn: str | None, data_dir: Path | None) -> None:
    """Refuse to begin without a database: a command that serves others never makes one unasked.

    Raises:
        PgrecallError: No database is named, and there is no embedded server yet.
    """
    from pgrecall.config.settings import load

    from .embedded import existing_server

    if dsn is None and data_dir is None and load().dsn is None:
        with server_errors():
            existing_server(None)


def effective_dsn(dsn: str | None, data_dir: Path | None) -> str:
    """Return the connection string to use, from the options or the environment.

    Raises:
        ConnectionFailed: The embedded server cannot be started.
    """
    from pgrecall.dsn import resolve

    return resolve(connection_string(dsn, data_dir), None, None).dsn


def require_namespace(client: "Client", namespace: str | None) -> None:
    """Refuse a namespace that is not there, where nothing was found in it.

    Args:
        client: A client of the database.
        namespace: That of the command; None takes the configured one, and passes without one.

    Raises:
        UnknownNamespace: It is not there, or not for this role.
    """
    from pgrecall.config.settings import load
    from pgrecall.errors import UnknownNamespace

    asked = namespace or load().namespace
    if asked is not None and asked not in {one.name for one in client.admin.namespaces()}:
        raise UnknownNamespace(
            f'there is no namespace "{asked}"', hint="`pgrecall namespace list` lists those that there are."
        )


@contextmanager
def server_errors() -> Iterator[None]:
    """Turn the embedded server's errors into pgrecall's."""
    from pgrecall.errors import PgrecallError
    from pgrecall.server import ServerError

    try:
        yield
    except ServerError as error:
        raise PgrecallError(str(error), hint=error.hint) from error


def moment(option: str, value: str | None) -> datetime | None:
    """Read a time from an option: ISO 8601, today or yesterday, in the zone of the sessions."""
    if value is None:
        return None
    zone = time_zone(os.environ.get("PGTZ", ""))
    days = {"today": 0, "yesterday": 1}.get(value.casefold())
    if days is not None:
        now = datetime.now(zone).astimezone(zone)
        return now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days)
    try:
        found = datetime.fromisoformat(value)
        return found if zone is None or found.tzinfo is not None else found.replace(tzinfo=zone)
    except ValueError:
        raise typer.BadParameter(
            f"{value!r} is not an ISO 8601 time such as 2026-05-17, today or yesterday", param_hint=option
        ) from None


def json_object(option: str, value: str | None) -> dict[str, Any] | None:
    """Read a JSON object from an option."""
    if value is None:
        return None
    import json

    try:
        parsed = json.loads(value)
    except json.JSONDecodeError as error:
        raise typer.BadParameter(f"not JSON: {error.msg}", param_hint=option) from None
    if not isinstance(parsed, dict):
        raise typer.BadParameter("not a JSON object", param_hint=option)
    return parsed


def call_settings(assignments: list[str] | None) -> dict[str, str] | None:
    """Read the assignments of --set."""
    return None if assignments is None else _assigned(assignments, "--set")


def namespace_weights(assignments: list[str] | None) -> dict[str, float] | None:
    """Read the assignments of --namespace-weight."""
    if assignments is None:
        return None
    option = "--namespace-weight"
    try:
        return {name: float(value) for name, value in _assigned(assignments, option).items()}
    except ValueError:
        raise typer.BadParameter(f"a weight of {assignments} is not a number", param_hint=option) from None


def _assigned(assignments: list[str], option: str) -> dict[str, str]:
    chosen = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise typer.BadParameter(f"{assignment!r} is not NAME=VALUE", param_hint=option)
        chosen[name] = value
    return chosen


def read_namespaces(names: list[str] | None) -> ReadNamespaces:
    """Return the arguments of a call that reads the namespaces of --namespace, or its default."""
    if names is None or len(names) < 2:
        return {"namespace": names[0] if names else None}
    return {"namespaces": names}


def who_embeds(embed: bool | None, by_daemon: bool) -> "EmbedBy":
    """Read --embed, --no-embed and --embed-by-daemon."""
    if by_daemon and embed is not None:
        raise typer.BadParameter("--embed-by-daemon cannot be combined with --embed or --no-embed")
    return "daemon" if by_daemon else embed


def embed_seconds() -> float:
    """Return for how long a command waits for an embedder: loading the model would take longer."""
    from pgrecall.config.settings import load

    configured = load().embed_wait
    return _EMBED_SECONDS if configured is None else configured


def who_expands(expand: str | None, model: str | None) -> "Expand":
    """Read --expand and --expand-model."""
    if expand is None or not expand.startswith(("http://", "https://")):
        if model is not None:
            raise typer.BadParameter("--expand-model needs the URL of a language model in --expand")
        return cast("Expand", expand)  # the client refuses an invalid value
    if model is None:
        raise typer.BadParameter("--expand with a URL needs --expand-model")
    from pgrecall.query.expansion import LlmExpander

    return LlmExpander(expand, model, api_key_env=EXPAND_KEY if os.environ.get(EXPAND_KEY) else None)


def echo(text: str = "", *, err: bool = False, nl: bool = True, **style: Any) -> None:
    """Print a text. All output but JSON, tables and files goes through here.

    Args:
        text: Lines of text; control and invisible characters are left out, whoever wrote them.
        err: Whether to print on stderr.
        nl: Whether a line break follows.
        style: Colours, as click.style takes them.
    """
    typer.secho(printable(text), err=err, nl=nl, **style)


def print_error(error: "PgrecallError") -> None:
    """Print an error and its hint."""
    from pgrecall.command_line_hints import command_line_hint

    echo(f"error: {_collapse_spaces(error.message)}", err=True, fg="red")
    if error.hint is not None:
        echo(f"hint: {_collapse_spaces(command_line_hint(error.hint))}", err=True)


def _collapse_spaces(text: str) -> str:
    return " ".join(text.split())


def terminal(*, stderr: bool = False, highlight: bool = True) -> "Console":
    """Return a console for tables and progress bars, which leaves out what `echo` does."""
    from .console import CleanConsole

    return CleanConsole(stderr=stderr, highlight=highlight)


def print_json(value: object) -> None:
    """Print one JSON value and nothing else."""
    import json

    plain = "utf" not in (sys.stdout.encoding or "").lower()
    typer.echo(escape_controls(json.dumps(value, ensure_ascii=plain)))


def print_result(value: object, text: str, *, as_json: bool) -> None:
    """Print what a command did: one JSON value, or a sentence."""
    if as_json:
        print_json(value)
    else:
        echo(text)


def confirm(question: str, *, found: str, verb: str, can_try: bool = True) -> None:
    """Ask on a terminal whether to go on.

    Args:
        question: The question.
        found: What it is about, for the error.
        verb: What --yes does to it.
        can_try: Whether the command has --dry-run.

    Raises:
        typer.Abort: The answer is no.
        PgrecallError: Nobody can be asked.
    """
    if not sys.stdin.isatty():
        from pgrecall.errors import PgrecallError

        instead = ", or --dry-run to see what would happen" if can_try else ""
        raise PgrecallError(f"{found}, and nobody can be asked", hint=f"Pass --yes to {verb}{instead}.")
    typer.confirm(question, abort=True, err=True)


def is_dash(file: Path) -> bool:
    """Return whether a file stands for standard input or output."""
    return str(file) == "-"


def note(text: str) -> None:
    """Print a note on stderr."""
    echo(text, err=True, dim=True)


def print_notice(notice: str | None) -> None:
    """Print what a result says about itself, if anything."""
    if notice is not None:
        from pgrecall.command_line_hints import command_line_hint

        note(command_line_hint(notice))


def given_text(text: str) -> str:
    """Return a text from the command line, or standard input for -."""
    return read_input() if text == "-" else text


def read_input() -> str:
    """Read a text from standard input: UTF-8, or UTF-16 with a byte order mark, which is left out.

    Raises:
        InvalidInput: It is in another encoding.
    """
    raw = sys.stdin.buffer.read()
    is_wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return raw.decode("utf-16" if is_wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        from pgrecall.errors import InvalidInput

        raise InvalidInput(
            f"standard input is not UTF-8: byte 0x{raw[error.start]:02x} at {error.start}",
            hint="Convert it, such as with `iconv -f latin1 -t utf-8`.",
        ) from None
