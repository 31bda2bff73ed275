"""`pgrecall import`: from a file, or from another program. Rows with an id are stored once, run after run."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .common import AsJson, DataDir, Dsn, Namespace, connection_string
from .import_files import import_file
from .import_run import To, run
from .import_transcripts import chatgpt, claude, claude_code, codex


class FileOrKind(TyperGroup):
    """A group whose first argument may be a file: `pgrecall import notes.csv` is `import file notes.csv`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the command `file` before what is neither a kind nor a request for help."""
        if args and args[0] not in {*self.commands, *ctx.help_option_names}:
            # "markdwn notes" is a mistyped kind with its source: click names the nearest one.
            has_source = len(args) > 1 and not args[0].startswith("-") and not args[1].startswith("-")
            if not has_source or Path(args[0]).exists():
                args = ["file", *args]
        return super().parse_args(ctx, args)


import_ = typer.Typer(
    cls=FileOrKind, no_args_is_help=True, subcommand_metavar="FILE | KIND [ARGS]...", options_metavar=""
)
import_.command("file")(import_file)
for name, command in {
    "claude-code": claude_code,
    "codex": codex,
    "chatgpt": chatgpt,
    "claude": claude,
}.items():
    import_.command(name)(command)

Prefix = Annotated[
    str | None,
    typer.Option(
        help="Prefix of external ids; default: the kind of source. For a second source of one kind."
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Read everything and print what would happen, without writing.")
]
RejectedFile = Annotated[
    Path | None, typer.Option("--rejected", help="File for the rejected rows, as JSON Lines.")
]
Verify = Annotated[
    bool, typer.Option("--verify/--no-verify", help="Compare the source with the memories afterwards.")
]
SkipDeleted = Annotated[
    bool,
    typer.Option(
        "--skip-deleted", help="Skip rows deleted in the source, instead of storing them as forgotten."
    ),
]
ImportanceMax = Annotated[
    float, typer.Option(min=1e-6, help="The highest importance in the source, such as 10.")
]
SourceDsn = Annotated[
    str | None,
    typer.Option("--from", help="Connection string of the source; default: the database of the memories."),
]
SameModel = Annotated[
    str | None,
    typer.Option(
        help="The model of the embeddings in the source; they are imported if it is the active model."
    ),
]


class Users(StrEnum):
    """What the user_id of mem0 is mapped to."""

    namespace = "namespace"
    tag = "tag"
    metadata = "metadata"


@import_.command()
def sqlite(
    file: Annotated[Path, typer.Argument(help="The SQLite file.")],
    table: Annotated[str, typer.Option(help="The table of memories.")] = "memories",
    importance_max: ImportanceMax = 1.0,
    skip_deleted: SkipDeleted = False,
    namespace: Namespace = None,
    prefix: Prefix = None,
    dry_run: DryRun = False,
    rejected: RejectedFile = None,
    verify: Verify = True,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import the SQLite file of the older memory service.

    Columns that are not fields of a memory go to its metadata. The file is not changed.
    """
    from pgrecall.contrib.importers.sqlite import sqlite_source

    to = To(
        connection_string(dsn, data_dir), namespace, prefix, dry_run, rejected, verify, as_json, skip_deleted
    )
    run(to, lambda _, __: sqlite_source(file, table=table, most=importance_max))


@import_.command()
def jsonl(
    file: Annotated[Path, typer.Argument(help="JSON Lines.")],
    importance_max: ImportanceMax = 1.0,
    skip_deleted: SkipDeleted = False,
    namespace: Namespace = None,
    prefix: Prefix = None,
    dry_run: DryRun = False,
    rejected: RejectedFile = None,
    verify: Verify = True,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import an export of the older memory service: one object per line, with the fields of its table."""
    from pgrecall.contrib.importers.jsonl import jsonl_source

    to = To(
        connection_string(dsn, data_dir), namespace, prefix, dry_run, rejected, verify, as_json, skip_deleted
    )
    run(to, lambda _, __: jsonl_source(file, most=importance_max))


@import_.command()
def table(
    name: Annotated[str, typer.Argument(help="The table, such as public.memories.")],
    source: SourceDsn = None,
    importance_max: ImportanceMax = 1.0,
    skip_deleted: SkipDeleted = False,
    namespace: Namespace = None,
    prefix: Prefix = None,
    dry_run: DryRun = False,
    rejected: RejectedFile = None,
    verify: Verify = True,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import the PostgreSQL table of the older memory service.

    The table is not changed. It may be in the same database, or in the one named by --from.
    """
    from pgrecall.contrib.importers.table import table_source

    to = To(
        connection_string(dsn, data_dir), namespace, prefix, dry_run, rejected, verify, as_json, skip_deleted
    )
    run(to, lambda dsn, _: table_source(source or dsn, name, most=importance_max))


@import_.command()
def mem0(
    collection: Annotated[str, typer.Argument(help="The table of the collection.")] = "mem0",
    source: SourceDsn = None,
    users: Annotated[Users, typer.Option(help="What user_id is mapped to.")] = Users.namespace,
    same_model: SameModel = None,
    namespace: Namespace = None,
    prefix: Prefix = None,
    dry_run: DryRun = False,
    rejected: RejectedFile = None,
    verify: Verify = True,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import a collection of mem0 in pgvector."""
    from pgrecall.contrib.importers.mem0 import mem0_source

    to = To(connection_string(dsn, data_dir), namespace, prefix, dry_run, rejected, verify, as_json)
    run(
        to,
        lambda dsn, dimension: mem0_source(source or dsn, collection, users=users.value, dimension=dimension),
        same_model,
    )


@import_.command()
def langchain(
    collection: Annotated[str, typer.Argument(help="The collection, or the table of PGVectorStore.")],
    source: SourceDsn = None,
    same_model: SameModel = None,
    namespace: Namespace = None,
    prefix: Prefix = None,
    dry_run: DryRun = False,
    rejected: RejectedFile = None,
    verify: Verify = True,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import a collection of langchain-postgres: of PGVector, or of PGVectorStore."""
    from pgrecall.contrib.importers.langchain import langchain_source

    to = To(connection_string(dsn, data_dir), namespace, prefix, dry_run, rejected, verify, as_json)
    run(
        to,
        lambda dsn, dimension: langchain_source(source or dsn, collection, dimension=dimension),
        same_model,
    )


@import_.command()
def git(
    repository: Annotated[Path, typer.Argument(help="Path of the repository.")],
    revision: Annotated[str, typer.Option(help="The commit whose history is imported.")] = "HEAD",
    merges: Annotated[bool, typer.Option("--merges", help="Include merge commits.")] = False,
    namespace: Namespace = None,
    prefix: Prefix = None,
    dry_run: DryRun = False,
    rejected: RejectedFile = None,
    verify: Verify = True,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import the history of a git repository: one memory per commit and per note."""
    from pgrecall.contrib.importers.git import git_source

    to = To(connection_string(dsn, data_dir), namespace, prefix, dry_run, rejected, verify, as_json)
    run(to, lambda _, __: git_source(repository, revision=revision, merges=merges))


@import_.command()
def markdown(
    folder: Annotated[Path, typer.Argument(help="The folder, or one file.")],
    namespace: Namespace = None,
    prefix: Prefix = None,
    dry_run: DryRun = False,
    rejected: RejectedFile = None,
    verify: Verify = True,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Import a folder of Markdown: one memory per section, with the headings above it as its title."""
    from pgrecall.contrib.importers.markdown import markdown_source

    to = To(connection_string(dsn, data_dir), namespace, prefix, dry_run, rejected, verify, as_json)
    run(to, lambda _, __: markdown_source(folder))
