"""`pgrecall import claude-code | codex | chatgpt | claude`: conversations, each message once."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgrecall.formatting import counted

from .common import AsJson, DataDir, Dsn, Namespace, connection_string, echo, note, print_json
from .import_run import progress, rejections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pgrecall.contrib.importers import Rejected
    from pgrecall.contrib.transcripts import Conversation

RejectedFile = Annotated[
    Path | None, typer.Option("--rejected", help="File for what is rejected, as JSON Lines.")
]
Transcripts = Annotated[
    Path | None,
    typer.Argument(help="A transcript, or a folder of them; default: all of this user.", show_default=False),
]
Export = Annotated[
    Path, typer.Argument(help="The export: its ZIP archive, that unpacked, or conversations.json in it.")
]


@dataclass(frozen=True, slots=True)
class _Way:
    """The options of every import here: where to, and how it is reported."""

    namespace: str | None
    rejected: Path | None
    as_json: bool
    dsn: str | None
    data_dir: Path | None


def claude_code(
    path: Transcripts = None,
    namespace: Namespace = None,
    rejected: RejectedFile = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import sessions of Claude Code: what was said, which tools were called and on which files."""
    folder = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "projects"
    _import_transcripts("claude-code", path or folder, _Way(namespace, rejected, as_json, dsn, data_dir))


def codex(
    path: Transcripts = None,
    namespace: Namespace = None,
    rejected: RejectedFile = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import sessions of Codex: what was said, which tools were called and on which files."""
    folder = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") / "sessions"
    _import_transcripts("codex", path or folder, _Way(namespace, rejected, as_json, dsn, data_dir))


def chatgpt(
    path: Export,
    namespace: Namespace = None,
    rejected: RejectedFile = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import the data export of ChatGPT: of each conversation the branch that was shown last."""
    _import_export("chatgpt", path, _Way(namespace, rejected, as_json, dsn, data_dir))


def claude(
    path: Export,
    namespace: Namespace = None,
    rejected: RejectedFile = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import the data export of Claude."""
    _import_export("claude", path, _Way(namespace, rejected, as_json, dsn, data_dir))


def _import_transcripts(agent: str, path: Path, way: _Way) -> None:
    from pgrecall.contrib.importers import Rejected
    from pgrecall.contrib.transcripts.agents import READERS
    from pgrecall.errors import InvalidInput, PgrecallError

    if not path.exists():
        raise InvalidInput(f"there is no {path}", hint="Name a transcript, or the folder where they are.")
    unreadable: list[OSError] = []
    files = sorted(_transcripts(path, unreadable)) if path.is_dir() else [path]

    def conversations(reject: "Callable[[Rejected], None]") -> "Iterator[Conversation | None]":
        for failure in unreadable:
            reject(Rejected(failure.filename, str(failure.strerror)))
        for file in files:
            try:
                yield READERS[agent](file, reject)
            except PgrecallError as error:
                reject(Rejected(file.name, error.message))
                yield None

    _run(agent, conversations, len(files), way)


def _transcripts(folder: Path, unreadable: list[OSError]) -> "Iterator[Path]":
    """Yield the transcripts below a folder; folders that cannot be read go to `unreadable`."""
    for above, _, names in os.walk(folder, onerror=unreadable.append):
        yield from (Path(above) / name for name in names if name.endswith(".jsonl"))


def _import_export(agent: str, path: Path, way: _Way) -> None:
    from pgrecall.contrib.transcripts.exports import EXPORTS, export_conversations

    _run(agent, lambda reject: export_conversations(path, EXPORTS[agent], reject), None, way)


def _run(
    agent: str,
    conversations: "Callable[[Callable[[Rejected], None]], Iterator[Conversation | None]]",
    total: int | None,
    way: _Way,
) -> None:
    """Store conversations and print the report.

    Raises:
        typer.Exit: 1 if anything was rejected.
    """
    from pgrecall import Client
    from pgrecall.contrib.transcripts import store_conversation

    counts = {"conversations": 0, "messages": 0, "stored": 0, "present": 0, "rejected": 0, "skipped": 0}
    with (
        Client(connection_string(way.dsn, way.data_dir), pool_max=1) as client,
        rejections(way.rejected) as tell,
    ):

        def reject(one: "Rejected") -> None:
            counts["rejected"] += 1
            tell(one)

        with progress("conversations", total) as advance:
            for conversation in conversations(reject):
                if conversation is not None:
                    done = store_conversation(
                        client, conversation, agent=agent, reject=reject, namespace=way.namespace
                    )
                    counts["conversations"] += bool(conversation.messages)
                    counts["messages"] += len(conversation.messages)
                    counts["stored"] += done.stored
                    counts["present"] += done.present
                    counts["skipped"] += conversation.skipped
                advance(1)
    if way.as_json:
        print_json(counts)
    else:
        echo(
            f"{counted(counts['conversations'], 'conversation')}, {counted(counts['messages'], 'message')}: "
            f"{counts['stored']} stored, {counts['present']} already there"
        )
        if counts["skipped"]:
            note(f"{counted(counts['skipped'], 'line')} or blocks skipped: what programs tell themselves")
        if counts["rejected"]:
            echo(f"{counts['rejected']} rejected", err=True)
    if counts["rejected"]:
        raise typer.Exit(1)
