"""Puts an entry into the text of a JSON file and takes it out, and leaves all other characters alone."""

from __future__ import annotations

import copy
import json
import re
from typing import TYPE_CHECKING, Any

from pgrecall.errors import InvalidInput

from .jsonc import Node, blank_end, parse
from .our_hooks import our_hook

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .adapter import Entry

__all__ = ["add_to_json", "merged", "remove_from_json"]

_UNIT = "  "
_LINE_END = re.compile(r"[ \t]*(?:\r?\n[ \t]*)?")
_COMMENT = re.compile(r"[ \t]*(?://[^\n]*|/\*[^\n]*\*/[ \t]*(?=\r?\n))")


def add_to_json(text: str, entry: Entry) -> str:
    """Return the text with an entry; as it is if that is there already.

    Raises:
        InvalidInput: It is not JSON, or something else is where the entry belongs.
    """
    root = parse(text)
    if root.start == root.end:
        return text + json.dumps(merged({}, entry), indent=_UNIT, ensure_ascii=False) + "\n"
    node, missing = _deepest(root, entry.path)
    if not missing and entry.key is None and isinstance(node.value, list):
        if entry.value in node.value:
            return text
        return _inserted(text, root, node, None, entry.value)
    if not isinstance(node.value, dict) or (not missing and entry.key is None):
        at_fault = entry.path[: len(entry.path) - len(missing)]
        raise InvalidInput(f"{'.'.join(at_fault) or 'the whole'} is something else there")
    if not missing and entry.key in node.value:
        if entry.is_shared or node.value[entry.key] == entry.value:
            return text
        raise InvalidInput(f"there is another {'.'.join((*entry.path, str(entry.key)))}")
    first, *rest = missing if entry.key is None else (*missing, entry.key)
    value = entry.value if entry.key is not None else [entry.value]
    for key in reversed(rest):
        value = {key: value}
    return _inserted(text, root, node, first, value)


def remove_from_json(text: str, entry: Entry, *, was_there: Callable[[Sequence[str]], bool]) -> str:
    """Return the text without an entry, and without what it alone was in.

    Args:
        text: The text.
        entry: The entry. One with a key goes whatever it has become, a hook if it still calls the same.
        was_there: Tells whether there had been something at a path, which then stays, empty.

    Raises:
        InvalidInput: It is not JSON.
    """
    path = entry.path
    node, missing = _deepest(parse(text), path)
    if missing:
        return text
    keys = [member.key for member in node.members]
    if entry.key is None:
        place = our_hook(node, entry.value)
    else:
        place = (node, keys.index(entry.key)) if entry.key in keys else None
    if place is not None:
        text = _removed(text, *place)
    while path and not was_there(path):
        node, missing = _deepest(parse(text), path)
        if missing or node.value:
            break
        *above, key = path
        holder, _ = _deepest(parse(text), above)
        text = _removed(text, holder, [member.key for member in holder.members].index(key))
        path = tuple(above)
    return text


def merged(value: Any, entry: Entry) -> Any:
    """Return a value with an entry, which is what the text with it must say."""
    result = copy.deepcopy(value)
    holder = result
    for number, key in enumerate(entry.path):
        is_last = number + 1 == len(entry.path) and entry.key is None
        holder = holder.setdefault(key, [] if is_last else {})
    if entry.key is not None:
        holder.setdefault(entry.key, entry.value)
    elif entry.value not in holder:
        holder.append(entry.value)
    return result


def _deepest(root: Node, path: Sequence[str]) -> tuple[Node, tuple[str, ...]]:
    """Return the innermost of the containers at a path that is there, and the keys that are missing."""
    node = root
    for number, key in enumerate(path):
        found = [member.node for member in node.members if member.key == key]
        if not found:
            return node, tuple(path[number:])
        node = found[0]
    return node, ()


def _inserted(text: str, root: Node, node: Node, key: str | None, value: Any) -> str:
    break_ = "\r\n" if "\r\n" in text else "\n"
    unit = _indent(text, root.members[0].start) if root.members else None
    unit = unit or _UNIT
    named = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    if node.members and _indent(text, node.members[0].start) is None:
        inline = named + json.dumps(value, ensure_ascii=False)
        last = node.members[-1].node.end
        return f"{text[:last]}, {inline}{text[last:]}"
    outer = _line_indent(text, node.start)
    inner = _indent(text, node.members[0].start) if node.members else outer + unit
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    rendered = f"{break_}{inner}{named}" + f"{break_}{inner}".join(lines)
    if not node.members:
        between = text[node.start + 1 : node.end - 1]
        kept = f"{between.rstrip()}" if between.strip() else ""
        return f"{text[: node.start + 1]}{kept}{rendered}{break_}{outer}{text[node.end - 1 :]}"
    last = node.members[-1].node.end
    place = last if node.comma is None else node.comma
    comma = "," if node.comma is None else ""
    comment = _COMMENT.match(text, place)
    end = place if comment is None else comment.end()
    return f"{text[:last]}{comma}{text[last:end]}{rendered}{text[end:]}"


def _removed(text: str, node: Node, number: int) -> str:
    members = node.members
    start, end = members[number].start, members[number].node.end
    if number + 1 < len(members):
        following = _LINE_END.match(text, blank_end(text, end) + 1)
        return text[:start] + text[end if following is None else following.end() :]
    if number == 0:
        kept = text[node.start + 1 : start].rstrip()
        kept += text[end if node.comma is None else node.comma : node.end - 1].rstrip()
        if kept.strip():
            kept += f"\n{_line_indent(text, node.start)}"
        return text[: node.start + 1] + kept + text[node.end - 1 :]
    # The comma before it goes too, a comment after that stays.
    comma = blank_end(text, members[number - 1].node.end)
    kept = text[comma + 1 : start].rstrip()
    if "//" in kept.rpartition("\n")[2] and text[end : end + 1] not in {"\r", "\n"}:
        kept += "\n"
    return text[:comma] + kept + text[end:]


def _line_indent(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line[: len(line) - len(line.lstrip())]


def _indent(text: str, place: int) -> str | None:
    """Return what stands before a member in its line; None if that is more than blanks."""
    begin = text.rfind("\n", 0, place) + 1
    before = text[begin:place]
    return before if begin and not before.strip() else None
