"""Capitalised phrases as names, and the types that their words give away.

A phrase is a run of capitalised words, with connectors inside it ("University of Copenhagen", "Ludwig van
Beethoven", "Procter & Gamble"). "and" never connects: "Jon and Gina" are two. Words that open a sentence are
the hard part: one that is no common word still counts only where it is seen with a capital inside a sentence
too, where a list knows it, or where what follows says that it is a name (a verb form or "'s").

Confidence in English: .9 a title before the name; .85 a word that names an organisation or a place; .8 a
known place, initials; .75 a given name with a surname; .7 a lone given name, several words; .6 an acronym or
a word with a digit; .55 a lone word inside a sentence; .5 a lone word that opens one. Other languages take
.05 off, and know no cues but initials.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pgrecall_extract.base import Mention
from pgrecall_extract.languages import GENERIC_LANGUAGES
from pgrecall_extract.sentences import UPPER, sentence_spans
from pgrecall_extract.words import (
    CALENDAR,
    COMMON,
    DEMONYMS,
    FUNCTION_WORDS,
    HONORIFICS,
    LAST_WORDS,
    LEADING_WORDS,
    ORG_WORDS,
    PLACE_FIRST,
    PLACE_LAST,
    REGIONAL,
    SEASONS,
    SHOUTS,
    TITLE_LAST,
    word_set,
)

from .surnames import acts_as_person
from .world import GIVEN_NAMES, ORGANISATIONS, PLACES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["find_names", "is_no_name", "type_of_name"]


_WORD = re.compile(rf"(?<![\w@#/\\])(?:[{UPPER}]\.(?:[{UPPER}]\.)+|[{UPPER}][\w]*(?:[-’'`&][\w]+)*)")
_GAP = re.compile(
    r"(\.?) |(?: (?:of the|of|de la|de las|de los|de|del|della|di|da|das|do|dos|du|des|der|den|van der"
    r"|van den|van|von der"
    r"|von|zu|la|le|el|al|bin|ibn|ben|&) )|(\.) ?"
)
_POSSESSIVE = re.compile(r"['’`]s?$")
_OPENERS = " \t\"“”„‘’'`«»([{*_-–—•>#~"
_ROMAN = re.compile(r"[IVX]{1,4}")
_DIGIT = re.compile(r"\d")
_MOST_WORDS = 9
_LONGEST_RUN = 30
_NAME_CUE = re.compile(
    r"(?:['’]s [a-z]|(?: (?:now|also|currently|still|just|recently|finally|has|no longer))?"
    r",? (?:is|was|has|had|will|says?|said|told|asked|works?|worked|lives?|lived|likes?"
    r"|loves?|loved"
    r"|prefers?|wants?|wanted|moved|joined|went|wrote|made|founded|married|studied|plays?|played|became|began"
    r"|lies|uses|used|needs|runs|depends|supports|manages|leads|reports|belongs|maintains|replaces|requires"
    r"|owns|acquired|who|which|who's|gave|ate|bought|took|texted|sent|agreed|suggested|thinks|knows|hates"
    r"|booked|presented|reviewed|promised|forgot|cooked|brought|called|met|left|quit|got|started|resigned"
    r"|retired|graduated|rejoined|relocated|changed (?:jobs|employers|careers)"
    r"|hasn['’]t|handed in|tendered|ditched|abandoned|switched|fired|sacked|dismissed|laid off|let go of"
    r"|(?:let|laid|made) [A-Z][\w-]+(?: [A-Z][\w-]+)? (?:go|off|redundant)"
    r"|stopped|sold|cancell?ed|divorced|split up|broke (?:up|off)|does not|isn['’]t|doesn['’]t|and I"
    r"|and [A-Z][a-z]+ (?:are|were|got|split|broke|divorced|separated))\b)"
)
_NAME_ENDS = re.compile(rf"(?:[.,;:!?)]|$)|{_NAME_CUE.pattern}")
_BASE = re.compile(r"[^\W_][\w-]*(?:['’`](?=[^\W_]{4})[\w-]+)*(?=['’`]|\b)")
_DOTTED_CAPITALS = re.compile(rf"(?:[{UPPER}]\.){{2,6}}")
_INITIALS = re.compile(r"(?:[a-z]\. ?){2,}[a-z]|[a-z]+ [a-z]\. [a-z]")
_EMPTY: Final = FUNCTION_WORDS | SHOUTS | CALENDAR | DEMONYMS
_APOSTROPHE = re.compile(r"['’`]")
_COMMON_ENDING = re.compile(
    r"(?:ing|ings|ed|ly|ness|ment|ments|tion|tions|sion|ism|ity|ies|ful|less|able|ous|ers)$"
)
# "President of Nicaragua" is an office, and the country the name; "Sterling Software of Plano" is two names.
_OFFICES: Final = word_set("""
    president governor mayor minister chairman chancellor senator ambassador secretary director head
    member king queen manager ceo founder
