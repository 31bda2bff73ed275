"""The phrases that state a relationship, and what they are called in the graph."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

__all__ = ["OFFICE", "PERSONAL", "RULES", "Rule", "home", "job", "person"]

_ANY: Final = frozenset({"PERSON", "ORG", "PLACE", "PROJECT", "TECHNOLOGY", "FILE", "CONCEPT"})
_SOMEBODY: Final = frozenset({"PERSON", "CONCEPT"})
_SOMEWHERE: Final = frozenset({"PLACE", "CONCEPT"})
_ORGANISATION: Final = frozenset({"ORG", "PROJECT", "TECHNOLOGY", "CONCEPT"})
_MAKER: Final = frozenset({"PERSON", "ORG", "CONCEPT"})
_THING: Final = _ANY - {"PERSON"}

PERSONAL: Final = frozenset({
        "works at",
        "born in",
        "lives in",
        "moved to",
        "married to",
        "studied at",
        "plays for",
        "comes from",
        "visited",
        "read",
        "watched",
})  # fmt: skip
"""Labels whose subject can only be a person."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One phrase between two names.

    Attributes:
        pattern: Matches from right behind the first name to right before the second.
        label: What the relationship is called; {0} is the pattern's first group.
        confidence: From 0 to 1.
        first_types: Types that the first name may have.
        second_types: Types that the second name may have.
        subject_becomes: The subject's type where it was CONCEPT.
        object_becomes: The object's type where it was CONCEPT.
        reversed: The second name is the subject ("was founded by").
        event: "in 1999" behind it tells since when it is true.
        described: Words such as "the Irish writer" may stand before the second name.
        first_person: True: after "I" only; False: after a name only; None: both.
        past: How the statement reads in the past tense; None: the label tells.
        after: What stands right behind the second name; None: whatever may stand behind an object.
        implied: Another label that the statement implies, such as a home for who moves; None: no other.
        implied_unless: What behind the second name speaks against that.
        ends: Labels that the statement ends instead of stating one; {0} as in label.
        both_ways: It is true of the second name as well.
        instead_of: Types that what has ended may have, where the statement follows an end; None: any.
    """

    pattern: re.Pattern[str]
    label: str
    confidence: float = 0.8
    first_types: frozenset[str] = _ANY
    second_types: frozenset[str] = _ANY
    subject_becomes: str = "CONCEPT"
    object_becomes: str = "CONCEPT"
    reversed: bool = False
    event: bool = False
    described: bool = False
    first_person: bool | None = None
    past: str | None = None
    after: re.Pattern[str] | None = None
    implied: str | None = None
    implied_unless: re.Pattern[str] | None = None
    ends: tuple[str, ...] = ()
    both_ways: bool = False
    instead_of: frozenset[str] | None = None


_REGION = (
    r"(?:(?:(?:north|south)?(?:east|west)(?:ern)?|(?:north|south)(?:ern)?|central|downtown"
    r"|the (?:north|south|east|west|centre|center|heart|middle|town|city|village|state|province|district"
    r"|county|region"
    r"|municipality|canton|department|island|suburb|borough)(?: of)?) )?"
)
OFFICE: Final = (
    r"capital|president|vice president|founder|co-founder|chief executive|ceo|cto|director|author|mayor"
    r"|king|queen"
    r"|emperor|son|daughter|wife|husband|widow|mother|father|brother|sister|grandson|granddaughter|nephew"
    r"|niece|cousin"
    r"|uncle|aunt|leader|head|chairman|chairwoman|chair|member|owner|creator|inventor|composer|producer"
    r"|editor|captain"
    r"|coach|head coach|manager|governor|prime minister|foreign minister|seat|county seat|subsidiary"
    r"|tributary"
    r"|headquarters|birthplace|sequel|successor|predecessor|part|suburb|municipality|district|province"
    r"|publisher"
    r"|maintainer|architect|lead|bishop|archbishop|student|friend|largest city|official language|currency"
    r"|branch"
    r"|division|species|genus|namesake|dean|rector|professor|ambassador|senator"
)
_PLACE_KIND = (
    r"river|city|town|village|hamlet|church|municipality|commune|district|mountain|lake|island|building"
    r"|hotel|school"
    r"|university|college|museum|park|station|airport|stadium|castle|palace|cathedral|hospital|library"
    r"|theatre|theater"
    r"|bridge|bay|valley|suburb|neighbourhood|neighborhood|community|settlement|county|region|township"
    r"|stream|creek"
    r"|peak|volcano|temple|abbey|parish|province|comune|port|beach|street|square|monument|tower|restaurant"
    r"|prison|mine"
)
_MADE = (
    "written", "directed", "composed", "produced", "invented", "designed", "painted", "published",
    "developed", "created", "discovered", "built", "recorded",
)  # fmt: skip
_ROLE = (
    r"engineer|developer|manager|professor|teacher|designer|scientist|researcher|analyst|nurse|doctor"
    r"|lawyer|consultant"
    r"|architect|director|lecturer|intern|editor|ceo|cto|chef|programmer|accountant|journalist|librarian"
    r"|administrator"
)
_IN_ROLE = re.compile(rf"(?: now)? as (?:an?|the|their|its) (?:[a-z-]+ ){{0,3}}(?:{_ROLE})\b")
_RECENTLY = r"(?: has| have|['’`]ve)?(?: just| recently)?"
_NOW = r"(?:now |currently |presently |still )?"
_FIRM = r"(?:the )?[A-Z][\w&.-]*(?: [A-Z&][\w&.-]*){0,2}"
_AS = r"(?: as (?:an?|the) [a-z -]{2,40}?)?"
_IS_A = r"(?: (?:is|was) (?:an?|the) [^,.;()\n]{2,80}?)?"

# Read from the begin of the second name.
_STAY = re.compile(
    r"[^.;!?\n]{1,80}?(?: for (?:the|an?|one|two|three|four|six|\d+|some|several|a few) (?:\w+ )?(?:summer"
    r"|winter|spring"
    r"|autumn|season|semester|term|week|month|day|night|weekend|holiday|while|visit|project)s?\b"
    r"| temporarily\b)"
)
_CLUB = re.compile(
    r"(?:[A-Z][\w&'’-]* ){0,5}"
    r"(?i:club|choir|band|orchestra|ensemble|team|party|association|union|society|league"
    r"|church|gym"
    r"|group|committee|board|council|army|navy|forum|community|network|federation|movement|class|course|fc"
    r"|academy"
    r"|university|college|school|order|guild|circle|alliance|chat|call|meeting|channel|server|rotary|mensa"
    r"|nato"
    r"|greenpeace|amnesty|scouts|facebook|instagram|discord|slack|twitter|linkedin|strava|mastodon|reddit"
    r"|whatsapp"
    r"|telegram|signal|tinder|zoom|teams|meetup|patreon|lions|labour|conservatives|democrats|republicans)\b"
    r"|(?:the )?(?:EU|UN|USA?|G\d+|BRICS|OPEC)\b"
)

_NAMED = Rule(re.compile(""), "", first_person=False)
_OWN = Rule(re.compile(""), "", first_person=True)
_EITHER = Rule(re.compile(""), "")
_BY = replace(
    _EITHER, reversed=True, event=True, described=True, first_types=_THING, second_types=_MAKER
)  # fmt: skip


def person(rule: Rule) -> Rule:
    """Return a rule whose subject is a person."""
    return replace(rule, first_types=_SOMEBODY, subject_becomes="PERSON")


def job(rule: Rule) -> Rule:
    """Return a rule of a person and an employer."""
    return replace(person(rule), second_types=_ORGANISATION, object_becomes="ORG", past="worked at")


def home(rule: Rule) -> Rule:
    """Return a rule of a person and a place."""
    return replace(person(rule), second_types=_SOMEWHERE, object_becomes="PLACE")


def _of(rule: Rule, label: str, pattern: str) -> Rule:
    return replace(rule, label=label, pattern=re.compile(pattern))


RULES: Final = (
    _of(
        home(_EITHER),
        "born in",
        r"(?:(?: was| is)? born|, born| \(born)(?: on [\w ,]{4,25}?| [\w ]{4,20},?| in \d{4})? (?:in|at) "
        + _REGION,
    ),
    _of(job(_NAMED), "works at", rf" (?:works|worked|is {_NOW}working|has worked){_AS} (?:at|for) "),
    _of(job(_OWN), "works at", rf"(?: work| worked| am {_NOW}working|['’`]m {_NOW}working){_AS} (?:at|for) "),
    _of(
        # Its statement is no past tense, though the verb ends like one.
        replace(job(_EITHER), past=None),
        "works at",
        rf"(?: is| am|['’`]m) {_NOW}employed{_AS} (?:at|for|by|with) (?:the )?",
    ),
    _of(
        job(_EITHER),
        "works at",
        rf" was (?:previously |formerly )?employed{_AS} (?:at|for|by|with) (?:the )?",
    ),
    _of(job(_EITHER), "works at", rf"(?: is|['’`]m| am) (?:an?|the) (?:[a-z-]+ ){{0,3}}(?:{_ROLE}) at "),
    _of(
        job(_EITHER),
        "works at",
        rf"(?:{_RECENTLY} (?:(?:started|began)(?: work(?:ing)?)?{_AS} (?:at|for)"
        r"|(?:got|accepted|took|landed|started|began) (?:an?|the|his|her|their|my) (?:\w+ ){0,2}(?:job"
        r"|position|role"
        r"|post) (?:at|with))"
        r"| was(?: just| recently)? hired by) ",
    ),
    _of(
        # None of these verbs says that it is over, though they end like the past tense.
        replace(job(_EITHER), past=None),
        "works at",
        rf"(?:{_RECENTLY} (?:(?:(?:went|gone) back|returned) to work(?:ing)? (?:at|for)"
        r"|(?:went|gone) to work for"
        rf"|(?:switched|changed|moved) (?:jobs|employers|companies|firms) (?:from {_FIRM} )?to"
        r"|(?:switched|changed|moved|went) from (?:working|(?:an?|his|her|their|my) (?:\w+ )?job)"
        rf" (?:at|for) {_FIRM} to(?: working (?:at|for)| (?:a job|one) (?:at|with))?)"
        r"|(?: has| have|['’`]ve)(?: now)?(?: got)? an? (?:(?:new|full-time|part-time|permanent|steady) "
        r"(?:job|position|role|post)|job) (?:at|with)"
        # One that somebody else is to have.
        r"(?![^,.;\n]{2,60} (?:to (?:fill|offer|advertise)|open|vacant|available|going)\b)"
        r"|(?: is|['’`]m| am)(?: now)? back (?:at work|working|in (?:his|her|their|my) old job)"
        rf"{_AS} (?:at|for)) (?:the )?",
    ),
    replace(
        job(_EITHER),
        label="works at",
        pattern=re.compile(r"(?: is|['’`]m| am)(?: now)? back (?:at|with) "),
        # Who is back somewhere may be a customer there.
        after=_IN_ROLE,
    ),
    replace(
        # Whatever its type: as what one joins Spotify tells that it is no app here.
        job(_EITHER),
        label="joined",
        event=True,
        past=None,
        implied="works at",
        implied_unless=_CLUB,
        pattern=re.compile(rf"{_RECENTLY} (?:re)?joined "),
        after=_IN_ROLE,
    ),
    _of(
        # "Nora's new employer is", and "my new employer is" by a known speaker.
        replace(job(_EITHER), past=None),
        "works at",
        r"(?:['’`]s)? (?:new|current|present)"
        r" (?:employer is(?: now)?|(?:job|position) is(?: now)? (?:at|with)) (?:the )?",
    ),
    _of(
        replace(home(_NAMED), past="lived in"),
        "lives in",
        rf" (?:lives|lived|is living|has lived|has settled|settled|resides|resided) in {_REGION}",
    ),
    _of(
        replace(home(_OWN), past="lived in"),
        "lives in",
        rf"(?: live| lived| am living|['’`]m living|['’`]ve lived|{_RECENTLY} settled) in {_REGION}",
    ),
    _of(
        replace(home(_EITHER), event=True, implied="lives in", implied_unless=_STAY),
        "moved to",
        rf"{_RECENTLY} (?:moved|relocated) (?:back )?(?:from [A-Z]\w+ )?to ",
    ),
    _of(
        replace(person(_EITHER), second_types=frozenset({"PLACE"})),
        "comes from",
        r"(?: is|['’`]m| am| comes| come|, originally) (?:originally )?from ",
    ),
    _of(
        replace(person(_EITHER), second_types=frozenset({"ORG", "CONCEPT"}), object_becomes="ORG"),
        "studied at",
        r" (?:studied(?: [a-z ]{2,30})? at|graduated from|attended) ",
    ),
    _of(
        replace(person(_EITHER), event=True, second_types=_SOMEBODY, object_becomes="PERSON", described=True),
        "married to",
        r"(?: is| was| got| am|['’`]m)? (?:married to|married) ",
    ),
    replace(
        person(_EITHER),
        label="married to",
        event=True,
        second_types=_SOMEBODY,
        object_becomes="PERSON",
        both_ways=True,
        pattern=re.compile(" and "),
        after=re.compile(r" (?:are(?: now)?|were|got|have(?: just)? got) married\b"),
    ),
    _of(replace(job(_NAMED), past="played for"), "plays for", r" (?:plays|played) for "),
    _of(
        replace(home(_EITHER), event=True, second_types=_SOMEWHERE | {"ORG"}, object_becomes="CONCEPT"),
        "visited",
        rf"{_RECENTLY} (?:visited|(?:went|travelled|traveled) to) ",
    ),
    _of(
        replace(person(_EITHER), second_types=frozenset({"CONCEPT"})), "{0}", rf"{_RECENTLY} (read|watched) "
    ),
    _of(
        replace(_EITHER, event=True, first_types=_MAKER, second_types=_THING, described=True),
        "founded",
        r" (?:co-?founded|founded) ",
    ),
    _of(_BY, "founded", rf"{_IS_A}(?: was| were)? (?:co-)?founded (?:in \d{{4}} )?by "),
    *(
        _of(
            _BY,
            "wrote" if made == "written" else made,
            rf"{_IS_A},?(?: is| was| were)? (?:co-)?{made}(?: and [a-z]+)? by ",
        )
        for made in _MADE
    ),
    _of(
        replace(_EITHER, event=True, first_types=_MAKER, second_types=_THING),
        "{0}",
        rf" (wrote|{'|'.join(_MADE[1:])}) ",
    ),
    _of(
        replace(_EITHER, second_types=_MAKER, described=True),
        "{0} by",
        r" (?:is|was) (?:an?|the)(?: [^,.;()\n]{2,60}?)? (song|album|single|novel|book|poem|painting|opera"
        r"|play)"
        r" (?:recorded )?by ",
    ),
    _of(
        _EITHER,
        "{0} of",
        r"(?: is| was| became|['’`]m| am|,) (?:(?:an?|the) )?(?:(?:current|first|second|third|last|oldest"
        r"|youngest|eldest"
        rf"|only|present|new|\d+(?:st|nd|rd|th)) )?((?i:{OFFICE}))(?: and (?:largest city|[a-z]+))? of ",
    ),
    _of(
        replace(
            _EITHER,
            first_types=_ANY - {"PERSON", "FILE"},
            second_types=_SOMEWHERE,
            object_becomes="PLACE",
        ),
        "located in",
        rf" (?:is|was) (?:an?|the)(?: [^,.;()\n]{{1,70}}?)? (?:{_PLACE_KIND}),? (?:located "
        rf"|situated )?in {_REGION}",
    ),
    _of(
        replace(_EITHER, first_types=_ANY - {"FILE"}, second_types=_SOMEWHERE, object_becomes="PLACE"),
        "located in",
        rf"(?: is| was|,)? (?:located|situated|based|headquartered) in {_REGION}",
    ),
    _of(_NAMED, "prefers", r" prefers(?: using| working with| to use)? "),
    _of(_OWN, "prefers", r" prefer(?: using| working with| to use)? "),
    _of(person(_NAMED), "likes", r" (?:likes|loves|enjoys) "),
    _of(_OWN, "likes", r"(?: really)? (?:like|love|enjoy) "),
    _of(person(_NAMED), "dislikes", r" (?:dislikes|hates) "),
    _of(_OWN, "dislikes", r"(?: really)? (?:dislike|hate) "),
    _of(_NAMED, "uses", r" uses "),
    _of(_OWN, "uses", r"(?: use|['’`]m using| am using) "),
    _of(
        _NAMED,
        "{0}",
        r" (depends on|runs on|reports to|belongs to|replaces|supports|requires|maintains|leads|manages"
        r"|owns) ",
    ),
    _of(replace(_EITHER, reversed=True, described=True), "owns", r" (?:is|was) owned by "),
    _of(
        replace(
            person(_EITHER),
            event=True,
            second_types=frozenset({"ORG", "CONCEPT"}),
            implied="works at",
            implied_unless=_CLUB,
        ),
        "joined",
        rf"{_RECENTLY} (?:re)?joined ",
    ),
    _of(replace(_EITHER, event=True, second_types=_THING), "{0}", r" (acquired|joined) "),
    _of(replace(_BY, first_types=_ANY), "acquired", r" (?:is|was) acquired by "),
    _of(
        replace(
            _EITHER,
            first_types=frozenset({"PROJECT", "TECHNOLOGY", "CONCEPT", "ORG"}),
            second_types=frozenset({"TECHNOLOGY"}),
        ),
        "uses",
        r" (?:is|was) (?:written in|built with|built on|based on|implemented in) ",
    ),
)
"""Tried in this order; the first that fits counts."""
