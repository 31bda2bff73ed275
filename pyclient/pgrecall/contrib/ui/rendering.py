"""Templates, and how what memories hold is written so that it can neither run, nor hide, nor break a page."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import HTMLResponse

from pgrecall.command_line_hints import command_line_hint
from pgrecall.formatting import counted, format_age, format_bytes
from pgrecall.query.legs import BOOSTS, DESCRIBED

from . import charts

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWN = 320
"""Characters of a memory in a list."""

TAGS = 8
"""Tags of a memory in a list."""

_WORD = 40  # characters of a tag, a name, a session

_UNKNOWN = "\N{REPLACEMENT CHARACTER}"
# Zero-width joiners stay: emoji and Persian need them.
_MARKS: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20)},  # the pictures of control characters
    **{ord(char): char for char in "\t\n"},
    0x0D: "",
    0x7F: "\N{SYMBOL FOR DELETE}",
    **dict.fromkeys(range(0x80, 0xA0), _UNKNOWN),
    0x2028: "\n",
    0x2029: "\n",
    # What turns the direction of text around, up to an end that need not come.
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), _UNKNOWN),
    # Letters that cannot be seen and that language models read.
    **dict.fromkeys(range(0xE0000, 0xE0080), _UNKNOWN),
}


def shown(text: object) -> str:
    """Write a text with control characters, and what hides or turns text around, made visible."""
    return str(text).translate(_MARKS)


def advice(text: str) -> str:
    """Write a hint or a notice in the terms of the command line: who reads it started the inspector there."""
    return shown(command_line_hint(text))


def excerpt(text: str, limit: int = SHOWN) -> str:
    """Return the beginning of a text on one line."""
    line = " ".join(text[: 4 * limit].split())
    return shown(line if len(line) <= limit and len(text) <= 4 * limit else f"{line[:limit]}…")


def word(text: object) -> str:
    """Return a name, cut to fit in a line."""
    return excerpt(str(text), _WORD)


def number(value: float | None, digits: int = 4) -> str:
    """Write a number to so many decimal places; a dash for none."""
    return "–" if value is None else f"{value:.{digits}f}"


def when(value: datetime | None) -> str:
    """Write a time in UTC; midnight sharp is a day."""
    if value is None:
        return "–"
    utc = value.astimezone(UTC)
    return f"{utc:%Y-%m-%d}" if utc.time() == datetime.min.time() else f"{utc:%Y-%m-%d %H:%M} UTC"


def span(value: timedelta | None) -> str:
    """Write a span of time in its largest unit."""
    return "–" if value is None else format_age(value)


def count(value: int | None) -> str:
    """Write a number with its thousands apart."""
    return "–" if value is None else f"{value:,}"


def as_json(value: object) -> str:
    """Write metadata as JSON."""
    return json.dumps(value, ensure_ascii=False)


def tags(names: Sequence[str]) -> tuple[Sequence[str], int]:
    """Return the first tags, and how many more there are."""
    return names[:TAGS], max(0, len(names) - TAGS)


_templates = Environment(
    loader=PackageLoader("pgrecall.contrib.ui"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters.update(
    advice=advice,
    shown=shown,
    excerpt=excerpt,
    word=word,
    number=number,
    when=when,
    span=span,
    count=count,
    counted=counted,
    size=format_bytes,
    json=as_json,
)
_templates.globals.update(
    tags=tags,
    parts=charts.PARTS,
    boosts=BOOSTS,
    legs=DESCRIBED,
    stack=charts.stack,
    star=charts.star,
    namespace_in_force=None,
    sensitive=False,
    form_token=None,
    can_retry=True,
    is_outside=False,
)


def page(template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Fill a template.

    Args:
        template: Its name.
        status: The HTTP status.
        **values: What it uses.
    """
    return HTMLResponse(_templates.get_template(template).render(values), status_code=status)
