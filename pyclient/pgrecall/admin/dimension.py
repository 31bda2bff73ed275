"""The embeddings' column and its model, as `pgrecall migrate --dim --model` sets them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pgrecall.errors import InvalidInput
from pgrecall.query.embedding_models import DEFAULT_MODEL, KNOWN_MODELS, ModelSpec

from .reading import scalar

if TYPE_CHECKING:
    import psycopg

__all__ = ["DEFAULT_DIMENSION", "MAX_DIMENSION", "column_dimension", "use_model"]

DEFAULT_DIMENSION = 384
MAX_DIMENSION = 4000  # what an HNSW index on halfvec takes


def column_dimension(conn: psycopg.Connection[Any], wanted: int | None, model: str | None) -> int:
    """Return the dimension of the embeddings' column: the existing one's, or that of the one to be created.

    Args:
        conn: An open connection.
        wanted: The dimension that the caller asked for.
        model: The model that the caller asked for.

    Raises:
        InvalidInput: It is out of range or unknown, or column, model and --dim do not agree.
    """
    if wanted is not None and not 1 <= wanted <= MAX_DIMENSION:
        raise InvalidInput(
            f"the dimension must be between 1 and {MAX_DIMENSION}, not {wanted}",
            hint="Take the model's own dimension.",
        )
    known = KNOWN_MODELS.get(model) if model is not None else None
    if known is not None and wanted is None:
        wanted = known.dimension
    if known is not None and wanted not in known.dimensions:
        raise InvalidInput(
            f"model {model} has {known.dimension} dimensions, not {wanted}",
            hint=f"Leave --dim out, or pass one of {', '.join(map(str, known.dimensions))}.",
        )
    column = _existing_dimension(conn)
    if column is None and model is not None and wanted is None:
        raise InvalidInput(
            f"the dimension of model {model} is not known",
            hint="Pass it: --dim N, as the model's card gives it.",
        )
    if column is not None and wanted is not None and wanted != column:
        raise InvalidInput(
            f"the memories' embeddings have {column} dimensions, and {wanted} were asked for",
            hint="Choose a model that fits, or change to this one with `pgrecall reembed --model NAME`.",
        )
    if column is not None:
        return column
    return DEFAULT_DIMENSION if wanted is None else wanted


def use_model(conn: psycopg.Connection[Any], dimension: int, model: str | None) -> str | None:
    """Register the model that the caller asked for, or the bundled one if the database has none and it fits.

    Args:
        conn: An open connection.
        dimension: That of the embeddings' column.
        model: Name of the model, or None.

    Returns:
        What to tell the user where the database still has no model, else None.
    """
    active = scalar(conn, "SELECT name FROM pgrecall.active_model()")
    name = model
    if name is None and active is None and dimension == KNOWN_MODELS[DEFAULT_MODEL].dimension:
        name = DEFAULT_MODEL
    if name is None:
        return "no embedding model chosen yet: pgrecall migrate --model NAME" if active is None else None
    spec = KNOWN_MODELS.get(name, ModelSpec(dimension))
    conn.execute(
        "SELECT pgrecall.activate_model(%s, %s, %s, %s, %s)",
        (name, dimension, spec.query_prompt, spec.document_prompt, spec.provider),
    )
    return None


def _existing_dimension(conn: psycopg.Connection[Any]) -> int | None:
    value = scalar(
        conn,
        "SELECT atttypmod FROM pg_catalog.pg_attribute "
        "WHERE attrelid = to_regclass('pgrecall.memories') AND attname = 'embedding'",
    )
    if scalar(conn, "SELECT to_regclass('pgrecall.generations') IS NOT NULL"):
        value = scalar(conn, "SELECT dimension FROM pgrecall.generations WHERE state = 'active'")
    return None if value is None else int(value)