""")
_OF_HEADS: Final = (
    ORG_WORDS - {"software", "systems", "team", "records", "technologies", "co", "inc", "ltd"}
) | word_set("""
    house houses states state republic kingdom province city county isle bay gulf cape strait sea battle
    treaty war order board journal register declaration bill lord game duke prince earl bishop
    museum gallery archbishop history book hall center centre day act charter statue tower church
    cathedral library office university
""")
_ADDRESSED = re.compile(
    r"\b(?:[Hh]ey|[Hh]i|[Hh]ello|[Tt]hanks|[Tt]hank you|[Cc]ongrats|[Bb]ye|[Ss]orry|[Yy]eah),? $"
)
_ALSO_FIRST_NAMES: Final = word_set("may april june august will summer autumn hope")
_ALSO_LAST_NAMES: Final = word_set("an do so hope")
_CONNECTING: Final = word_set("""
    of the de la las los del della di da das do dos du des der den van von zu le el al bin ibn ben &
    for
""")


@dataclass(frozen=True, slots=True)
class _Word:
    start: int
    end: int
    text: str
    opens: bool
    possessive: bool

    @property
    def lower(self) -> str:
        return self.text.lower()


def find_names(text: str, language: str = "english", start: int = 0) -> Iterator[Mention]:
    """Yield the capitalised phrases of a text that look like names.

    Args:
        text: Any text. The work grows in proportion to its length.
        language: Name of a PostgreSQL text-search configuration; nothing is found in German and in languages
            that are neither English nor in GENERIC_LANGUAGES.
        start: Where to begin, in characters.
    """
    if language != "english" and language not in GENERIC_LANGUAGES:
        return
    words = _words_of(text, start)
    inside = {word.text for word in words if not word.opens}
    for phrase in _phrases(text, words):
        if len(phrase) > _LONGEST_RUN:  # a heading or shouting, and costly to cut down word by word
            continue
        mention = (
            _english(text, phrase, inside)
            if language == "english"
            else _generic(text, phrase, inside, GENERIC_LANGUAGES[language])
        )
        if mention is not None:
            yield mention


def is_no_name(name: str) -> bool:
    """Return whether a phrase is made of nothing but common English words, times, nationalities or shouts.

    Args:
        name: The phrase as it is written.
    """
    if _DOTTED_CAPITALS.fullmatch(name):
        return False
    words = [word.lower() for word in _BASE.findall(name) if len(word) > 1]
    if not words:
        return True
    if len(words) == 1 and (words[0] in COMMON or words[0] in HONORIFICS) and not name.isupper():
        return True
    return all(word in _EMPTY or word.isdigit() for word in words)


def type_of_name(name: str) -> tuple[str, float]:
    """Return the type that the words of a name give away, and how sure that is; CONCEPT if they do not.

    Args:
        name: The name as it is written.
    """
    lower = name.lower()
    if lower in PLACES:
        return "PLACE", 0.7 if lower in GIVEN_NAMES else 0.9
    if lower in ORGANISATIONS:
        return "ORG", 0.8
    first, _, rest = lower.partition(" ")
    if rest in PLACES and first in REGIONAL:  # "West Africa", "Greater Sydney"
        return "PLACE", 0.8
    words = lower.replace(".", "").split()
    if not words:
        return "CONCEPT", 0.5
    several = len(words) > 1
    if several and words[0] == "project":
        return "PROJECT", 0.85
    head = words[words.index("of") - 1] if "of" in words[1:] else words[-1]
    if several and head in LAST_WORDS:
        return LAST_WORDS[head], 0.85
    if several and (head in ORG_WORDS or (words[-1] in ORG_WORDS and "of" not in words)):
        return "ORG", 0.85
    if several and (words[-1] in PLACE_LAST or (words[0] in PLACE_FIRST and "of" not in words)):
        return "PLACE", 0.85
    if several and words[0] in {"republic", "kingdom", "state", "province", "city", "isle", "gulf"}:
        return "PLACE", 0.8
    if "&" in words[1:-1]:
        return "ORG", 0.8
    if words[0].split("-")[0] in GIVEN_NAMES and not _CONNECTING & set(words) - {
        "de",
        "van",
        "von",
        "der",
        "la",
        "bin",
        "al",
        "da",
    }:
        return (
            ("PERSON", 0.75) if 1 < len(words) < 5 else ("PERSON", 0.7) if not several else ("CONCEPT", 0.7)
        )
    if _INITIALS.match(lower):
        return "PERSON", 0.8
    if several:
        return "CONCEPT", 0.7
    return "CONCEPT", 0.6 if name.isupper() or _DIGIT.search(name) else 0.55


def _words_of(text: str, start: int) -> list[_Word]:
    """Return the capitalised words; one opens when nothing but signs stands before it in its sentence."""
    words = []
    sentences = iter(sentence_spans(text, start))
    begin, end = next(sentences, (len(text), len(text)))
    opened = False
    for match in _WORD.finditer(text, start):
        while match.start() >= end:
            begin, end = next(sentences, (len(text), len(text)))
            opened = False
            if begin == len(text):
                break
        word = match[0]
        possessive = _POSSESSIVE.search(word) is not None and len(word) > 3
        bare = _POSSESSIVE.sub("", word) if possessive else word
        before = text[max(begin, match.start() - 4) : match.start()].rstrip(" \t")
        # A colon, a dash or a bracket may begin a sentence of its own: "Note: Remember to ..."
        opens = not opened and not text[begin : match.start()].strip(_OPENERS)
        opens = opens or before.endswith((":", ";", "“", "[", '"', "|", "•", "...", "…"))
        opened = True
        words.append(_Word(match.start(), match.start() + len(bare), bare, opens, possessive))
    return words


def _phrases(text: str, words: Sequence[_Word]) -> Iterator[list[_Word]]:
    phrase: list[_Word] = []
    for word in words:
        if phrase and not _joined(text, phrase, word):
            yield phrase
            phrase = []
        phrase.append(word)
    if phrase:
        yield phrase


def _joined(text: str, phrase: list[_Word], right: _Word) -> bool:
    left = phrase[-1]
    gap = text[left.end : right.start]
    if left.possessive or (right.opens and not gap.isspace()) or len(gap) > 24:
        return False
    if right.opens and gap != " ":
        return False
    if _GAP.fullmatch(gap) is None:
        return False
    if " of" in gap and (left.lower in _OFFICES or (len(phrase) > 1 and left.lower not in _OF_HEADS)):
        return False
    if "." in gap:
        return (
            left.lower in HONORIFICS
            or (len(left.text) == 1 and left.text != "I")
            or left.lower in {"st", "mt", "ft"}
        )
    return True


def _english(text: str, phrase: list[_Word], inside: set[str]) -> Mention | None:
    honorific = False
    while phrase and _leads(text, phrase, inside):
        honorific = False
        phrase = phrase[1:]
    while len(phrase) > 1 and phrase[0].lower in HONORIFICS:
        if phrase[0].lower == "saint" or text[phrase[0].end : phrase[1].start].strip(". "):
            break
        honorific = True
        phrase = phrase[1:]
    while phrase and _trails(text, phrase):
        phrase = phrase[:-1]
    if not phrase or len(phrase) > _MOST_WORDS:
        return None
    name = text[phrase[0].start : phrase[-1].end]
    empty = is_no_name(name) and not (
        phrase[0].lower in _ALSO_FIRST_NAMES and acts_as_person(text, phrase[-1].end)
    )
    if len(name) < 2 or empty:
        return None
    if len(phrase) > 2 and all(word.text.isupper() for word in phrase) and sum(map(len, name.split())) > 12:
        return None
    type_, confidence = ("PERSON", 0.9) if honorific else type_of_name(name)
    if len(phrase) == 1 and not honorific:
        lone = _lone(text, phrase[0], inside, confidence)
        if lone is None:
            return None
        confidence = lone
        if type_ == "CONCEPT" and _ADDRESSED.search(text, max(0, phrase[0].start - 12), phrase[0].start):
            type_ = "PERSON"
    return Mention(name, type_, phrase[0].start, phrase[-1].end, confidence, "phrase")


def _leads(text: str, phrase: list[_Word], inside: set[str]) -> bool:
    """Return whether a phrase's first word is no part of a name."""
    word = phrase[0]
    base = _APOSTROPHE.split(word.text, maxsplit=1)[0].lower()
    after = text[word.end : phrase[1].start] if len(phrase) > 1 else ""
    if after.startswith("."):
        return False
    if base in FUNCTION_WORDS or base in SHOUTS or base in CALENDAR:
        if base in SEASONS and after == " " and not word.opens:
            return phrase[1].lower in CALENDAR
        if base not in _ALSO_FIRST_NAMES or len(phrase) == 1:
            return True
        if word.opens and base in {"summer", "autumn", "hope"}:  # "Hope Brown is well" is a wish
            return phrase[1].lower in GIVEN_NAMES or not acts_as_person(text, phrase[-1].end)
        # "Will Banks works": the verb has its subject, so "Will" is no question.
        return word.opens and not (len(phrase) == 2 and _NAME_CUE.match(text, phrase[-1].end))
    if len(phrase) == 1 or not word.opens or word.text in inside:
        person = len(phrase) > 2 and (word.lower.endswith("man") or phrase[1].lower in GIVEN_NAMES)
        return word.lower in DEMONYMS and person
    if base in LEADING_WORDS:
        return True
    return (
        after == " "
        and base in COMMON
        and base not in PLACE_FIRST
        and phrase[1].lower in GIVEN_NAMES | PLACES | DEMONYMS
    )


