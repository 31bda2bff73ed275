"""Change the embedding model of a database while it goes on working.

The new model's embeddings get a column of their own, a generation, beside those that recall reads. Every step
looks at the database for what is left to do: whatever ends this process, the same call goes on from there.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import psycopg

from pgrecall.errors import InvalidInput, NotFound, PgrecallError, SchemaMismatch, error_from
from pgrecall.query.embedding_models import KNOWN_MODELS, ModelSpec

from .backfill import Backfill, generations
from .code import scalar, verify_installed, with_lock_retry
from .environment import connect
from .reembed_gate import Comparison, SwitchRefused, compare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pgrecall.models import Generation

__all__ = [
    "MAX_LOSS",
    "MIN_OVERLAP",
    "Comparison",
    "Reembedding",
    "SwitchRefused",
    "cancel",
    "drop_old",
    "progress",
    "reembed",
    "rollback",
]

Report: TypeAlias = "Callable[[str | Generation], None]"

MIN_OVERLAP = 0.3
MAX_LOSS = 0.02
# The largest share of memories that may have failed at a switch.
_MAX_FAILED = 0.01
_LOCK_KEY = 0x7067_7265_656D_6264  # 'pgreembd'
# A server process whose client was killed looks for it every second; until then it has the lock.
_LOCK_SECONDS = 5.0
_LOCK_POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Reembedding:
    """What `reembed` has brought about.

    Attributes:
        generation: The number of the new generation.
        model: Its model.
        is_switched: True if recall reads it now.
        comparison: How it compares with the one before; None if nobody looked.
    """

    generation: int
    model: str
    is_switched: bool
    comparison: Comparison | None


@dataclass(frozen=True, slots=True)
class _Options:
    min_overlap: float
    max_loss: float
    force: bool
    leave_to_daemons: bool
    report: Report


def reembed(
    dsn: str,
    *,
    model: str,
    dim: int | None = None,
    provider: str | None = None,
    min_overlap: float = MIN_OVERLAP,
    max_loss: float = MAX_LOSS,
    force: bool = False,
    switch: bool = True,
    leave_to_daemons: bool = False,
    report: Report | None = None,
) -> Reembedding:
    """Embed all memories by another model, compare it with the present one, and switch recall to it.

    Recall, and everything that writes, goes on meanwhile. Once more with the same model it goes on where it
    ended, however it ended.

    Args:
        dsn: Connection string of a direct connection as the owner of the schema.
        model: Name of the model, or a folder.
        dim: Dimension of its vectors; None where `KNOWN_MODELS` has it.
        provider: Who computes it; None takes what `KNOWN_MODELS` says, else sentence-transformers.
        min_overlap: Least share of the ten nearest memories that both models must have in common, on average
            over sampled memories.
        max_loss: By how much recall@10 of the judged queries may fall, on average.
        force: True switches without comparing, and though memories could not be embedded.
        switch: False ends before the switch.
        leave_to_daemons: True only waits for daemons to embed; otherwise a process of our own does it while
            no daemon that is alive embeds by the new model.
        report: Called with what happens, and with how far it is.

    Returns:
        A `Reembedding`.

    Raises:
        SwitchRefused: The new embeddings are too few or too different; they stay, and nothing is switched.
        InvalidInput: The dimension is not known, or not one of the model.
        SchemaMismatch: Another generation is in the way.
        EmbeddingUnavailable: A model cannot be loaded on this machine.
        PgrecallError: Another call is at work, or the server refused something.
    """
    spec = _spec(model, dim, provider)
    options = _Options(min_overlap, max_loss, force, leave_to_daemons, report or _ignore)
    with _working(dsn) as conn:
        active, other = _present(conn)
        if (active.model, active.dimension) == (model, spec.dimension):
            options.report(f"recall reads the embeddings of {model} already")
            return Reembedding(active.generation, model, True, None)
        if other is not None and (other.model, other.dimension) == (model, spec.dimension):
            if provider is not None and provider != other.provider:
                raise SchemaMismatch(
                    f"generation {other.generation} ({model}) comes from {other.provider}, not {provider}",
                    hint="Leave --provider out to go on with it, or drop it: --cancel, or --drop-old.",
                )
            if other.state == "retired":
                _go_back(conn, other, options.report)
                return Reembedding(other.generation, model, True, None)
        if spec.dimension not in spec.dimensions:
            options.report(f"{model} was not made for {spec.dimension} dimensions: the comparison will tell")
        generation = _add(conn, model, spec, other, options.report)
        comparison = _fill(conn, dsn, generation, options)
        if switch:
            _switch(conn, dsn, generation, options)
            _say_what_now(options.report, active, model, spec.dimension)
        return Reembedding(generation, model, switch, comparison)


def rollback(dsn: str, *, report: Report | None = None) -> int:
    """Make recall read the embeddings again that it read before the last switch.

    What was written since is embedded by the daemons then. A second call changes nothing: `reembed` with the
    newer model switches to it again.

    Args:
        dsn: Connection string of a direct connection as the owner of the schema.
        report: Called with what happens.

    Returns:
        The number of the generation.

    Raises:
        NotFound: There is none to go back to.
    """
    say = report or _ignore
    with _working(dsn) as conn:
        active = _present(conn)[0]
        retired = _other(conn, "retired", "There is nothing to go back to.")
        if retired.generation > active.generation:
            say(f"recall reads the older embeddings already, of {active.model}")
            return active.generation
        _go_back(conn, retired, say)
        return retired.generation


def drop_old(dsn: str, *, report: Report | None = None) -> int:
    """Drop the embeddings that recall read before the last switch; returns their generation's number.

    Raises:
        NotFound: There are none.
    """
    return _drop(dsn, "retired", "There is nothing to drop.", report or _ignore)


def cancel(dsn: str, *, report: Report | None = None) -> int:
    """Give up the generation that is being built; returns its number.

    Raises:
        NotFound: There is none.
    """
    return _drop(dsn, "building", "There is nothing to give up.", report or _ignore)


def progress(dsn: str) -> list[Generation]:
    """Return how far each generation is, the active one first."""
    try:
        with connect(dsn) as conn:
            verify_installed(conn)
            return generations(conn)
    except psycopg.Error as error:
        raise error_from(error) from error


@dataclass(frozen=True, slots=True)
class _Wanted:
    dimension: int
    dimensions: tuple[int, ...]
    provider: str
    query_prompt: str
    document_prompt: str


def _spec(model: str, dim: int | None, provider: str | None) -> _Wanted:
    known = KNOWN_MODELS.get(model)
    if known is None:
        if dim is None:
            raise InvalidInput(
                f"the dimension of model {model} is not known",
                hint="Pass it: --dim N, as the model's card gives it.",
            )
        known = ModelSpec(dim)
    dimension = known.dimension if dim is None else dim
    if dimension > max(known.dimensions):
        raise InvalidInput(
            f"model {model} has {max(known.dimensions)} dimensions, not {dimension}",
            hint="Leave --dim out, or pass one of: " + ", ".join(map(str, known.dimensions)) + ".",
        )
    return _Wanted(
        dimension,
        known.dimensions,
        known.provider if provider is None else provider,
        known.query_prompt,
        known.document_prompt,
    )


@contextmanager
def _working(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """Connect, and keep everybody else out who would change generations."""
    try:
        with connect(dsn) as conn:
            verify_installed(conn)
            conn.execute("SET statement_timeout = 0")
            # Otherwise, if we are killed, the server process builds its index to the end, and keeps the lock.
            conn.execute("SET client_connection_check_interval = '1s'")
            _lock(conn)
            yield conn
    except psycopg.Error as error:
        raise error_from(error) from error


def _lock(conn: psycopg.Connection[Any]) -> None:
    deadline = time.monotonic() + _LOCK_SECONDS
    while not scalar(conn, "SELECT pg_try_advisory_lock(%s)", _LOCK_KEY):
        if time.monotonic() > deadline:
            raise PgrecallError(
                "another `pgrecall reembed` works on this database",
                hint="`pgrecall reembed --status` shows how far it is.",
            )
        time.sleep(_LOCK_POLL_SECONDS)


def _present(conn: psycopg.Connection[Any]) -> tuple[Generation, Generation | None]:
    active, *others = generations(conn)
    return active, others[0] if others else None


def _other(conn: psycopg.Connection[Any], state: str, hint: str) -> Generation:
    found = _present(conn)[1]
    if found is None or found.state != state:
        raise NotFound(f"no generation of embeddings is {state}", hint=hint)
    return found


def _go_back(conn: psycopg.Connection[Any], retired: Generation, report: Report) -> None:
    conn.execute("SELECT pgrecall.switch_generation(%s)", [retired.generation])
    report(f"recall reads the embeddings of {retired.model} again")
    if retired.pending:
        report(f"{retired.pending} memories wait for an embedding of it: pgrecall embedder")


def _add(
    conn: psycopg.Connection[Any], model: str, spec: _Wanted, other: Generation | None, report: Report
) -> int:
    """Return the number of the generation of the model, which is made if it is not there."""
    if other is not None and (other.model, other.dimension) == (model, spec.dimension):
        report(f"generation {other.generation} ({model}) goes on")
        return other.generation
    made = 0

    def add(conn: psycopg.Connection[Any]) -> None:
        nonlocal made
        made = scalar(
            conn,
            "SELECT pgrecall.add_generation(%s, %s, %s, %s, %s)",
            model,
            spec.dimension,
            spec.provider,
            spec.query_prompt,
            spec.document_prompt,
        )

    with_lock_retry(conn, add)
    report(f"generation {made} begun: {model}, {spec.dimension} dimensions")
    return made


def _fill(conn: psycopg.Connection[Any], dsn: str, generation: int, options: _Options) -> Comparison | None:
    """Bring a generation to where it can be switched to; returns how it compares with the active one."""
    _run_statements(conn, generation, "fill", options.report)
    _backfill(conn, dsn, generation, options)
    _run_statements(conn, generation, "search", options.report)
    if options.force:
        options.report("not compared with the present model: --force")
        return None
    comparison = compare(conn, generation, options.report)
    comparison.check(options.min_overlap, options.max_loss)
    return comparison


def _run_statements(conn: psycopg.Connection[Any], generation: int, stage: str, report: Report) -> None:
    statements = conn.execute("SELECT pgrecall.generation_statements(%s, %s)", [generation, stage]).fetchall()
    if statements:
        report("building the indexes of the " + ("queue" if stage == "fill" else "search"))
    for (statement,) in statements:
        conn.execute(statement)
    if statements:
        # Who embeds need not wait until it looks again.
        conn.execute("SELECT pg_notify('pgrecall_embed', '')")


def _backfill(conn: psycopg.Connection[Any], dsn: str, generation: int, options: _Options) -> Generation:
    filling = Backfill(conn, dsn, generation, own=not options.leave_to_daemons, report=options.report)
    found = filling.run()
    wanted = found.embedded + found.pending
    if found.failed > _MAX_FAILED * wanted and not options.force:
        raise SwitchRefused(
            f"{found.failed} of {wanted} memories could not be embedded by {found.model}",
            hint="pgrecall.embedding_failures says why, pgrecall.retry_failures() retries them; "
            "--force leaves them out.",
        )
    if found.failed:
        options.report(f"{found.failed} of {wanted} memories could not be embedded and are left out")
    return found


def _switch(conn: psycopg.Connection[Any], dsn: str, generation: int, options: _Options) -> None:
    """Switch once nothing is left to embed but what was written just now."""
    while True:
        found = _backfill(conn, dsn, generation, options)
        try:
            conn.execute(
                "SELECT pgrecall.switch_generation(%s, %s)",
                # Where writers never pause, something always waits: the daemons embed it next.
                [generation, options.force or found.waiting > 0],
            )
        except psycopg.errors.ObjectNotInPrerequisiteState:
            options.report("memories came in meanwhile")
        else:
            return


def _say_what_now(report: Report, old: Generation, model: str, dimension: int) -> None:
    report(f"recall reads the embeddings of {model} now")
    if old.model is None:
        return
    if old.dimension == dimension:
        report(
            f"who passes vectors of {old.model} must say so, or embed by {model}: both have {dimension} "
            f"dimensions. SET pgrecall.query_model = '{old.model}' has them answered from the old embeddings"
        )
    else:
        report(
            f"who passes vectors of {old.model} ({old.dimension} dimensions) is answered from the old ones"
        )
    report("`pgrecall reembed --rollback` goes back, `pgrecall reembed --drop-old` drops the old embeddings")


def _drop(dsn: str, state: str, hint: str, report: Report) -> int:
    with _working(dsn) as conn:
        gone = _other(conn, state, hint)
        with_lock_retry(conn, lambda conn: _drop_generation(conn, gone.generation))
        report(f"generation {gone.generation} ({gone.model}) dropped")
        return gone.generation


def _drop_generation(conn: psycopg.Connection[Any], generation: int) -> None:
    conn.execute("SELECT pgrecall.drop_generation(%s)", [generation])


def _ignore(_said: str | Generation) -> None:
    """Tell nobody."""
