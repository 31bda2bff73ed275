"""`pgrecall reembed`: change the embedding model while recall keeps working."""

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from pgrecall.formatting import counted, sanitize_line

from .common import AsJson, DataDir, Dsn, echo, effective_dsn, print_json, terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pgrecall.admin.reembed import Report
    from pgrecall.models import Generation

_PLAIN_SECONDS = 10.0


def reembed(
    model: Annotated[str | None, typer.Option(help="The new model, by name or folder.")] = None,
    dim: Annotated[
        int | None, typer.Option(min=1, help="Dimension of its vectors; not needed for known models.")
    ] = None,
    provider: Annotated[
        str | None,
        typer.Option(
            help="Provider of the embeddings; default: the one known for the model.", show_default=False
        ),
    ] = None,
    min_overlap: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Minimum overlap of the nearest memories; default: 0.3."),
    ] = None,
    max_loss: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Maximum drop of judged recall@10; default: 0.02."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Skip the comparison, and accept memories without an embedding.")
    ] = False,
    no_switch: Annotated[bool, typer.Option("--no-switch", help="Stop before switching recall.")] = False,
    leave_to_daemons: Annotated[
        bool, typer.Option("--leave-to-daemons", help="Wait for daemons instead of embedding here.")
    ] = False,
    rollback: Annotated[
        bool, typer.Option("--rollback", help="Go back to the embeddings before the last switch.")
    ] = False,
    drop_old: Annotated[
        bool, typer.Option("--drop-old", help="Drop the embeddings before the last switch.")
    ] = False,
    cancel: Annotated[bool, typer.Option("--cancel", help="Discard the embeddings being built.")] = False,
    status: Annotated[bool, typer.Option("--status", help="Print the progress.")] = False,
    as_json: AsJson = False,
    dsn: Dsn = None,
    data_dir: DataDir = None,
) -> None:
    """Embed all memories with another model, compare, and switch recall to it, without downtime.

    If it is interrupted, run the same command again to continue.
    """
    instead = {"--rollback": rollback, "--drop-old": drop_old, "--cancel": cancel, "--status": status}
    chosen = [name for name, is_chosen in instead.items() if is_chosen]
    if len(chosen) + (model is not None) != 1:
        raise typer.BadParameter("pass --model NAME, or one of " + ", ".join(instead))
    extra = (dim, provider, min_overlap, max_loss)
    if chosen and (any(value is not None for value in extra) or force or no_switch or leave_to_daemons):
        raise typer.BadParameter(f"{chosen[0]} cannot be combined with other options")
    target = effective_dsn(dsn, data_dir)
    from pgrecall.admin import reembed as reembedding

    messages: list[str] = []
    with _collecting(messages) if as_json else _reporting() as report:
        if model is not None:
            reembedding.reembed(
                target,
                model=model,
                dim=dim,
                provider=provider,
                min_overlap=reembedding.MIN_OVERLAP if min_overlap is None else min_overlap,
                max_loss=reembedding.MAX_LOSS if max_loss is None else max_loss,
                force=force,
                switch=not no_switch,
                leave_to_daemons=leave_to_daemons,
                report=report,
            )
        else:
            simple: dict[str, Callable[..., object]] = {
                "--rollback": reembedding.rollback,
                "--drop-old": reembedding.drop_old,
                "--cancel": reembedding.cancel,
            }
            if not status:
                simple[chosen[0]](target, report=report)
            elif not as_json:
                _print_progress(reembedding.progress(target))
    if as_json:
        generations = [one.as_dict() for one in reembedding.progress(target)]
        print_json({"messages": messages, "generations": generations})


@contextmanager
def _collecting(messages: list[str]) -> "Iterator[Report]":
    """Return a function that keeps the messages and drops the progress between them."""

    def report(progress: "str | Generation") -> None:
        if isinstance(progress, str):
            messages.append(progress)

    yield report


@contextmanager
def _reporting() -> "Iterator[Report]":
    """Return a function that prints progress: a bar on a terminal, otherwise occasional lines."""

    console = terminal(stderr=True)
    if not console.is_terminal:
        yield _Lines().report
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("embedding"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rest]}"))
    with Progress(*columns, console=console, transient=True) as bars:
        bar = bars.add_task("embedding", total=None, rest="")

        def report(progress: "str | Generation") -> None:
            if isinstance(progress, str):
                bars.console.print(progress, markup=False, highlight=False)
            else:
                total = progress.embedded + progress.pending
                bars.update(bar, completed=progress.embedded, total=total, rest=_rest(progress))

        yield report


class _Lines:
    """Prints progress line by line: at most every ten seconds, and only when it changes."""

    def __init__(self) -> None:
        self._reported_at = 0.0
        self._last_line = ""

    def report(self, progress: "str | Generation") -> None:
        if isinstance(progress, str):
            echo(progress)
            return
        line = _line(progress)
        if line != self._last_line and time.monotonic() - self._reported_at >= _PLAIN_SECONDS:
            echo(line)
            self._last_line, self._reported_at = line, time.monotonic()


def _print_progress(found: "list[Generation]") -> None:
    for one in found:
        model = "no model" if one.model is None else sanitize_line(f"{one.model} ({one.provider})")
        echo(f"generation {one.generation}  {one.state}  {model}  {counted(one.dimension, 'dimension')}")
        echo(f"  {_line(one)}")


def _line(found: "Generation") -> str:
    rest = _rest(found)
    return f"embedded {found.embedded} of {found.embedded + found.pending}" + (f", {rest}" if rest else "")


def _rest(found: "Generation") -> str:
    parts = []
    if found.retrying:
        parts.append(f"{found.retrying} retrying")
    if found.failed:
        parts.append(f"{found.failed} failed")
    if found.truncated:
        parts.append(f"{found.truncated} truncated")
    if found.waiting and found.per_second:
        parts.append(f"{found.per_second:.0f} a second")
    if found.waiting and found.eta is not None:
        parts.append(f"about {_rounded(found.eta.total_seconds())} left")
    return ", ".join(parts)


def _rounded(seconds: float) -> str:
    for unit, length in (("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 1):.0f} s"
