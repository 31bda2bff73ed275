"""Writes the concept graph as GraphML or DOT, row by row; any name is escaped."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from xml.sax.saxutils import escape

from pgrecall.formatting import escape_controls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime

__all__ = ["FORMATS", "GraphRow", "dot", "graphml"]

# Characters that XML 1.0 cannot express (section 2.2), surrogates included.
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_KEYS: Final = (
    ("node", "name", "string"),
    ("node", "type", "string"),
    ("node", "mentions", "long"),
    ("edge", "kind", "string"),
    ("edge", "label", "string"),
    ("edge", "weight", "double"),
    ("edge", "valid_from", "string"),
    ("edge", "valid_to", "string"),
    ("edge", "superseded_at", "string"),
)


@dataclass(frozen=True, slots=True)
class GraphRow:
    """A row of pgrecall.graph_export().

    Attributes:
        kind: concept, shared or relationship.
        id: A concept.
        target_id: The other end of an edge; None for a concept.
        name: The concept's name, or the relationship's label.
        type: The concept's type.
        weight: Number of memories that mention the concept, or both ends; the confidence of a relationship.
        valid_from: Start of the validity of a relationship.
        valid_to: End of the validity.
        superseded_at: When the relationship was recorded as superseded.
    """

    kind: str
    id: int
    target_id: int | None
    name: str | None = field(repr=False)
    type: str | None
    weight: float
    valid_from: datetime | str | None = None
    valid_to: datetime | str | None = None
    superseded_at: datetime | str | None = None

    @property
    def facts(self) -> dict[str, str]:
        """The known attributes as text."""
        if self.target_id is None:
            known: dict[str, object] = {"name": self.name, "type": self.type, "mentions": int(self.weight)}
        else:
            known = {
                "kind": self.kind,
                "label": self.name,
                "weight": self.weight,
                "valid_from": self.valid_from,
                "valid_to": self.valid_to,
                "superseded_at": self.superseded_at,
            }
        return {name: _text(value) for name, value in known.items() if value is not None}


def graphml(rows: Iterable[GraphRow]) -> Iterator[str]:
    """Write a graph as GraphML, line by line.

    Args:
        rows: Its concepts and edges.
    """
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for place, name, kind in _KEYS:
        yield f'  <key id="{name}" for="{place}" attr.name="{name}" attr.type="{kind}"/>\n'
    yield '  <graph id="concepts" edgedefault="directed">\n'
    for row in rows:
        data = "".join(f'<data key="{name}">{_xml(value)}</data>' for name, value in row.facts.items())
        if row.target_id is None:
            yield f'    <node id="c{row.id}">{data}</node>\n'
        else:
            directed = "false" if row.kind == "shared" else "true"
            ends = f'source="c{row.id}" target="c{row.target_id}" directed="{directed}"'
            yield f"    <edge {ends}>{data}</edge>\n"
    yield "  </graph>\n</graphml>\n"


def dot(rows: Iterable[GraphRow]) -> Iterator[str]:
    """Write a graph in the DOT language of Graphviz, line by line.

    Args:
        rows: Its concepts and edges.
    """
    yield "digraph concepts {\n"
    for row in rows:
        facts = row.facts
        if row.target_id is None:
            facts["label"] = facts.pop("name", "")
            yield f"  c{row.id} [{_dot(facts)}];\n"
        else:
            if row.kind == "shared":
                facts["dir"] = "none"
            yield f"  c{row.id} -> c{row.target_id} [{_dot(facts)}];\n"
    yield "}\n"


FORMATS: Final[Mapping[str, Callable[[Iterable[GraphRow]], Iterator[str]]]] = {"graphml": graphml, "dot": dot}
"""The writers by the name of their format."""


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def _xml(text: str) -> str:
    text = escape(_NO_XML.sub("\N{REPLACEMENT CHARACTER}", text), {"\r": "&#13;"})
    return escape_controls(text, "&#{};")


def _dot(facts: Mapping[str, str]) -> str:
    return ", ".join(f'{name}="{_quoted(value)}"' for name, value in facts.items())


def _quoted(text: str) -> str:
    """Escape a quoted string; in a label a single backslash would start an escape code."""
    text = text.replace("\\", "\\\\").replace('"', '\\"').replace("\r\n", "\n").replace("\n", "\\n")
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
