"""Relationships that a sentence states in so many words.

Precision comes first. A fact needs a name that opens its sentence (or follows ", and"), a phrase of RULES
right after it, and a name right after that. "I" is the speaker of a turn; he, she and it are nobody. A
sentence that denies, asks, doubts or quotes gives none. A fact has times where the words name a year; the
past tense alone gives none, and shows in the statement only.

A phrase of ENDINGS gives a fact that ends when it is told. What denies such a sentence is its point ("no
longer"), so only what stands around the phrase may make it doubtful.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from pgrecall_extract.base import Fact, Mention
from pgrecall_extract.sentences import sentence_spans
from pgrecall_extract.words import HONORIFICS

from .doubts import DENIED, ENDING_DOUBTS, is_hedged, said_end
from .endings import ENDING_CUE, ENDINGS, SUCCESSIONS
from .periods import period_after
from .rules import PERSONAL, RULES, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

__all__ = ["find_facts"]

# What may hold still, though the verb is in the past: "has lived in", "settled in".
_ONGOING = re.compile(r"(?: has| have|['’`]ve)\b|.*\bsettled\b")
_CLOSE = "(?:good|best|old|dear|older|younger|elder|little|big|close)"
_KIN = (
    "wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?|son|daughter|brother|sister|mother|father|mom"
    "|mum|dad|cousin"
    "|uncle|aunt|nephew|niece|grandmother|grandfather|grandma|grandpa|friend|boss|manager|colleague"
    "|coworker|roommate"
    "|neighbor|neighbour|teacher|coach|mentor|dog|cat"
)
_QUOTED = re.compile(r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|``[^`'\n]{1,300}''|«[^»\n]{1,300}»")
_LEAD = re.compile(
    r"[\s\"“'`*•#-]{0,6}(?:(?:[Yy]eah|[Yy]es|[Oo]h|[Ww]ell|[Ss]o|[Aa]nd|[Bb]ut|[Aa]lso|[Aa]ctually|[Hh]ey"
    r"|[Hh]i|[Tt]hanks|[Bb][Tt][Ww])"
    r"(?:[^.!?,\n]{0,20},)? )?(?:(?:[Nn]o|[Nn]ope|[Ss]orry|[Ww]ait|[Cc]orrection)[,:] )?"
    r"(?:(?:[Yy]esterday|[Tt]oday|[Rr]ecently|[Ff]inally|[Ll]ast (?:week|month|year)),? )?"
    rf"(?:(?:[Mm]y|[Oo]ur) (?:{_CLOSE} )?(?:{_KIN}),? )?"
    r"(?:(?:[Ii]n|[Oo]n|[Ss]ince|[Dd]uring|[Aa]fter|[Bb]y) [^,.;]{1,40}, )?(?:[Tt]he )?"
    r"(?:(?P<title>[A-Z][a-z]+)\.? )?[\"“'`]{0,2}"
)
_JOINED = re.compile(r"[,;] (?:and|but|so) (?:the )?$")
# What one has done on the way to what is true now: "changed jobs and now works for".
_STEP = (
    r"(?: (?:has |have )?(?:just |recently |finally )?"
    r"(?:(?:changed|switched) (?:jobs?|employers?|careers?|companies|firms)"
    r"|(?:got|found|took|started|landed) an? (?:\w+ )?job"
    r"|(?:quit|left|lost) (?:his|her|their|my) (?:\w+ )?job"
    r"|(?:was|got) (?:promoted|fired|sacked|laid off|divorced|married)|graduated|retrained|moved house"
    r"|finished (?:school|college|university|(?:his|her|their|my) degree))"
    r"(?: recently| last [a-z]+| this [a-z]+| in [A-Z]?[a-z]*\d{0,4})?,? and"
    r"(?= (?:now|currently|then|today)\b))?"
)
_ASIDE = re.compile(
    r"(?:\.(?= [a-z]))?[\"”'’`]{0,2}(?: \([^()\n]{0,200}\))?(?:, (?:also|better|formerly|originally|born|a|an"
    r"|the) [^,;.\n]{1,80},)?(?:,? (?:who|which|that))?"
    + _STEP
    + r"(?: (?:also|currently|now|later|still|recently|really|actually|just|always|mostly|mainly|eventually"
    r"|then|soon))?"
)
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
_I = re.compile(
    r"\bI(?=['’`]m\b|['’`]ve\b| [a-z])|\b[Mm]y(?= (?:new|current|present) (?:employer|job|position) is )"
)
_MY = re.compile(rf"\b[Mm]y (?:{_CLOSE} )?({_KIN}),? (?:is called |is named |named |called )?")
_NOT_ALONE = re.compile(r"['’`]|,? and ")
_CLAUSE = re.compile(r"[,;:]| (?:because|since|as|and|so|but|where|when|after|for|to)\b")
_MOST_JOINED = 4


def find_facts(
    text: str, mentions: Sequence[Mention], speaker: Mention | None, said: datetime, start: int = 0
) -> Iterator[Fact]:
    """Yield the relationships that an English text states.

    Args:
        text: The text.
        mentions: The names in it, with spans, none overlapping another; every occurrence, not one of each.
        speaker: Who "I" is; None if nobody is known to be.
        said: When it was said; years begin in its time zone.
        start: Where the text itself begins, in characters.
    """
    by_start = {mention.start: mention for mention in mentions if mention.start is not None}
    starts = sorted(place for place in by_start if place >= start)
    position = 0
    material = said_end(text, start)
    for begin, end in sentence_spans(text, start):
        if begin >= material:
            return
        first = position
        while position < len(starts) and starts[position] < end:
            position += 1
        sentence = text[begin:end]
        if first == position:
            continue
        inside = {place: by_start[place] for place in starts[first:position]}
        rules = () if is_hedged(text, begin, end, inside.values()) else RULES
        if ENDING_CUE.search(sentence):
            rules += ENDINGS
        if not rules:
            continue
        reader = _Sentence(text, begin, end, inside, said, rules)
        for subject in inside.values():
            if subject.start is not None and subject.end is not None and reader.opens(subject.start):
                yield from reader.facts_of(subject, subject.end, first_person=False)
        if speaker is not None:
            for pronoun in _I.finditer(text, begin, end):
                if reader.opens(pronoun.start()):
                    yield from reader.facts_of(speaker, pronoun.end(), first_person=True)
            if rules[0] is RULES[0]:
                yield from reader.relatives_of(speaker)


class _Sentence:
    """One sentence that states something, with the names in it by their place."""

    def __init__(
        self,
        text: str,
        begin: int,
        end: int,
        mentions: Mapping[int, Mention],
        said: datetime,
        rules: tuple[Rule, ...],
    ) -> None:
        self._rules = rules
        self._text = text
        self._begin = begin
        self._end = end
        self._mentions = mentions
        self._said = said
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
            facts, after = found
            yield from facts
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

    def _fact(self, subject: Mention, after: int, *, first_person: bool) -> tuple[list[Fact], int] | None:
        aside = _ASIDE.match(self._text, after, self._end)
        places = dict.fromkeys([after] if aside is None else [aside.end(), after])
        fitting = [
            (rule, match)
            for place in places
            for rule in self._rules
            if rule.first_person in {None, first_person}
            and (match := rule.pattern.match(self._text, place, self._end)) is not None
            and not self._is_quoted(match.end())
        ]
        for rule, match in fitting:
            built = self._built(rule, match, subject)
            if built is not None:
                return built
        # What only ends what another memory states needs no types: that memory tells them.
        for rule, match in fitting:
            if rule.ends and not rule.confidence:
                built = self._built(rule, match, _unrecognised(subject), any_type=True)
                if built is not None:
                    return built
        return None

    def _built(
        self, rule: Rule, match: re.Match[str], subject: Mention, *, any_type: bool = False
    ) -> tuple[list[Fact], int] | None:
        other = self._object(match.end(), described=rule.described)
        if any_type and other is not None:
            other = _unrecognised(other)
        if other is None or other.start is None or other.end is None:
            return None
        if subject.name.casefold() == other.name.casefold() or other.type not in rule.second_types:
            return None
        if subject.type not in rule.first_types:
            return None
        behind = (rule.after or _AFTER_OBJECT).match(self._text, other.end, self._end)
        if behind is None:
            return None
        after = other.end if rule.after is None else behind.end()
        if " or " in other.name:
            return None
        if rule.ends:
            return self._ended(rule, match, subject, other, after, any_type=any_type)
        label = rule.label.format(*match.groups("")).lower().strip()
        valid_from, valid_to, end = period_after(self._text, after, self._said.tzinfo, event=rule.event)
        source, target = (other, subject) if rule.reversed else (subject, other)
        fact = _fact_of(rule, label, source, target)
        if fact is None:
            return None
        if rule.past is not None and valid_from is None and "ed" in match[0][:24].split(" as ")[0]:
            is_past = _ONGOING.match(match[0]) is None
            fact = replace(fact, statement=f"{source.name} {rule.past} {target.name}", is_past=is_past)
        facts = [replace(fact, valid_from=valid_from, valid_to=valid_to)]
        if rule.both_ways:
            facts += [_turned(one) for one in facts]
        if rule.implied is not None and not (
            rule.implied_unless and rule.implied_unless.match(self._text, other.start, self._end)
        ):
            facts.append(replace(facts[0], label=rule.implied, confidence=0.7))
        return facts, end

    def _ended(
        self,
        rule: Rule,
        match: re.Match[str],
        subject: Mention,
        other: Mention,
        after: int,
        *,
        any_type: bool,
    ) -> tuple[list[Fact], int] | None:
        """Return what a phrase ends, and what it says came instead."""
        before, rest = self._text[self._begin : match.start()], self._text[after : self._end]
        clause = _CLAUSE.split(rest, maxsplit=1)[0]
        around = before
        if subject.start is not None and subject.end is not None:  # "Will" may be a name
            around = self._text[self._begin : subject.start] + self._text[subject.end : match.start()]
        if any(map(ENDING_DOUBTS.search, (around, rest))) or any(map(DENIED.search, (around, clause))):
            return None
        valid_from, valid_to, end = period_after(self._text, after, self._said.tzinfo, event=True)
        ended_at = min(valid_from or valid_to or self._said, self._said)
        facts = []
        for ended in rule.ends:
            source, target = (other, subject) if rule.reversed else (subject, other)
            fact = _fact_of(rule, ended.format(*match.groups("")).lower(), source, target)
            if fact is not None:
                facts.append(replace(fact, valid_to=ended_at))
        if not facts:
            return None
        if rule.both_ways:
            facts += [_turned(fact) for fact in facts]
        # Of what came instead, the kind of the one tells the kind of the other.
        for next_rule in () if any_type or rule.reversed else SUCCESSIONS.get(rule.ends, ()):
            if next_rule.instead_of is not None and other.type not in next_rule.instead_of:
                continue
            joined = next_rule.pattern.match(self._text, end, self._end)
            found = joined and self._built(next_rule, joined, subject)
            if found:
                return facts + found[0], found[1]
        return facts, end

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


def _fact_of(rule: Rule, label: str, source: Mention, target: Mention) -> Fact | None:
    """Return the fact that a rule finds; None where its label wants a person and there is none."""
    # A guess tells no types.
    guess = rule.confidence == 0
    source_type = rule.subject_becomes if source.type == "CONCEPT" and not guess else source.type
    target_type = rule.object_becomes if target.type == "CONCEPT" and not guess else target.type
    if label in PERSONAL and source_type not in {"PERSON", "CONCEPT"}:
        return None
    return Fact(
        source.name, source_type, label, target.name, target_type,
        confidence=rule.confidence, source="pattern",
    )  # fmt: skip


def _unrecognised(name: Mention) -> Mention:
    """Return a name without the type that a recogniser gave it."""
    return replace(name, type="CONCEPT") if name.source == "spacy" else name


def _turned(fact: Fact) -> Fact:
    return replace(
        fact,
        subject=fact.object,
        subject_type=fact.object_type,
        object=fact.subject,
        object_type=fact.subject_type,
    )
