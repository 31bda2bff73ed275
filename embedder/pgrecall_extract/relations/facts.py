"""Relationships that a sentence states in so many words.

Precision comes first. A fact needs a name that opens its sentence (or follows ", and"), a phrase of RULES
right after it, and a name right after that. "I" is the speaker of a turn; he, she and it are nobody. A
sentence that denies, asks, doubts or quotes gives none. A fact has times where the words name a year; the
past tense alone gives none, and shows in the statement only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pgrecall_extract.base import Fact, Mention
from pgrecall_extract.sentences import sentence_spans
from pgrecall_extract.words import HONORIFICS

from .periods import period_after
from .rules import PERSONAL, RULES, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import tzinfo

__all__ = ["find_facts"]

_HEDGES = re.compile(
    r"(?i:\b(?:not|never|no longer|cannot|if|unless|whether|would|might|could|should|perhaps|maybe"
    r"|possibly|probably"
    r"|allegedly|reportedly|supposed|supposedly|rumou?red|claims?|claimed|wish|wishes|hopes?|hoping|almost"
    r"|nearly|nobody"
    r"|used to|dreams? of|dreamed|pretend\w*|imagine|fictional|fake|according to|planned|plans to|ex"
    r"|neither|nor|without"
    r"|so-called|erroneously|incorrectly|wrongly|falsely)\b)|\bmay\b|n['’`]t\b|\?"
)
_QUOTED = re.compile(r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|``[^`'\n]{1,300}''|«[^»\n]{1,300}»")
_LEAD = re.compile(
    r"[\s\"“'`*>•#-]{0,6}(?:(?:[Yy]eah|[Yy]es|[Oo]h|[Ww]ell|[Ss]o|[Aa]nd|[Bb]ut|[Aa]lso|[Aa]ctually|[Hh]ey"
    r"|[Hh]i|[Tt]hanks|[Bb][Tt][Ww])"
    r"[^.!?,]{0,20},? )?(?:(?:[Ii]n|[Oo]n|[Ss]ince|[Dd]uring|[Aa]fter|[Bb]y) [^,.;]{1,40}, )?(?:[Tt]he )?"
    r"(?:(?P<title>[A-Z][a-z]+)\.? )?[\"“'`]{0,2}"
)
_JOINED = re.compile(r"[,;] (?:and|but|so) (?:the )?$")
_ASIDE = re.compile(
    r"(?:\.(?= [a-z]))?[\"”'’`]{0,2}(?: \([^()\n]{0,200}\))?(?:, (?:also|better|formerly|originally|born|a|an"
    r"|the) [^,;.\n]{1,80},)?(?:,? (?:who|which|that))?"
    r"(?: (?:also|currently|now|later|still|recently|really|actually|just|always|mostly|mainly|eventually"
    r"|then|soon))?"
)
_BIRTH_ASIDE = re.compile(r"(?= \(born |, born )")
_NEXT_VERB = re.compile(r",? and(?: (?:also|now|currently|later|then))?(?= [a-z])")
# What may follow an object: signs, or a word that begins something else. "Python scripts" are not Python.
_AFTER_OBJECT = re.compile(
    r"[\"”'’`]{0,2}(?:$|[.,;:!)\]…\n]| \(| (?:and|for|because|over|to|since|as|in|on|at|when|while|but"
    r"|with|from|between|until"
    r"|till|after|before|by|where|who|which|that|near|is|was|are|were|during|more|instead|rather|so|a lot"
    r"|very|too|now|these"
    r"|every|through|about|last|this|then)\b)"
)
_ARTICLE = re.compile(r"(?:the )?[\"“`]{0,2}")
_DESCRIPTION = re.compile(r"(?:(?:the|a|an|his|her|their) )?(?:[A-Z]?[a-z-]+ ){0,4}[\"“`]{0,2}")
_NO_DESCRIPTION = re.compile(r"\b(?:and|or|of|in|at|with|for|from|to|who|that|which|under|on)\b")
_I = re.compile(r"\bI(?=['’`]m\b|['’`]ve\b| [a-z])")
_MY = re.compile(
    r"\b[Mm]y (?:(?:good|best|old|dear|older|younger|elder|little|big|close) )?"
    r"(wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?|son|daughter|brother|sister|mother|father|mom"
    r"|mum|dad|cousin|uncle"
    r"|aunt|nephew|niece|grandmother|grandfather|grandma|grandpa|friend|boss|manager|colleague|coworker"
    r"|roommate|neighbor"
    r"|neighbour|teacher|coach|mentor|dog|cat),? (?:is called |is named |named |called )?"
)
_NOT_ALONE = re.compile(r"['’`]|,? and ")
_NOT_ALONE = re.compile(r"['’`]|,? and ")
_MOST_JOINED = 4


def find_facts(
    text: str, mentions: Sequence[Mention], speaker: Mention | None, zone: tzinfo | None, start: int = 0
) -> Iterator[Fact]:
    """Yield the relationships that an English text states.

    Args:
        text: The text.
        mentions: The names in it, with spans, none overlapping another; every occurrence, not one of each.
        speaker: Who "I" is; None if nobody is known to be.
        zone: The time zone that years begin in.
        start: Where the text itself begins, in characters.
    """
    by_start = {mention.start: mention for mention in mentions if mention.start is not None}
    starts = sorted(place for place in by_start if place >= start)
    position = 0
    for begin, end in sentence_spans(text, start):
        first = position
        while position < len(starts) and starts[position] < end:
            position += 1
        sentence = text[begin:end]
        if first == position or _HEDGES.search(sentence):
            continue
        inside = {place: by_start[place] for place in starts[first:position]}
        reader = _Sentence(text, begin, end, inside, zone)
        for subject in inside.values():
            if subject.start is not None and subject.end is not None and reader.opens(subject.start):
                yield from reader.facts_of(subject, subject.end, first_person=False)
        if speaker is not None:
            for pronoun in _I.finditer(text, begin, end):
                if reader.opens(pronoun.start()):
                    yield from reader.facts_of(speaker, pronoun.end(), first_person=True)
            yield from reader.relatives_of(speaker)


class _Sentence:
    """One sentence that states something, with the names in it by their place."""

    def __init__(
        self, text: str, begin: int, end: int, mentions: Mapping[int, Mention], zone: tzinfo | None
    ) -> None:
        self._text = text
        self._begin = begin
        self._end = end
        self._mentions = mentions
        self._zone = zone
        self._quoted = [match.span() for match in _QUOTED.finditer(text, begin, end)]

    def opens(self, place: int) -> bool:
        """Return whether what stands at a place is the subject of its sentence, or of a part of it."""
        if _JOINED.search(self._text, max(self._begin, place - 12), place):
            return True
        if place - self._begin > 100:
            return False
        lead = _LEAD.fullmatch(self._text, self._begin, place)
        return lead is not None and (lead["title"] is None or lead["title"].lower() in HONORIFICS)

    def facts_of(self, subject: Mention, after: int, *, first_person: bool) -> Iterator[Fact]:
        """Yield what is said of a subject whose name ends at `after`."""
        for _ in range(_MOST_JOINED):
            found = self._fact(subject, after, first_person=first_person)
            if found is None:
                return
            fact, after = found
            yield fact
            joined = _NEXT_VERB.match(self._text, after, self._end)
            if joined is None:
                return
            after = joined.end()

    def relatives_of(self, speaker: Mention) -> Iterator[Fact]:
        """Yield whom the speaker calls "my ..."."""
        for match in _MY.finditer(self._text, self._begin, self._end):
            relative = self._mentions.get(match.end())
            if relative is None or relative.end is None or relative.type not in {"PERSON", "CONCEPT"}:
                continue
            if self._is_quoted(match.start()) or relative.name.casefold() == speaker.name.casefold():
                continue
            if _NOT_ALONE.match(self._text, relative.end):
                continue
            type_ = "CONCEPT" if match[1] in {"dog", "cat"} else "PERSON"
            yield Fact(
                relative.name,
                type_,
                f"{match[1]} of",
                speaker.name,
                "PERSON",
                confidence=0.8,
                source="pattern",
            )

    def _fact(self, subject: Mention, after: int, *, first_person: bool) -> tuple[Fact, int] | None:
        aside = _ASIDE.match(self._text, after, self._end)
        places = [after] if aside is None else [aside.end(), after]
        for place in dict.fromkeys(places):
            for rule in RULES:
                match = rule.pattern.match(self._text, place, self._end)
                if match is None or self._is_quoted(match.end()):
                    continue
                if rule.first_person not in {None, first_person}:
                    continue
                built = self._built(rule, match, subject)
                if built is not None:
                    return built
        return None

    def _built(self, rule: Rule, match: re.Match[str], subject: Mention) -> tuple[Fact, int] | None:
        other = self._object(match.end(), described=rule.described)
        if other is None or other.start is None or other.end is None:
            return None
        if subject.name.casefold() == other.name.casefold() or other.type not in rule.second_types:
            return None
        if subject.type not in rule.first_types or not _AFTER_OBJECT.match(self._text, other.end):
            return None
        label = rule.label.format(*match.groups("")).lower().strip()
        valid_from, valid_to, end = period_after(self._text, other.end, self._zone, event=rule.event)
        source, target = (other, subject) if rule.reversed else (subject, other)
        source_type = rule.subject_becomes if source.type == "CONCEPT" else source.type
        target_type = rule.object_becomes if target.type == "CONCEPT" else target.type
        statement = None
        if rule.past is not None and valid_from is None and "ed" in match[0][:24].split(" as ")[0]:
            statement = f"{source.name} {rule.past} {target.name}"
        if label in PERSONAL and source_type not in {"PERSON", "CONCEPT"}:
            return None
        fact = Fact(
            source.name, source_type, label, target.name, target_type,
            confidence=rule.confidence, source="pattern", statement=statement,
            valid_from=valid_from, valid_to=valid_to,
        )  # fmt: skip
        return fact, end

    def _object(self, place: int, *, described: bool) -> Mention | None:
        """Return the name that begins at a place, after an article or, if `described`, "the Irish writer"."""
        article = _ARTICLE.match(self._text, place, self._end)
        found = self._mentions.get(place) or (self._mentions.get(article.end()) if article else None)
        if found is not None or not described:
            return found
        following = min((start for start in self._mentions if start > place), default=None)
        if following is None or following - place > 60:
            return None
        between = self._text[place:following]
        if _DESCRIPTION.fullmatch(between) is None or _NO_DESCRIPTION.search(between):
            return None
        return self._mentions[following]

    def _is_quoted(self, place: int) -> bool:
        # An opening sign just before the object quotes the object, not the statement.
        return any(
            begin < place - 1 and place < end - 1 and begin + 1 != place for begin, end in self._quoted
        )
