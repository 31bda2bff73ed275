"""`pgrecall facts`: facts (relationships between concepts) that answer a question."""

from typing import TYPE_CHECKING, Annotated

import typer

from pgrecall.formatting import origin_mark, sanitize_line

from .common import (
    AsJson,
    ByDaemon,
    DataDir,
    Dsn,
    Embed,
    Namespaces,
    Private,
    connection_string,
    echo,
    embed_seconds,
    moment,
    note,
    print_json,
    print_notice,
    read_namespaces,
    who_embeds,
)
from .elsewhere import note_elsewhere
from .filters import AsOf, IncludeSuperseded

if TYPE_CHECKING:
    from pgrecall.models import FactHit


def facts(
    query: Annotated[str, typer.Argument(help="The question.")],
    k: Annotated[int, typer.Option("-k", "--k", min=1, max=1000, help="Maximum number of facts.")] = 10,
    namespace: Namespaces = None,
    as_of: AsOf = None,
    label: Annotated[
        list[str] | None, typer.Option("--label", help="Only facts with this label; repeatable.")
    ] = None,
    concept: Annotated[
        list[str] | None, typer.Option("--concept", help="Only facts about this concept; repeatable.")
    ] = None,
    include_superseded: IncludeSuperseded = False,
    embed: Embed = None,
    embed_by_daemon: ByDaemon = False,
    private: Private = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Find the facts that answer a question.

    Each line has the score, the fact, its validity period if known, and the memories that state it.
    """
    known_at = moment("--as-of", as_of)
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        result = client.recall_facts(
            query,
            k=k,
            embed=who_embeds(embed, embed_by_daemon),
            embed_timeout=embed_seconds(),
            private=private,
            **read_namespaces(namespace),
            as_of=known_at,
            labels=label,
            concepts=concept,
            include_superseded=include_superseded,
        )
        if not result:
            note_elsewhere(client, namespace)
    print_notice(result.notice)
    if as_json:
        print_json([fact.as_dict() for fact in result])
        return
    if not result:
        note("nothing found")
    for fact in result:
        memories = ", ".join(map(str, fact.evidence))
        statement = f"{origin_mark(fact.origin)}{sanitize_line(fact.statement)}"
        echo(f"{fact.score:.4f}  {statement}{_period(fact)}  [{memories}]")


def _period(fact: "FactHit") -> str:
    """Format the known part of a fact's validity period."""
    bounds = (("since", fact.valid_from), ("until", fact.valid_to))
    known = [f"{word} {bound:%Y-%m-%d}" for word, bound in bounds if bound is not None]
    return f"  ({' '.join(known)})" if known else ""
