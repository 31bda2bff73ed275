"""Persons whose surname is a word for a place or a thing: "Kim Park", "Rosa Lake", "Grace Church".

The words alone do not tell them from "Hyde Park" and "Silver Lake", so only what a person does or has makes a
person of such a name. After a known given name a weaker sign is enough: a park called Anna asks and laughs as
little as any other, but firms called "Silver Lake" say, hire and join things.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pgrecall_extract.words import COMMON, LAST_WORDS, ORG_WORDS, PLACE_FIRST, PLACE_LAST, REGIONAL, word_set

from .world import GIVEN_NAMES, ORGANISATIONS, PLACES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgrecall_extract.base import Mention

__all__ = ["FIRST_NAMES", "OCCUPATION", "acts_as_person", "with_surnames"]

_CONFIDENCE: Final = 0.9
_SURNAMES: Final = PLACE_LAST | ORG_WORDS | LAST_WORDS.keys()
FIRST_NAMES: Final = GIVEN_NAMES | word_set("""
    ada april art autumn bea brook brooke chase chuck clay cliff daisy dean dot drew faith fay finn
    frank gene glen grace grant guy hazel heath holly hope iris ivy jade jay jo josh joy june kay
    kim kit lea lee lola mack mae may miles nat ned nell olive opal page pat pearl penny pip poppy
    ray reed rex rob robin rod rose ruby sage sally sid skip sky sue summer tess tony val vic violet
    wade ward will willow wren zack
""")
"""Given names, with those that are other words as well; lower case."""
_ADVERB: Final = r"(?: (?:now|also|currently|still|just|recently|no longer|really|always|never))?"
OCCUPATION: Final = (
    r"(?:[a-z-]+ ){0,3}(?:engineer|developer|manager|professor|teacher|designer|scientist|researcher"
    r"|analyst|nurse"
    r"|doctor|lawyer|consultant|architect|director|lecturer|intern|editor|chef|programmer|accountant"
    r"|journalist"
    r"|librarian|painter|singer|actor|actress|writer|author|poet|musician|student|friend|colleague"
    r"|neighbou?r|vegetarian"
    r"|vegan|plumber|dentist|cook|gardener|carpenter|pilot|baker|farmer|cellist|violinist|pianist)\b"
)
"""What a person works as, or is to others, as a pattern."""
# What nobody but a person does.
_SURE_AFTER: Final = re.compile(
    rf",?{_ADVERB} (?:(?:works|worked|is working) (?:at|for|as)|(?:lives|lived|is living"
    rf"|grew up) in (?:the )?[A-Z]"
    rf"|was born|is married|got married|married|(?:got |is )?divorced|studied|graduated|retired"
    rf"|is (?:an?|the|my|our|her|his) {OCCUPATION}"
    r"|is allergic|is pregnant|is vegan|is vegetarian|turned \d|is \d+ years old|and I\b|does(?:n['’]t"
    r"| not) (?:work|live) (?:at|for|in)"
    r"|used to (?:work|live)|quit (?:her|his|their) job|was (?:fired|hired|laid off)"
    r"|(?:has )?moved (?:to|out of|away from) (?:the )?[A-Z]"
    r"|['’]s (?:birthday|wedding|funeral|mother|father|wife|husband|son|daughter|sister|brother|boss))"
)
# What firms and places are said to do as well.
_LIKELY_AFTER: Final = re.compile(
    rf"['’]s (?:phone|number|address|email|flat|house|car|dog|cat|desk)\b"
    rf"|,?{_ADVERB} (?:works|worked|lives|lived|said|says|told|asked|asks|thinks|thought|likes|loves|loved"
    rf"|hates|prefers|wants"
    r"|plays|played|uses|owns|drives|drove|wrote|writes|read|watched|visited|knows|knew|feels|felt|went"
    r"|came|ate|bought"
    r"|called|texted|emailed|sent|gave|met|teaches|taught|leads|manages|reports|joined|left|quit|resigned"
    r"|founded|laughed"
    r"|agreed|suggested|forgot|promised|cooked|baked|sings|sang|runs|ran|speaks|spoke|is (?:sick|ill|away"
    r"|out|on holiday"
    r"|on leave|late|tired|happy|sad|busy|single)|has (?:a|two|three) (?:son|daughter|child|brother|sister"
    r"|dog|cat|cold)"
    r"|whose|who)\b"
)
_RELATED: Final = (
    r"(?:wife|husband|partner|girlfriend|boyfriend|son|daughter|brother|sister|mother|father|mom|mum|dad"
    r"|cousin|uncle|aunt"
    r"|nephew|niece|friend|boss|manager|colleague|coworker|roommate|flatmate|neighbou?r|mentor|teacher"
    r"|dentist|doctor)"
)
_SURE_BEFORE: Final = re.compile(
    rf"\b(?:(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir) (?:\w+ )?{_RELATED},? (?:is called |named |is )?"
    r"|[Mm]y name is |[Mm]y name['’]s |(?:married|engaged) to |divorced from |[Mm]r\.? |[Mm]rs\.? |[Mm]s\.? "
    r"|[Dd]r\.? )$"
)
_LIKELY_BEFORE: Final = re.compile(
    r"\b(?:married|divorced|met|told|asked|thanked|hugged|kissed|texted|phoned|emailed|called|hired|dated"
    r"|invited"
    r"|reports? to|reported to|(?:lunch|dinner|coffee|breakfast|call|meeting|chat|appointment) with"
    r"|talked? to|spoke (?:to|with)"
    r"|written by|birthday of|email from|call from) $"
)


def with_surnames(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Return the mentions of an English text, with persons where a name that looks like a place is one.

    Every occurrence of a name in the text is what one of them is.

    Args:
        text: The text.
        mentions: Mentions with spans.
    """
    people = {mention.name for mention in mentions if _is_person(text, mention)}
    if not people:
        return list(mentions)
    return [
        replace(mention, type="PERSON", confidence=_CONFIDENCE) if mention.name in people else mention
        for mention in mentions
    ]


def acts_as_person(text: str, end: int) -> bool:
    """Return whether what stands before a place does what nobody but a person does.

    Args:
        text: The text.
        end: One past the last character of the name.
    """
    return _SURE_AFTER.match(text, end) is not None


def _is_person(text: str, mention: Mention) -> bool:
    if mention.source not in {"phrase", "spacy"} or mention.type == "PERSON":
        return False
    if mention.end is None or mention.start is None:
        return False
    words = mention.name.lower().split()
    if not 2 <= len(words) <= 3 or words[-1] not in _SURNAMES or any(not word.isalpha() for word in words):
        return False
    if mention.name.lower() in PLACES | ORGANISATIONS or words[0] in REGIONAL | PLACE_FIRST:
        return False
    before = text[max(0, mention.start - 40) : mention.start]
    if before.lower().endswith((" the ", "\nthe ")) or before.lower() == "the ":
        return False
    named = words[0] in FIRST_NAMES
    if not named and (words[0] in COMMON or len(words) == 3):
        return False
    if _SURE_AFTER.match(text, mention.end) or _SURE_BEFORE.search(before):
        return True
    return named and bool(_LIKELY_AFTER.match(text, mention.end) or _LIKELY_BEFORE.search(before))
