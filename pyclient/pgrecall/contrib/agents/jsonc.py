"""JSON with comments and trailing commas, as editors write it: what is in it, and where."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from pgrecall.errors import InvalidInput

__all__ = ["Member", "Node", "blank_end", "parse"]

_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_WORD = re.compile(r"[-+.\w]+")


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object, or an item of a list.

    Attributes:
        key: Its key; None in a list.
        start: Where it begins, with its key.
        node: Its value.
    """

    key: str | None
    start: int
    node: Node


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands in the text.

    Attributes:
        value: The value.
        start: Where it begins.
        end: Where it ends.
        members: What is in an object or a list.
        comma: Where a comma after the last member ends; None if there is none.
    """

    value: Any
    start: int
    end: int
    members: tuple[Member, ...] = ()
    comma: int | None = None


def parse(text: str) -> Node:
    """Parse a text; an empty one is an empty object.

    Raises:
        InvalidInput: It is not JSON, or says a thing twice.
    """
    try:
        start = blank_end(text, 0)
        if start == len(text):
            return Node({}, start, start)
        node = _node(text, start)
    except RecursionError:
        raise InvalidInput("it is nested too deeply") from None
    if blank_end(text, node.end) != len(text):
        _fail(text, node.end)
    return node


def blank_end(text: str, place: int) -> int:
    """Return where blanks and comments end that begin at a place."""
    found = _BLANK.match(text, place)
    return place if found is None else found.end()


def _node(text: str, start: int) -> Node:
    opening = text[start : start + 1]
    if opening in {"{", "["}:
        return _container(text, start, "}" if opening == "{" else "]")
    found = _STRING.match(text, start) if opening == '"' else _WORD.match(text, start)
    if found is None:
        _fail(text, start)
    try:
        return Node(json.loads(found.group()), start, found.end())
    except ValueError:
        _fail(text, start)


def _container(text: str, start: int, closing: str) -> Node:
    members: list[Member] = []
    place = blank_end(text, start + 1)
    comma = None
    while text[place : place + 1] != closing:
        if members and comma is None:
            _fail(text, place)
        begin, key = place, None
        if closing == "}":
            named = _node(text, place)
            if not isinstance(named.value, str) or any(one.key == named.value for one in members):
                _fail(text, place)
            key, place = named.value, blank_end(text, named.end)
            if text[place : place + 1] != ":":
                _fail(text, place)
            place = blank_end(text, place + 1)
        node = _node(text, place)
        members.append(Member(key, begin, node))
        place, comma = blank_end(text, node.end), None
        if text[place : place + 1] == ",":
            comma = place + 1
            place = blank_end(text, comma)
    value = [one.node.value for one in members] if closing == "]" else {o.key: o.node.value for o in members}
    return Node(value, start, place + 1, tuple(members), comma)


def _fail(text: str, place: int) -> NoReturn:
    raise InvalidInput(f"it is not JSON at line {text.count(chr(10), 0, place) + 1}")
