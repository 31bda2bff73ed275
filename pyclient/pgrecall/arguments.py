"""Checks and converts arguments, and builds calls of public functions.

The server validates values. This module checks only what could not reach the server, or what the server could
not explain: wrong Python types, text that PostgreSQL cannot store, malformed vectors.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from threading import TIMEOUT_MAX
from typing import TYPE_CHECKING, Any, cast

from .argument_types import ARGUMENT_TYPES
from .errors import InvalidInput, InvalidVector
from .scalars import own_scalar, own_utc

if TYPE_CHECKING:
    from psycopg import sql

Vector = Sequence[float]
"""A query vector: a sequence of floats, such as a list or a one-dimensional numpy array."""

LONGEST_EMBED_WAIT = 60.0
"""The most seconds that a call waits for an embedder."""

_MAX_INT = 2**31 - 1
_MAX_BITS = 4096
_MOST_DIMENSIONS = 16_000
# psycopg sends a float as double precision, which PostgreSQL does not cast to real implicitly.
_CASTS = {"importance": "real"}
# POSITION is a keyword of PostgreSQL, so no argument has that name.
_ARGUMENTS = {"position": "session_position"}


def as_str(field: str, value: object) -> str:
    """Return a text that PostgreSQL can store.

    Args:
        field: What the error calls it.
        value: The text.

    Raises:
        InvalidInput: 22023 if it is not a string, 22021 if it holds a NUL or half a surrogate pair.
    """
    if not isinstance(value, str):
        raise InvalidInput(f"{field} must be text, not {type(value).__name__}")
    if "\x00" in value:
        raise InvalidInput(
            f"{field} contains a NUL character",
            sqlstate="22021",
            hint="PostgreSQL cannot store it: remove it from the text.",
        )
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            if "\udc80" <= value[error.start] <= "\udcff":
                # So Python marks a byte that it could not decode.
                raise InvalidInput(
                    f"{field} is not UTF-8: byte 0x{ord(value[error.start]) - 0xDC00:02x} at character "
                    f"{error.start + 1}",
                    sqlstate="22021",
                    hint="Convert it from its own encoding, such as Latin-1, to UTF-8.",
                ) from None
            raise InvalidInput(
                f"{field} contains half a surrogate pair",
                sqlstate="22021",
                hint="Decode the text as UTF-16 or remove the broken character.",
            ) from None
    return value


def as_str_list(field: str, value: object) -> list[str]:
    """Return a list of texts. Refuses a single string, which would become a list of letters."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidInput(f"{field} must be a list of texts, not {type(value).__name__}")
    return [as_str(f"{field}[{place}]", item) for place, item in enumerate(value)]


