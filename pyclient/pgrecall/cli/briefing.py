"""`pgrecall briefing`: memories and facts as text for an agent's system prompt."""

from typing import Annotated

import typer

from pgrecall.filters import Filter

from .common import (
    AsJson,
    ByDaemon,
    DataDir,
    Dsn,
    Embed,
    Namespaces,
    Private,
    connection_string,
    embed_seconds,
    print_result,
    read_namespaces,
    who_embeds,
)
from .filters import UNFILTERED, with_filters


@with_filters()
def briefing(
    query: Annotated[
        str | None,
        typer.Argument(help="The question; default: recent conversations and key facts.", show_default=False),
    ] = None,
    k: Annotated[int, typer.Option("-k", "--k", min=1, max=1000, help="Maximum number of memories.")] = 10,
    max_chars: Annotated[
        int, typer.Option(min=200, max=100_000, help="Maximum length of the text in characters.")
    ] = 2000,
    per_item: Annotated[
        int, typer.Option(min=20, max=10_000, help="Maximum length of each memory in characters.")
    ] = 200,
    namespace: Namespaces = None,
    filters: Filter = UNFILTERED,
    include_sensitive: Annotated[
        bool, typer.Option("--include-sensitive", help="Include sensitive memories.")
    ] = False,
    embed: Embed = None,
    embed_by_daemon: ByDaemon = False,
    private: Private = False,
    timeout: Annotated[
        float,
        typer.Option(
            min=0.1, max=600, help="Seconds for the whole call; loading the model takes most of them."
        ),
    ] = 30.0,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Print memories and facts about a question as text for a system prompt.

    Prints nothing if nothing matches or if an error occurs; stderr then has one line about the error.
    """
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        text = client.briefing(
            *([] if query is None else [query]),
            k=k,
            max_chars=max_chars,
            per_item=per_item,
            embed=who_embeds(embed, embed_by_daemon),
            embed_timeout=embed_seconds(),
            private=private,
            **read_namespaces(namespace),
            filter=filters,
            include_sensitive=include_sensitive,
            timeout=timeout,
        )
    if text or as_json:
        print_result({"text": text}, text, as_json=as_json)
