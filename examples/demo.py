"""`make demo`: from nothing to answers on the embedded server. A second run finds everything in place.

What it does is what a user would: `pgrecall up`, `migrate`, `import`, `embedder`, `recall`, `explain`.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from pgrecall import Client, PgrecallError
from pgrecall.admin.migrate import migrate
from pgrecall.cli.explain import block
from pgrecall.cli.search import recall_table
from pgrecall.jsonl.load import import_jsonl
from pgrecall.query.embedding import embed_query
from pgrecall.server import EmbeddedServer, ServerError, binaries

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMESPACE = "demo"
SAMPLE = Path(__file__).parent / "sample" / "corpus.jsonl"
QUESTIONS = (
    "the certificate of the MQTT broker",
    "Which thing frightens our hound?",
    "Whom did the old lady defeat during the overnight rail trip?",
    "Until which month will my index fund contribution stay reduced?",
    "Which four digits open the padlock of the boat shed?",
)
EMBEDDER_SECONDS = 240
"""How long the embedder may take: a few seconds, or the leases (2 minutes) of a killed one."""

console = Console()


def main() -> None:
    """Run the demo."""
    with step("embedded PostgreSQL"):
        server = EmbeddedServer()
        dsn = server.up()
    with step("schema and SQL functions"):
        migrate(dsn)
    with Client(dsn, namespace=NAMESPACE, pool_max=2) as client:
        with step("sample of invented memories"), SAMPLE.open("rb") as lines:
            report = import_jsonl(client, lines, namespace=NAMESPACE)
            close_superseded(client)
        console.print(f"  {report.stored} stored, {report.present} already there")
        embed(client, dsn)
        with step("the model, for the questions"):
            embed_query("warm-up", client.active_model(), None)
        for question in QUESTIONS:
            ask(client, question)
        explain(client, QUESTIONS[0])
        show_psql(client, server, QUESTIONS[0])
    console.print(
        "The server goes on running: [bold].venv/bin/pgrecall --help[/], [bold].venv/bin/pgrecall down[/]."
    )


def close_superseded(client: Client) -> None:
    """Point facts that no longer hold to their successors, which name them in their metadata."""
    records = {
        record["id"]: record for record in map(json.loads, SAMPLE.read_text(encoding="utf-8").splitlines())
    }
    for later in records.values():
        if "supersedes" in later.get("metadata", {}):
            earlier = records[later["metadata"]["supersedes"]]
            # Storing under an external id that is there changes nothing and tells the memory's own id.
            old, new = client.remember_many(
                [{"content": item["content"], "external_id": item["id"]} for item in (earlier, later)],
                on_conflict="keep",
            )
            client.supersede(old, successor=new)


def embed(client: Client, dsn: str) -> None:
    """Run the embedder until nothing is pending, neither to embed nor to read, under a progress bar."""
    status = client.admin.status()
    if status.pending == status.failed and status.pending_extractions == 0:
        console.print(f"  all {status.embedded} embeddings are there")
        return
    command = [sys.executable, "-m", "pgrecall", "embedder", "--dsn", dsn]
    daemon = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + EMBEDDER_SECONDS
        columns = TextColumn("embedding"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        with Progress(*columns, console=console) as progress:
            task = progress.add_task("embedding", total=status.embedded + status.pending - status.failed)
            # The bundled model cannot read every script of the sample: such a memory has failed.
            while status.pending > status.failed or status.pending_extractions > 0:
                if daemon.poll() is not None or time.monotonic() > deadline:
                    raise SystemExit("the embedder did not finish: see `pgrecall doctor`")
                time.sleep(0.2)
                status = client.admin.status()
                progress.update(task, completed=status.embedded)
    finally:
        daemon.terminate()
        daemon.communicate()


def ask(client: Client, question: str) -> None:
    """Print a question and the table of what is recalled."""
    started = time.perf_counter()
    result = client.recall(question, k=5)
    elapsed = time.perf_counter() - started
    console.print(f"\n[bold]{question}[/]  [dim]{elapsed * 1000:.0f} ms[/]")
    if result.notice is not None:
        console.print(f"[yellow]{result.notice}[/]")
    console.print(recall_table(result))


def explain(client: Client, question: str) -> None:
    """Print what the score of a question's first answer is made of."""
    console.print("\nWhy the first answer to the first question is the first:")
    for explained in client.explain(question, k=1):
        for line in block(explained):
            console.print(line, markup=False, highlight=False, soft_wrap=True)


def show_psql(client: Client, server: EmbeddedServer, question: str) -> None:
    """Print the line that asks the same in psql; the vector, too long for a line, goes into a file."""
    vector = server.data_dir / "demo-question.vec"
    vector.write_text(str(embed_query(question, client.active_model(), None)), encoding="utf-8")
    statement = (
        "SELECT round(score::numeric, 4) AS score, lexical_rank, dense_rank, graph_rank, left(content, 60) "
        f"FROM recall('{question}', :'vec', k => 5, namespace => '{NAMESPACE}')"
    )
    console.print("\nThe first question again, in psql:")
    psql = shlex.join([str(binaries() / "psql"), server.dsn()])
    print(f'  echo "{statement}" |\n    {psql} -v vec="$(cat {shlex.quote(str(vector))})"\n')


@contextmanager
def step(title: str) -> Iterator[None]:
    """Announce a step, and say how long it took."""
    started = time.perf_counter()
    yield
    console.print(f"[green]✓[/] {title}  [dim]{time.perf_counter() - started:.1f} s[/]")


if __name__ == "__main__":
    try:
        main()
    except (PgrecallError, ServerError) as error:
        console.print(f"[red]{error}[/]\n{error.hint}")
        raise SystemExit(1) from None