def as_datetime(field: str, value: object) -> datetime:
    """Return a time in UTC, of a datetime or an ISO 8601 text. A time without a zone is UTC.

    Raises:
        InvalidInput: 22023 if it is neither, 22008 if it is outside the years 1 to 9999 in UTC.
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise InvalidInput(
                f"{field} is not a time",
                hint="Pass a datetime, or a text such as '2026-11-23' or '2026-11-23T09:30:00Z'.",
            ) from None
    if not isinstance(value, datetime) or value != value:  # pandas' NaT is a datetime
        raise InvalidInput(f"{field} must be a datetime, not {type(value).__name__}")
    try:
        return own_utc(value)
    except OverflowError:
        raise InvalidInput(f"{field} is outside the years 1 to 9999", sqlstate="22008") from None


def as_end(field: str, value: object) -> datetime | str:
    """Return the end of a validity as `as_datetime` does, or 'infinity', which takes it away."""
    return value if value == "infinity" and isinstance(value, str) else as_datetime(field, value)


def as_int(field: str, value: object) -> int:
    """Return a whole number that fits PostgreSQL's integer."""
    value = own_scalar(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{field} must be a whole number, not {type(value).__name__}")
    if not -_MAX_INT <= value <= _MAX_INT:
        raise InvalidInput(f"{field} is out of range")
    return value


def as_id(field: str, value: object) -> int:
    """Return a memory's id."""
    value = own_scalar(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{field} must be a whole number, not {type(value).__name__}")
    if not -(2**63) <= value < 2**63:
        raise InvalidInput(f"{field} is out of range")
    return value


def as_ids(field: str, value: object) -> list[int]:
    """Return a list of memories' ids."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise InvalidInput(f"{field} must be a list of whole numbers, not {type(value).__name__}")
    return [as_id(f"{field}[{place}]", item) for place, item in enumerate(value)]


def _number(field: str, value: object, called: str = "a number") -> float:
    """Return a number; a whole number that no float holds is infinite."""
    value = own_scalar(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{field} must be {called}, not {type(value).__name__}")
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def as_fraction(field: str, value: object) -> float:
    """Return a number between 0 and 1."""
    number = _number(field, value)
    if not 0 <= number <= 1:
        raise InvalidInput(f"{field} must lie between 0 and 1")
    return number


def as_float(field: str, value: object) -> float:
    """Return a finite number."""
    number = _number(field, value)
    if not math.isfinite(number):
        raise InvalidInput(f"{field} must be finite")
    return number


def as_seconds(field: str, value: object) -> float:
    """Return a span of time, above 0; one that is too long for a lock of Python is as good as none."""
    number = _number(field, value, "a number of seconds")
    if not 0 < number < math.inf:
        raise InvalidInput(f"{field} must be finite and above 0")
    return min(number, TIMEOUT_MAX)


def as_setting(name: str, value: object) -> str:
    """Return the value of a setting as text."""
    try:
        return as_str(name, str(value))
    except ValueError:  # more digits than Python converts
        raise InvalidInput(f"{name} is out of range") from None


def as_interval(field: str, value: object) -> timedelta:
    """Return a span of time as datetime has it."""
    if not isinstance(value, timedelta):
        raise InvalidInput(f"{field} must be a timedelta, not {type(value).__name__}")
    return value


def as_bool(field: str, value: object) -> bool:
    """Return True or False."""
    value = own_scalar(value)
    if not isinstance(value, bool):
        raise InvalidInput(f"{field} must be true or false, not {type(value).__name__}")
    return value


def json_object(field: str, value: object) -> dict[str, Any]:
    """Return a JSON object that PostgreSQL can store."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{field} must be an object, not {type(value).__name__}")
    try:
        return cast("dict[str, Any]", _json_value(field, value))
    except RecursionError:
        raise InvalidInput(f"{field} is nested too deeply") from None


def _json_value(field: str, value: object) -> Any:
    value = own_scalar(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if value.bit_length() > _MAX_BITS:
            raise InvalidInput(f"{field} holds a number that is too large")
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"{field} holds a number that JSON cannot express")
        return value
    if isinstance(value, Mapping):
        return {as_str(f"a key of {field}", key): _json_value(field, item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        return [_json_value(field, item) for item in value]
    if not isinstance(value, str):
        raise InvalidInput(f"{field} holds a {type(value).__name__}, which JSON cannot express")
    return as_str(field, value)


def json_array(field: str, documents: Iterable[str]) -> str:
    """Join JSON documents, unchanged, into one JSON array.

    They are checked here because PostgreSQL quotes invalid JSON in its log.

    Raises:
        InvalidInput: A document is not JSON, repeats a key, or holds a value that PostgreSQL cannot store.
            The message does not quote it.
    """
    checked = (_json_document(f"{field} {place}: its JSON", one) for place, one in enumerate(documents, 1))
    return f"[{','.join(checked)}]"


def _json_document(field: str, document: str) -> str:
    import json

    def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        parsed_object = dict(pairs)
        if len(parsed_object) < len(pairs):
            raise InvalidInput(f"{field} repeats a key")
        return parsed_object

    def no_constant(_: str) -> None:
        raise InvalidInput(f"{field} holds a number that JSON cannot express")

    try:
        parsed = json.loads(
            as_str(field, document), object_pairs_hook=unique_keys, parse_constant=no_constant
        )
        _json_value(field, parsed)
    except RecursionError:
        raise InvalidInput(f"{field} is nested too deeply") from None
    except ValueError:
        raise InvalidInput(f"{field} is not JSON") from None
    return document


class HalfVector(bytes):
    """A vector as pgvector's `halfvec_recv` reads it; `pgrecall.adapters` sends it.

    In this form a vector costs a fifth of the time and half the bytes of its text, and no error quotes it.
    """

    __slots__ = ()

    @property
    def dimension(self) -> int:
        """The number of its dimensions."""
        return len(self) // 2 - 2


def as_vector(vector: Vector) -> HalfVector:
    """Return a query vector as it is sent.

    Raises:
        InvalidVector: It is empty, nested, too long, or holds something that is not a finite number or out of
            the range of a halfvec.
    """
    values: Any = vector
    if hasattr(values, "tolist"):  # numpy, torch: without importing either
        values = values.tolist()
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InvalidVector(f"vector must be a sequence of numbers, not {type(vector).__name__}")
    try:
        numbers = [float(value) for value in values]
    except (TypeError, ValueError):
        raise InvalidVector("vector must hold numbers only") from None
    except OverflowError:
        raise InvalidVector("vector holds a number that is too large") from None
    if not numbers:
        raise InvalidVector("vector is empty")
    if len(numbers) > _MOST_DIMENSIONS:
        raise InvalidVector(f"vector has {len(numbers)} dimensions; {_MOST_DIMENSIONS} is the limit")
    if not all(map(math.isfinite, numbers)):
        raise InvalidVector("vector holds NaN or infinity")
    try:
        return HalfVector(struct.pack(f"!HH{len(numbers)}e", len(numbers), 0, *numbers))
    except OverflowError:
        raise InvalidVector("vector holds a number beyond 65504, the largest of a halfvec") from None


# By the type of the argument in SQL.
_CHECKS: dict[str, Callable[[str, object], Any]] = {
    "bigint": as_id,
    "bigint[]": as_ids,
    "boolean": as_bool,
    "double precision": as_float,
    "integer": as_int,
    "interval": as_interval,
    "jsonb": json_object,
    "text": as_str,
    "text[]": as_str_list,
    "timestamp with time zone": as_datetime,
}
# Arguments that take fewer or more values than their type.
_SPECIAL: dict[str, Callable[[str, object], Any]] = {
    "expires_at": as_end,
    "importance": as_fraction,
    "valid_to": as_end,
}


def checked_arguments(**values: object) -> dict[str, Any]:
    """Check and convert arguments by the types that they have in SQL, and leave out those that are None.

    None always means the default of the SQL function, so that defaults are defined in the database only.

    Raises:
        InvalidInput: A value that its type cannot hold, or no id.
    """
    if "id" in values and values["id"] is None:
        raise InvalidInput("id must be a whole number, not NoneType")  # no function has a default for it
    given = {name: value for name, value in values.items() if value is not None}
    return {name: _check(name)(name, value) for name, value in given.items()}


def nullable_arguments(**values: object) -> dict[str, Any]:
    """Check and convert arguments as `checked_arguments` does; those that are None are sent as NULL."""
    return dict.fromkeys(values) | checked_arguments(**values)


def _check(name: str) -> Callable[[str, object], Any]:
    return _SPECIAL.get(name) or _CHECKS[ARGUMENT_TYPES[_ARGUMENTS.get(name, name)]]


def check_given(name: str, value: object, advice: str = "") -> None:
    """Raise TypeError, as Python does, for a required argument that is None."""
    if value is None:
        raise TypeError(f"{name} must be text, not None. {advice}".strip())


def check_options(fields: Mapping[str, object], allowed: type) -> dict[str, object]:
    """Return keyword arguments; raise TypeError, as Python does, for one that `allowed` does not have."""
    for name in fields:
        if name not in allowed.__annotations__:
            raise TypeError(f"unexpected keyword argument {name!r}")
    return dict(fields)


def call(function: str, arguments: Mapping[str, Any]) -> tuple[sql.Composed, dict[str, Any]]:
    """Build the call of a public function with named arguments.

    Args:
        function: Its schema-qualified name.
        arguments: The checked arguments by name.

    Returns:
        The statement and its parameters. Texts, JSON and vectors are sent untyped: the signature of the
        function determines their types, so no type has to be looked up first.
    """
    from psycopg import sql

    named = [
        sql.SQL("{} => {}{}").format(
            sql.Identifier(_ARGUMENTS.get(name, name)),
            sql.Placeholder(name),
            sql.SQL(f"::{_CASTS[name]}") if name in _CASTS else sql.SQL(""),
        )
        for name in arguments
    ]
    statement = sql.SQL("SELECT * FROM {}({})").format(
        sql.Identifier(*function.split(".")), sql.SQL(", ").join(named)
    )
    return statement, {name: _sent(name, value) for name, value in arguments.items()}


def _sent(name: str, value: Any) -> Any:
    return json_text(json_object(name, value)) if isinstance(value, dict) else value


def json_text(value: object) -> str:
    """Return checked values as JSON."""
    import json

    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
