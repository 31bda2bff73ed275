"""`pgrecall feedback` and `pgrecall learn`: which results helped, and the settings learned from that."""

from typing import TYPE_CHECKING, Annotated

import typer

from pgrecall.formatting import counted, sanitize_line

from .common import (
    AsJson,
    ByDaemon,
    DataDir,
    Dsn,
    Embed,
    Namespace,
    connection_string,
    echo,
    embed_seconds,
    note,
    print_json,
    who_embeds,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


def feedback(
    query: Annotated[str, typer.Argument(help="The question, as passed to `pgrecall recall`.")],
    id: Annotated[int, typer.Argument(help="The memory.")],
    useful: Annotated[
        bool, typer.Option("--useful/--not-useful", help="Whether the memory answers the question.")
    ] = True,
    withdraw: Annotated[bool, typer.Option("--withdraw", help="Take the feedback back.")] = False,
    embed: Embed = None,
    embed_by_daemon: ByDaemon = False,
    namespace: Namespace = None,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Record whether a memory answered a question, for `pgrecall learn`."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), namespace=namespace, pool_max=1) as client:
        client.learning.feedback(
            query,
            id,
            None if withdraw else useful,
            embed=who_embeds(embed, by_daemon=embed_by_daemon),
            embed_timeout=embed_seconds(),
        )


def learn(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Measure, and change nothing.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="End the settings learned before.")] = False,
    log: Annotated[bool, typer.Option("--log", help="List what has been learned, and its end.")] = False,
    namespace: Namespace = None,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Find weights that suit a namespace, from feedback and judged queries, and adopt them if they help.

    It learns from one half of the queries and measures on the other. It takes one to three minutes.
    """
    from pgrecall import Client

    if dry_run + undo + log > 1:
        raise typer.BadParameter("--dry-run, --undo and --log exclude each other")
    with Client(connection_string(dsn, data_dir), namespace=namespace, pool_max=1) as client:
        if log:
            rows = [one.as_dict() for one in client.learning.learned(namespace)]
            if as_json:
                print_json(rows)
                return
            if not rows:
                note("nothing has been learned")
            for row in rows:
                state = f"{row['end_reason']} {row['ended_at']}" if row["ended_at"] else "in force"
                what = f"{sanitize_line(row['namespace_name'])}: {_settings(row['settings'])}"
                echo(f"{row['learned_at']}  {what} ({state})")
            return
        if undo:
            ended = client.learning.undo()
            if as_json:
                print_json({"ended": ended})
            else:
                echo("the learned settings have ended" if ended else "there were no learned settings")
            return
        found = client.learning.learn(dry_run=dry_run)
    if as_json:
        print_json(found.as_dict())
    elif found.ndcg_before is None or found.ndcg_after is None:
        echo(f"{counted(found.queries, 'query')} with feedback: too few to learn from, 40 are needed")
    else:
        echo(f"learned from {counted(found.queries, 'query')}: {_settings(found.settings)}")
        echo(
            f"nDCG@10 {found.ndcg_before:.3f} -> {found.ndcg_after:.3f} "
            f"(gain {found.gain_low:+.3f} to {found.gain_high:+.3f}, 95 % interval)"
        )
        echo("adopted" if found.is_adopted else "not adopted")


def _settings(settings: "Mapping[str, str]") -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(settings.items())) or "no setting is better"
