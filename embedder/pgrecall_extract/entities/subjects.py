"""What a memory is about: its title, or the subject that its text begins with; and who says it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pgrecall_extract.base import Mention
from pgrecall_extract.words import HEADS, word_set

from .names import type_of_name

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "body_start",
    "is_program",
    "is_role",
    "mark_subject",
    "speaker_mention",
    "title_mentions",
    "titles_inside",
    "type_from_definition",
]

_LONGEST_TITLE = 100
_MOST_TITLE_WORDS = 12
_LONGEST_SPEAKER = 80
_SHORTEST_REPEATED = 3
_PROGRAMS: Final = word_set("agent ai assistant bot chatbot copilot function model system tool")
_ROLES: Final = _PROGRAMS | word_set("customer developer human narrator unknown user")
_WORK = re.compile(
    r"\b(?:film|song|album|novel|book|series|game|play|magazine|single|opera|poem|musical|band|EP)\)$"
)
_PARENTHESIS = re.compile(r"(.{2,}?)\s*\(([^()]{1,80})\)\s*")
_LEAD = re.compile(
    r"[\s\"“„‘'`«*#>•-]{0,8}(?:[Tt]he |An? )?(?:(?:Dr|Mr|Mrs|Ms|Prof|Sir|President"
    r"|Professor)\.? )?[\"“'`]{0,2}"
)
_VERB = re.compile(
    r"[\"”'’`]{0,2}(?: \([^()]{0,200}\))?(?:,[^,.;!?\n]{1,100},)?"
    r" (?:(?:also|now|currently|still|really|always|never|later|recently|just) )?"
    r"(?:is|was|are|were|has|had|have|will|can|does|did|[a-z]{2,}(?:s|ed)|went|wrote|made|became|began"
    r"|came|got|won|led"
    r"|grew|ran|left|lost|met|saw|sold|took|told|spoke)\b"
)
_DEFINITION = re.compile(
    r"[\"”'’`]{0,2}(?: \([^()]{0,200}\))?(?:,[^,.;!?\n]{1,100},)? (?:is|was|are|were) (?:an?|the"
    r"|one of the) ([^,.;:()\n]{2,90})"
)
_AFTER_HEAD = re.compile(
    r" (?:of|in|for|from|by|that|which|who|whose|with|at|on|to|and|or|located|situated|based|used|owned"
    r"|near|where|written"
    r"|directed|known|best|founded|born|operated|made|developed|consisting|between|along|under|as|when"
    r"|currently)\b"
)


def title_mentions(title: str) -> list[Mention]:
    """Return the names of a title: the whole, and what stands before a parenthesis ("Go (game)" is called
    "Go").

    A title that is a sentence is no name.

    Args:
        title: A memory's title.
    """
    whole = " ".join(title.split())
    if (
        not whole
        or len(whole) > _LONGEST_TITLE
        or len(whole.split()) > _MOST_TITLE_WORDS
        or whole.endswith(("?", "!"))
    ):
        return []
    names = [whole]
    if " " not in whole and "_" in whole:
        names.append(whole.replace("_", " ").strip())
    parenthesis = _PARENTHESIS.fullmatch(names[-1])
    hint = "CONCEPT"
    if parenthesis is not None:
        names.append(parenthesis[1])
        words = parenthesis[2].lower().split()
        hint = HEADS.get(words[-1], "CONCEPT") if words else "CONCEPT"
    type_ = type_of_name(names[-1])[0] if parenthesis is None else hint
    return [
        Mention(name, type_, None, None, 0.9 if number == 0 else 0.85, "title", is_about=True)
        for number, name in enumerate(names)
        if len(name) > 1
    ]


def titles_inside(text: str, titles: Sequence[Mention], found: Sequence[Mention]) -> list[Mention]:
    """Return where a text repeats its title, as far as nothing says more about the very same words.

    Args:
        text: The text.
        titles: The names of its title.
        found: What the other enrichers found.
    """
    typed = {(mention.start, mention.end) for mention in found if mention.type != "CONCEPT"}
    repeated = []
    for title in titles:
        if len(title.name) < _SHORTEST_REPEATED or not any(map(str.isupper, title.name)):
            continue
        work = title.name != titles[0].name and _WORK.search(titles[0].name)
        start = text.find(title.name)
        while start >= 0:
            end = start + len(title.name)
            whole = not text[start - 1 : start].isalnum() and not text[end : end + 1].isalnum()
            if whole and (work or (start, end) not in typed):
                repeated.append(replace(title, start=start, end=end))
            start = text.find(title.name, end)
    return repeated


def speaker_mention(speaker: str) -> Mention | None:
    """Return the mention of who says a memory; None if the name is empty or too long to be one.

    Args:
        speaker: The name as it is stored.
    """
    name = " ".join(speaker.split())
    if not 1 < len(name) <= _LONGEST_SPEAKER:
        return None
    return Mention(name, "PERSON", None, None, 0.95, "speaker")


def is_role(speaker: str) -> bool:
    """Return whether a speaker is a part in a conversation ("user", "assistant") and nobody's name.

    Args:
        speaker: The name as it is stored.
    """
    return speaker.strip().casefold() in _ROLES


def is_program(speaker: str) -> bool:
    """Return whether a speaker is a program ("assistant"), whose "I" is often an echo of the user's.

    Args:
        speaker: The name as it is stored.
    """
    return speaker.strip().casefold() in _PROGRAMS


def body_start(content: str, title: str | None, speaker: str | None) -> int:
    """Return where a text itself begins, in characters: after a first line that repeats the title, and after
    "Speaker:".

    Args:
        content: The memory's text.
        title: Its title, if it has one.
        speaker: Who says it, if it is known.
    """
    start = 0
    if title and content.startswith(title) and content[len(title) : len(title) + 1] == "\n":
        start = len(title) + 1
    if speaker and content.startswith(speaker, start) and content[start + len(speaker) :][:1] in {":", "\n"}:
        start += len(speaker) + 1
    return start


def mark_subject(text: str, mentions: Sequence[Mention], start: int) -> list[Mention]:
    """Return the mentions, with the one that the text begins with marked if a verb follows it.

    Args:
        text: The text.
        mentions: Mentions with spans.
        start: Where the text itself begins, in characters.
    """
    return [
        replace(mention, is_about=True)
        if mention.start is not None
        and mention.end is not None
        and mention.start >= start
        and mention.start - start < 40
        and _LEAD.fullmatch(text, start, mention.start)
        and _VERB.match(text, mention.end)
        else mention
        for mention in mentions
    ]


def type_from_definition(text: str, end: int) -> str | None:
    """Return the type that "... is a river" gives to what stands before it; None if it gives none.

    Args:
        text: The text.
        end: One past the last character of the name that is defined.
    """
    definition = _DEFINITION.match(text, end)
    if definition is None:
        return None
    phrase = definition[1]
    cut = _AFTER_HEAD.search(phrase)
    words = (phrase if cut is None else phrase[: cut.start()]).split()
    return HEADS.get(words[-1].lower()) if words else None
