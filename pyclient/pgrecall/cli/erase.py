"""`pgrecall erase` and `pgrecall scrub`: permanent deletion, from tables and from files."""

import re
from typing import TYPE_CHECKING, Annotated

import typer

from pgrecall.filters import Filter
from pgrecall.formatting import counted

from .common import (
    AsJson,
    DataDir,
    Dsn,
    Namespace,
    confirm,
    connection_string,
    echo,
    effective_dsn,
    note,
    print_json,
    print_result,
)
from .filters import UNFILTERED, with_filters

if TYPE_CHECKING:
    from psycopg.errors import Diagnostic

    from pgrecall import Erasure


@with_filters("as_of", "include_superseded")
def erase(
    ids: Annotated[list[int] | None, typer.Argument(metavar="[ID]...", help="Ids of the memories.")] = None,
    whole_namespace: Annotated[
        str | None,
        typer.Option("--whole-namespace", help="Delete this namespace with everything in it instead."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would be deleted, and change nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    namespace: Namespace = None,
    filters: Filter = UNFILTERED,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Delete memories and everything derived from them permanently, and print the receipts.

    Each memory given by its id is deleted in its own transaction; those that pass filters in one, also
    superseded, forgotten and expired ones. This cannot be undone; to hide a memory, forget it instead.
    The free space of the table files keeps remnants until `pgrecall scrub`.
    """
    has_filters = bool(filters.conditions())
    if [bool(ids), whole_namespace is not None, has_filters].count(True) != 1:
        raise typer.BadParameter("pass ids of memories, filters such as --speaker, or --whole-namespace")
    from pgrecall import Client

    receipts: list[Erasure] = []
    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        if not (yes or dry_run):
            number = (
                len(client.erase_many(dry_run=True, namespace=namespace, filter=filters))
                if has_filters
                else len(ids or ())
            )
            what = "this namespace" if whole_namespace is not None else counted(number, "memory")
            is_one = number == 1 or whole_namespace is not None
            confirm(
                f"Delete {what} permanently?",
                found=f"{what} {'matches' if is_one else 'match'}",
                verb=f"erase {'it' if is_one else 'them'}",
            )
        try:
            if whole_namespace is not None:
                receipts.append(client.erase_namespace(whole_namespace, dry_run=dry_run))
            elif has_filters:
                receipts.extend(client.erase_many(dry_run=dry_run, namespace=namespace, filter=filters))
            receipts.extend(client.erase(id, dry_run=dry_run) for id in ids or ())
        finally:
            # Earlier deletions stay committed if a later one fails.
            if as_json:
                print_json([receipt.as_dict() for receipt in receipts])
            else:
                for receipt in receipts:
                    echo(_line(receipt))
    if has_filters and not receipts:
        note("no memory passes these filters")
    elif not dry_run:
        note("the free space of the files keeps remnants: pgrecall scrub removes them")


def scrub(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Rewrite all tables and indexes, so that their files no longer contain deleted rows.

    Requires the owner of the tables. Each table is locked for reads and writes while it is rewritten, and
    needs its own size again on disk. The write-ahead log, backups and standbys are not touched. Fails if
    deleted rows remain that an older transaction may still read; run it again when that has ended.
    """
    if not yes:
        confirm(
            "Rewrite all tables? Recall waits until it is done.",
            found="recall waits while all tables are rewritten",
            verb="rewrite them",
            can_try=False,
        )
    import psycopg

    from pgrecall.connecting import open_connection
    from pgrecall.errors import PermissionDenied, PgrecallError, error_from

    kept: list[int] = []
    skipped: list[str] = []

    def listen(diagnostic: "Diagnostic") -> None:
        if diagnostic.severity_nonlocalized == "WARNING":
            skipped.append(diagnostic.message_primary or "")
        kept.append(_kept_rows(diagnostic))

    try:
        with open_connection(psycopg.Connection, effective_dsn(dsn, data_dir)) as conn:
            conn.add_notice_handler(listen)
            statements = conn.execute("SELECT pgrecall.scrub_statements()").fetchall()
            for (statement,) in statements:
                conn.execute(statement)
    except psycopg.Error as error:
        raise error_from(error) from error
    if skipped:
        # PostgreSQL only warns those who do not own a table.
        raise PermissionDenied(
            f"{counted(len(skipped), 'table')} not rewritten: {skipped[0]}",
            hint="Run `pgrecall scrub` as the owner of the tables, or as a superuser.",
        )
    if remaining := sum(kept):
        raise PgrecallError(
            f"{counted(remaining, 'deleted row')} may still be read by an older transaction and "
            f"{'remains' if remaining == 1 else 'remain'} in the files",
            sqlstate="55006",
            hint="Run `pgrecall scrub` again when the transaction has ended. pg_stat_activity "
            "(backend_xmin), pg_prepared_xacts and pg_replication_slots (xmin) show the oldest.",
        )
    print_result(
        {"tables": len(statements)}, f"{counted(len(statements), 'table')} rewritten", as_json=as_json
    )


def _kept_rows(diagnostic: "Diagnostic") -> int:
    """The number of dead rows that VACUUM FULL had to keep; its detail begins with it, in every language."""
    number = re.search(r"\d+", diagnostic.message_detail or "")
    return 0 if number is None else int(number[0])


def _line(receipt: "Erasure") -> str:
    what = f"namespace {receipt.namespace_id}" if receipt.memory_id is None else f"memory {receipt.memory_id}"
    number = "dry run" if receipt.receipt is None else f"receipt {receipt.receipt}"
    counts = ", ".join(f"{table} {rows}" for table, rows in sorted(receipt.counts.items()))
    return f"{number}: {what}: {counts}"
