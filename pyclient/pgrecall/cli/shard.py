"""`pgrecall shard`: namespaces distributed over several databases behind a router."""

from typing import Annotated

import typer

from pgrecall.formatting import counted, sanitize_line

from .common import AsJson, Dsn, echo, effective_dsn, note, print_json, print_result

shard = typer.Typer(no_args_is_help=True)
_ROUTER = "The database given by --dsn or PGRECALL_DSN is the router; connect as a superuser."


@shard.command(epilog=_ROUTER)
def init(
    shards: Annotated[
        list[str] | None,
        typer.Option(
            help="Comma-separated connection strings of the shards, which must be migrated databases; or the "
            "option several times, with one string each. For a router that has shards only if an address or "
            "the account has changed.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """Turn an empty database into a router, or update the code of a router."""
    from pgrecall.contrib.sharding import init as make

    given = shards or []
    if len(given) == 1:
        given = [part.strip() for part in given[0].split(",") if part.strip()]
    numbers = make(effective_dsn(dsn, None), given)
    text = f"the router has {counted(len(numbers), 'shard')}"
    print_result({"shards": list(numbers)}, text, as_json=as_json)


@shard.command(epilog=_ROUTER)
def add(
    database: Annotated[str, typer.Argument(help="Connection string of a migrated database.")],
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """Add a shard. Existing namespaces do not move; `pgrecall shard move` moves them."""
    from pgrecall.contrib.sharding import add as put

    number = put(effective_dsn(dsn, None), database)
    print_result({"shard": number}, f"added as shard {number}", as_json=as_json)


@shard.command("list", epilog=_ROUTER)
def list_(
    namespaces: Annotated[bool, typer.Option("--namespaces", help="Print the namespaces instead.")] = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """Print the shards, or the namespaces and their shards."""
    from dataclasses import asdict

    from pgrecall.contrib.sharding import placements
    from pgrecall.contrib.sharding import shards as all_shards

    router = effective_dsn(dsn, None)
    if namespaces:
        placed = placements(router)
        if as_json:
            print_json([asdict(one) for one in placed])
            return
        for one in placed:
            echo(f"{one.shard}  {sanitize_line(one.namespace)}")
        away = sum(one.shard != one.hashed for one in placed)
        if away:
            where = "the shard of the hash; move one there with: pgrecall shard move NAME"
            note(f"{counted(away, 'namespace')} not on {where}")
        return
    found = all_shards(router)
    if as_json:
        print_json([asdict(each) for each in found])
        return
    for each in found:
        state = counted(each.namespaces or 0, "namespace") if each.is_alive else "cannot be reached"
        echo(f"{each.shard}  {each.conninfo}  {state}")


@shard.command(epilog=_ROUTER)
def move(
    namespace: Annotated[str, typer.Argument(help="The namespace.")],
    to: Annotated[
        int | None,
        typer.Option(
            "--to",
            help="The target shard; default: the one its name hashes to. Its current shard cancels an "
            "interrupted move.",
            show_default=False,
        ),
    ] = None,
    patience: Annotated[
        float, typer.Option(min=0, help="Seconds to wait for transactions older than the move.")
    ] = 60.0,
    as_json: AsJson = False,
    dsn: Dsn = None,
) -> None:
    """Move a namespace to another shard while it is in use, or continue an interrupted move."""
    from pgrecall.contrib.sharding import move as bring

    report = bring(effective_dsn(dsn, None), namespace, to, patience=patience, progress=note)
    if as_json:
        from dataclasses import asdict

        print_json(None if report is None else asdict(report))
        return
    if report is None:
        echo(f"{sanitize_line(namespace)} stays where it is")
        return
    echo(f"moved {sanitize_line(namespace)} from shard {report.source} to shard {report.target}")
    if report.digest:
        rows = sum(report.rows.values())
        echo(
            f"{counted(report.rows['memories'], 'memory')}, {counted(rows, 'row')} in all, "
            f"hash {report.digest} on both; writers waited for {report.blocked:.2f} s"
        )


@shard.command(epilog=_ROUTER)
def check(as_json: AsJson = False, dsn: Dsn = None) -> None:
    """Compare the shards with each other and with the router; exit 1 if something is wrong."""
    from pgrecall.contrib.sharding import check as compare

    problems = compare(effective_dsn(dsn, None))
    if as_json:
        print_json({"problems": list(problems)})
    else:
        for problem in problems:
            echo(problem, err=True)
    if problems:
        raise typer.Exit(1)
    if not as_json:
        echo("the shards and the router are consistent")