def _trails(text: str, phrase: list[_Word]) -> bool:
    """Return whether a phrase's last word is no part of a name; after an initial it is ("Jon H. Else")."""
    if len(phrase) > 1 and text[phrase[-2].end] == ".":
        return False
    lower = _APOSTROPHE.split(phrase[-1].text, maxsplit=1)[0].lower()
    if lower in CALENDAR:
        return len(phrase) == 1 or lower not in SEASONS | {"may", "sun", "march", "fall"}
    if lower in TITLE_LAST and len(phrase) == 2 and not phrase[0].opens:  # "Spirited Away"
        return False
    if lower in _ALSO_LAST_NAMES and len(phrase) > 1 and _NAME_ENDS.match(text, phrase[-1].end):
        return False  # "Nguyễn Văn An works at"
    return lower in FUNCTION_WORDS or (
        lower in SHOUTS and len(lower) > 2 and lower not in {"man", "right", "sun"}
    )


def _lone(text: str, word: _Word, inside: set[str], confidence: float) -> float | None:
    """Return the confidence of a single word; None if it is no name."""
    lower = word.lower
    acronym = word.text.isupper() and len(word.text) > 1
    if _ROMAN.fullmatch(word.text) or (acronym and lower in COMMON):
        return None
    if lower in COMMON or lower in DEMONYMS or lower in HONORIFICS:
        return None
    if (
        lower in GIVEN_NAMES
        or lower in PLACES
        or _ADDRESSED.search(text, max(0, word.start - 12), word.start)
    ):
        return max(confidence, 0.6)
    if acronym or _DIGIT.search(word.text):
        # One shouted word in the middle of a sentence is longer than most acronyms.
        return 0.6 if len(word.text) < 7 else None
    if not word.opens:
        return confidence
    if len(lower) < 3 or _COMMON_ENDING.search(lower):
        return confidence if word.text in inside else None
    if word.text in inside or _NAME_CUE.match(text, word.end):
        return confidence if word.text in inside else 0.5
    return None


