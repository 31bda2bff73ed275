"""`pgrecall erase` and `pgrecall scrub`: what is to be gone for good, in tables and in files."""

from typing import TYPE_CHECKING, Annotated

import typer

from .common import AsJson, DataDir, Dsn, connection_string, effective_dsn, note, print_json

if TYPE_CHECKING:
    from pgrecall import Erasure


def erase(
    ids: Annotated[list[int] | None, typer.Argument(metavar="[ID]...", help="The memories.")] = None,
    whole_namespace: Annotated[
        str | None, typer.Option("--whole-namespace", help="This namespace with all that is in it, instead.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would go, and change nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Delete memories and all that was derived from them, for good, and print the receipts.

    Each memory in a transaction of its own. It cannot be taken back: what only is to be found no more is
    forgotten instead. Free space of files keeps remnants until `pgrecall scrub`.
    """
    if bool(ids) == (whole_namespace is not None):
        raise typer.BadParameter("pass ids of memories, or --whole-namespace")
    if not (yes or dry_run):
        what = "this namespace" if whole_namespace is not None else f"{len(ids or ())} memories"
        typer.confirm(f"Delete {what} for good?", abort=True, err=True)
    from pgrecall import Client

    receipts: list[Erasure] = []
    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        try:
            if whole_namespace is not None:
                receipts.append(client.erase_namespace(whole_namespace, dry_run=dry_run))
            receipts.extend(client.erase(id, dry_run=dry_run) for id in ids or ())
        finally:
            # What was done before an error was done.
            if as_json:
                print_json([receipt.as_dict() for receipt in receipts])
            else:
                for receipt in receipts:
                    typer.echo(_line(receipt))
    if not dry_run:
        note("remnants in the free space of files: pgrecall scrub")


def scrub(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Rewrite all tables and indexes, so that no file of theirs holds what was deleted.

    For the owner of the tables. A table can be neither read nor written meanwhile, and needs its size once
    more on the disk. It does nothing about the write-ahead log, backups and standbys.
    """
    if not yes:
        typer.confirm("Rewrite all tables? Recall waits meanwhile.", abort=True, err=True)
    import psycopg

    from pgrecall.errors import error_from

    try:
        with psycopg.connect(effective_dsn(dsn, data_dir), autocommit=True) as conn:
            statements = conn.execute("SELECT pgrecall.scrub_statements()").fetchall()
            for (statement,) in statements:
                conn.execute(statement)
    except psycopg.Error as error:
        raise error_from(error) from error
    typer.echo(f"{len(statements)} tables rewritten")


def _line(receipt: "Erasure") -> str:
    what = f"namespace {receipt.namespace_id}" if receipt.memory_id is None else f"memory {receipt.memory_id}"
    number = "dry run" if receipt.receipt is None else f"receipt {receipt.receipt}"
    counts = ", ".join(f"{table} {rows}" for table, rows in sorted(receipt.counts.items()))
    return f"{number}: {what}: {counts}"
