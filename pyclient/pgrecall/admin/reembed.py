"""Changes the embedding model of a database without downtime.

The embeddings of the new model get their own column, a generation, beside the one that recall reads. Every
step reads from the database what is left to do, so after an interruption the same call continues.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import psycopg

from pgrecall.arguments import as_fraction
from pgrecall.errors import InvalidInput, NotFound, SchemaMismatch, error_from
from pgrecall.formatting import counted
from pgrecall.query.embedding_models import KNOWN_MODELS, ModelSpec

from .backfill import Backfill, generations, try_model
from .code import verify_installed
from .environment import connect
from .lock_retry import with_lock_retry
from .reading import scalar
from .reembed_gate import Comparison, SwitchRefused, compare
from .reembed_lock import locked

if TYPE_CHECKING:
    from collections.abc import Callable

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
# Share of failed memories up to which a switch is allowed.
_MAX_FAILED = 0.01


@dataclass(frozen=True, slots=True)
class Reembedding:
    """The result of `reembed`.

    Attributes:
        generation: The number of the new generation.
        model: Its model.
        is_switched: True if recall now reads it.
        comparison: The comparison with the previous generation; None if it was skipped.
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
    """Embed all memories with another model, compare it with the current one, and switch recall to it.

    Recall and writes continue meanwhile. A repeated call with the same model continues an interrupted one.

    Args:
        dsn: Connection string of a direct connection as the owner of the schema.
        model: Name of the model, or a folder.
        dim: Dimension of its vectors; None for models in `KNOWN_MODELS`.
        provider: Provider of the embeddings; None takes that of `KNOWN_MODELS`, else sentence-transformers.
        min_overlap: Minimum share of the ten nearest memories that both models have in common, averaged over
            sampled memories.
        max_loss: Maximum drop of the mean recall@10 of the judged queries.
        force: True switches without comparing, and even if memories could not be embedded.
        switch: False stops before the switch.
        leave_to_daemons: True waits for daemons to embed; otherwise an embedder process is started if no live
            daemon embeds with the new model.
        report: Called with messages and progress.

    Returns:
        A `Reembedding`.

    Raises:
        SwitchRefused: The new embeddings are too few or too different; they are kept, but not switched to.
        InvalidInput: The dimension is unknown, or not one of the model; a limit is no number from 0 to 1.
        SchemaMismatch: Another generation is being built or kept.
        EmbeddingUnavailable: The model cannot be loaded on this machine; nothing has been changed then.
        PgrecallError: Another call is running, or the server reported an error.
    """
    spec = _spec(model, dim, provider)
    options = _Options(
        as_fraction("min_overlap", min_overlap),
        as_fraction("max_loss", max_loss),
        force,
        leave_to_daemons,
        report or _ignore,
    )
    with locked(dsn) as conn:
        active, other = _present(conn)
        if (active.model, active.dimension) == (model, spec.dimension):
            options.report(f"recall already reads the embeddings of {model}")
            return Reembedding(active.generation, model, True, None)
        if other is not None and (other.model, other.dimension) == (model, spec.dimension):
            if provider is not None and provider != other.provider:
                raise SchemaMismatch(
                    f"generation {other.generation} ({model}) comes from {other.provider}, not {provider}",
                    hint="Omit --provider to continue with it, or drop it with --cancel or --drop-old.",
                )
            if other.state == "retired":
                _go_back(conn, other, options.report)
                return Reembedding(other.generation, model, True, None)
        if spec.dimension not in spec.dimensions:
            options.report(
                f"{model} does not officially support {counted(spec.dimension, 'dimension')}: "
                "check the comparison"
            )
        if not leave_to_daemons:
            wanted = {name: value for name, value in asdict(spec).items() if name != "dimensions"}
            try_model(name=model, **wanted)
        generation = _add(conn, model, spec, other, options.report)
        comparison = _fill(conn, dsn, generation, options)
        if switch:
            _switch(conn, dsn, generation, options)
            _say_what_now(options.report, active, model, spec.dimension)
        return Reembedding(generation, model, switch, comparison)


def rollback(dsn: str, *, report: Report | None = None) -> int:
    """Switch recall back to the embeddings before the last switch.

    Daemons then embed the memories written since. A second call changes nothing. `reembed` with the newer
    model switches to it again.

    Args:
        dsn: Connection string of a direct connection as the owner of the schema.
        report: Called with messages.

    Returns:
        The number of the generation.

    Raises:
        NotFound: There is none to go back to.
    """
    say = report or _ignore
    with locked(dsn) as conn:
        active = _present(conn)[0]
        retired = _other(conn, "retired", "There is no earlier generation.")
        if retired.generation > active.generation:
            say(f"recall already reads the older embeddings, of {active.model}")
            return active.generation
        _go_back(conn, retired, say)
        return retired.generation