def _generic(text: str, phrase: list[_Word], inside: set[str], small: frozenset[str]) -> Mention | None:
    while phrase and phrase[0].opens and _APOSTROPHE.split(phrase[0].text, maxsplit=1)[0].lower() in small:
        rest = _APOSTROPHE.split(phrase[0].text, maxsplit=1)
        if len(rest) == 2 and rest[1][:1].isupper():
            shift = len(phrase[0].text) - len(rest[1])
            phrase[0] = _Word(phrase[0].start + shift, phrase[0].end, rest[1], False, phrase[0].possessive)
            break
        phrase = phrase[1:]
    while phrase and phrase[-1].lower in small:
        phrase = phrase[:-1]
    if not phrase or len(phrase) > _MOST_WORDS:
        return None
    # What opens a sentence proves nothing; a second capital right after it does.
    adjacent = len(phrase) > 1 and text[phrase[0].end : phrase[1].start] in {" ", ". "}
    if phrase[0].opens and phrase[0].text not in inside and not adjacent and not phrase[0].text[1:].isupper():
        phrase = phrase[1:]
    if not phrase:
        return None
    name = text[phrase[0].start : phrase[-1].end]
    if len(name) < 2 or _ROMAN.fullmatch(name) or name.lower() in small:
        return None
    confidence = 0.65 if len(phrase) > 1 else 0.55 if name.isupper() else 0.5
    return Mention(name, "CONCEPT", phrase[0].start, phrase[-1].end, confidence, "phrase")