def drop_old(dsn: str, *, report: Report | None = None) -> int:
    """Drop the embeddings that recall read before the last switch. Returns the number of their generation.

    Raises:
        NotFound: There are none.
    """
    return _drop(dsn, "retired", "There is nothing to drop.", report or _ignore)


def cancel(dsn: str, *, report: Report | None = None) -> int:
    """Drop the generation that is being built. Returns its number.

    Raises:
        NotFound: There is none.
    """
    return _drop(dsn, "building", "There is nothing to cancel.", report or _ignore)


def progress(dsn: str) -> list[Generation]:
    """Return the progress of each generation, active one first."""
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
        report(f"{counted(retired.pending, 'memory')} without an embedding of it: pgrecall embedder")


def _add(
    conn: psycopg.Connection[Any], model: str, spec: _Wanted, other: Generation | None, report: Report
) -> int:
    """Return the number of the model's generation, which is created if necessary."""
    if other is not None and (other.model, other.dimension) == (model, spec.dimension):
        report(f"continuing generation {other.generation} ({model})")
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
    report(f"created generation {made}: {model}, {counted(spec.dimension, 'dimension')}")
    report("`pgrecall reembed --cancel` gives it up")
    return made


def _fill(conn: psycopg.Connection[Any], dsn: str, generation: int, options: _Options) -> Comparison | None:
    """Fill and index a generation. Returns its comparison with the active one."""
    _run_statements(conn, generation, "fill", options.report)
    _backfill(conn, dsn, generation, options)
    _run_statements(conn, generation, "search", options.report)
    if options.force:
        options.report("not compared with the current model: --force")
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
    if statements:  # wakes the embedders before their next poll
        conn.execute("SELECT pg_notify('pgrecall_embed', '') WHERE pgrecall.sends_notifications()")


def _backfill(conn: psycopg.Connection[Any], dsn: str, generation: int, options: _Options) -> Generation:
    filling = Backfill(conn, dsn, generation, own=not options.leave_to_daemons, report=options.report)
    found = filling.run()
    wanted = found.embedded + found.pending
    if found.failed > _MAX_FAILED * wanted and not options.force:
        raise SwitchRefused(
            f"{found.failed} of {counted(wanted, 'memory')} could not be embedded by {found.model}",
            hint="pgrecall.failures() has the causes, pgrecall.retry_failures() retries them; "
            "--force skips them.",
        )
    if found.failed:
        options.report(f"{found.failed} of {counted(wanted, 'memory')} could not be embedded and are skipped")
    return found


def _switch(conn: psycopg.Connection[Any], dsn: str, generation: int, options: _Options) -> None:
    """Switch when only memories written just now are left to embed."""
    while True:
        found = _backfill(conn, dsn, generation, options)
        try:
            conn.execute(
                "SELECT pgrecall.switch_generation(%s, %s)",
                # With continuous writers some memories are always pending; daemons embed them next.
                [generation, options.force or found.waiting > 0],
            )
        except psycopg.errors.ObjectNotInPrerequisiteState:
            options.report("new memories were written meanwhile")
        else:
            return


def _say_what_now(report: Report, old: Generation, model: str, dimension: int) -> None:
    report(f"recall now reads the embeddings of {model}")
    if old.model is None:
        return
    if old.dimension == dimension:
        report(
            f"callers that pass vectors of {old.model} must switch to {model}, since both have {dimension} "
            f"dimensions, or SET pgrecall.query_model = '{old.model}' to search the old embeddings"
        )
    else:
        report(
            f"vectors of {old.model} ({counted(old.dimension, 'dimension')}) are "
            "still searched in the old embeddings"
        )
    report(
        "`pgrecall reembed --rollback` switches back, `pgrecall reembed --drop-old` drops the old embeddings"
    )


def _drop(dsn: str, state: str, hint: str, report: Report) -> int:
    with locked(dsn) as conn:
        gone = _other(conn, state, hint)
        with_lock_retry(conn, lambda conn: _drop_generation(conn, gone.generation))
        report(f"generation {gone.generation} ({gone.model}) dropped")
        return gone.generation


def _drop_generation(conn: psycopg.Connection[Any], generation: int) -> None:
    conn.execute("SELECT pgrecall.drop_generation(%s)", [generation])


def _ignore(_message: str | Generation) -> None:
    """Discard a message."""
