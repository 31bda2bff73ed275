"""The type of a name as the words around it tell it: "my sister X", "flew to X", "works at X", "X said".

A cue is strong where hardly anything else can stand there ("my sister X"), and weak where something else
often does ("by X"). Strong cues also correct a recogniser's type, weak ones only fill in where no type is
known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from pgrecall_extract.words import HEADS, word_set

from .person_names import is_person

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pgrecall_extract.base import Mention

__all__ = ["typed_by_context"]

_BEFORE = 48
_AFTER = 36
_LONGER_AFTER = 80
_SURE: Final = 0.8
_OPEN: Final = frozenset({"phrase", "spacy"})
_CORRECTED: Final = frozenset({"PERSON", "ORG", "PLACE"})

_KIN: Final = word_set("""
    wife husband partner girlfriend boyfriend fiancé fiancée fiance son daughter brother sister mother father
    mom mum dad cousin uncle aunt nephew niece grandmother grandfather grandma grandpa grandson granddaughter
    stepson stepdaughter friend friends boss manager colleague colleagues coworker teammate roommate flatmate
    neighbor neighbour mentor intern trainer therapist dentist nanny babysitter landlord dog cat puppy kitten
    horse rabbit hamster parrot pony baby twin twins kid kids toddler classmate guy girl boy woman man
    recruiter
""")
_WORKS: Final = word_set("""
    film movie song album single novel book poem series show sitcom opera musical play painting podcast
    episode magazine newspaper game anime comic documentary trilogy
""")
_ARTICLES: Final = word_set('the a an our my " “')
# A noun that also says what kind of a name follows without an article: "band Coldplay", "app Strava".
_NOUNS: Final[Mapping[str, str]] = (
    HEADS
    | dict.fromkeys(_KIN, "PERSON")
    | dict.fromkeys(_WORKS, "CONCEPT")
    | dict.fromkeys(word_set("band startup company firm supplier vendor employer client"), "ORG")
    | dict.fromkeys(word_set("app plugin package module service script gadget laptop phone"), "TECHNOLOGY")
    | dict.fromkeys(word_set("project codename initiative"), "PROJECT")
    | dict.fromkeys(word_set("café cafe restaurant bar pub hotel bakery lake mount"), "PLACE")
)
_NO_APPOSITION: Final = word_set("general player state country bishop street park king queen can engine")


@dataclass(frozen=True, slots=True)
class _Cue:
    """Words before a name that tell its type.

    Attributes:
        type: The type.
        lasts: The last of those words, lower case, articles left out: looked up before the pattern is tried.
        pattern: All of them, to their end.
        words: How many words the name may have.
    """

    type: str
    lasts: frozenset[str]
    pattern: re.Pattern[str]
    words: int = 4


def _cue(type_: str, lasts: str, pattern: str, words: int = 4) -> _Cue:
    return _Cue(
        type_, word_set(lasts), re.compile(rf"\b(?:{pattern}) (?:the |a |an |our |my )?[\"“]?$"), words
    )


_STRONG_BEFORE: Final = (
    _cue(
        "PLACE",
        "in",
        r"(?:li(?:ve[sd]?|ving)|born|raised|grew up|died|located|situated|headquartered|based"
        r"|arriv(?:e[sd]?|ing)"
        r"|landed|stay(?:s|ed|ing)?|held|settled|vacation|holidays?|honeymoon|conference|offices?|weekend"
        r"|house"
        r"|flat|apartment|hotel|hik(?:e[ds]?|ing)|meets|stop|stopover|layover|somewhere|parents|family) in",
    ),
    _cue(
        "PLACE",
        "to",
        r"(?:mov(?:e[sd]?|ing)|fl[yi]|flies|flew|flying|flights?|trips?|drive|drove|driving"
        r"|travel(?:l?ed|l?ing)?|train|bus|ferry|visit|relocat(?:e[sd]?|ing)|emigrated|road|way|went"
        r"|going|goes"
        r"|hik(?:e[ds]?|ing)|sailed|returned|been) (?:back |over |down |up )?to",
    ),
    _cue(
        "PLACE",
        "of along near",
        r"(?:suburbs?|outskirts|coast|north|south|east|west|city|town|village|island|capital|municipality) of"
        r"|along|near",
    ),
    _cue("PLACE", "from on", r"(?:miles|km|kilomet(?:er|re)s|hours?|minutes|flight|flew|drove) from|lies on"),
    _cue("PLACE", "of from in", r"(?:moved?|moving) (?:away|out) (?:of|from)|resid(?:e[sd]?|ing) in"),
    _cue(
        "ORG",
        "at for",
        r"(?:work(?:s|ed|ing)?|job|employed) (?:at|for)|(?:interview(?:ed|s|ing)?|intern(?:ed|ing|s|ship)?"
        r"|stud(?:ied|ies|y|ying)|enrolled|professor|students?|taught|teach(?:es|ing)?|researchers?"
        r"|engineers?"
        r"|treated|operated on|position|role|CEO|CTO|manager|career|degree|offer) at",
    ),
    _cue(
        "ORG",
        "into by with of from against",
        r"got into|accepted (?:at|by)|(?:contract|partnership|merger) with|(?:CEO|CTO|CFO|founder|chairman"
        r"|employees?|shareholders?) of|(?:sign-off|invoices?|job offer|recruiter) from|lawsuit against"
        r"|sued by",
    ),
    _cue(
        "ORG",
        "from",
        r"(?:laid off|fired|sacked|dismissed|let go|made redundant|resign(?:ed|s|ing)?|retire[sd]?) from",
    ),
    # Whoever employs may be a person: "employed by Pelle Norén".
    _cue("ORG", "by", r"employed by", 1),
    _cue(
        "PERSON",
        "met meet meeting married marry told thanked hugged kissed texted phoned emailed divorced dated"
        " befriended surprise congratulate invited invite introduced ask",
        r"[Mm]e(?:e)?t|[Mm]eeting|married|marry|told|thanked|hugged|kissed|texted|phoned|emailed|divorced"
        r"|dated"
        r"|befriended|surprise|congratulate|invited?|introduced|[Aa]sk",
        3,
    ),
    _cue(
        "PERSON",
        "with of for to by from",
        r"(?:lunch|dinner|coffee|breakfast|brunch|drinks|talk(?:ed|ing)?|spoke|speak|chat(?:ted|ting)?"
        r"|hung out"
        r"|hang out|call|argued|danced|in love|grew up|lives|living|walk|date|appointment|meeting|check-up"
        r"|session|1:1|one-on-one|met up|catch up|caught up) (?:is )?with|(?:son|daughter|wife|husband"
        r"|birthday"
        r"|widow|parents) of|(?:gift|present) for|(?:assigned|proposed|married|engaged) to|divorced? from"
        r"|reviewed by",
        3,
    ),
    _cue(
        "CONCEPT",
        "read reading watch watched watching rewatch rewatched entitled titled in of for is still",
        r"(?:re-?)?(?:read|reading|watch(?:ed|ing)?)|starr(?:ed|ing) in|entitled|titled|(?:episode|season) of"
        r"|tickets for|(?:film|movie|book|song|novel|album|show|game) is(?: still)?",
        8,
    ),
)
_NOT_IN = (
    r"(?<!championships )(?<!championship )(?<!degree )(?<!career )(?<!interest )(?<!interested )"
    r"(?<!believe )"
    r"(?<!believes )(?<!role )(?<!competed )(?<!medal )(?<!bachelor )(?<!majored )(?<!course )(?<!starred )"
    r"(?<!starring )(?<!appeared )(?<!appears )(?<!featured )(?<!written )(?<!implemented )(?<!coded )"
    r"(?<!built )(?<!played )(?<!plays )(?<!part )(?<!episode )(?<!tracked )(?<!stored )(?<!bug )(?<!issue )"
    r"(?<!invested )(?<!shares )(?<!function )(?<!table )(?<!documented )(?<!designed )(?<!wrote )(?<!it )"
)
_WEAK_BEFORE: Final = (
    _cue(
        "PLACE",
        "in around across outside throughout northern southern eastern western central downtown",
        _NOT_IN + r"[Ii]n|[Aa]round|[Aa]cross|[Oo]utside|[Tt]hroughout|[Nn]orthern|[Ss]outhern|[Ee]astern"
        r"|[Ww]estern|[Cc]entral|downtown",
        2,
    ),
    _cue(
        "ORG",
        "joined joining quit acquired acquires buy bought at founded supplier client customer by",
        r"[Jj]oined|[Jj]oining|quit|acquire[sd]|buy|bought|at|(?:co-)?founded|supplier|client|customer"
        r"|(?:hired|sponsored|owned|published|released|acquired|manufactured|funded|operated) by",
        5,
    ),
    _cue(
        "PERSON",
        "by asked helped hired from with",
        r"(?:written|directed|composed|sung|painted|told|said|led|produced|edited|recorded|performed"
        r"|album|song"
        r"|novel|book|film|founded|played|created|invented|discovered|reported|fixed|merged) by|asked|helped"
        r"|hired|(?:email|message|letter|text|feedback|mail|postcard) from|(?:collaborat\w+|work(?:s|ed|ing)"
        r"|play(?:s|ed|ing)|perform\w*|toured|went|going|stay(?:s|ed|ing)|trip|pair(?:ed|ing)) with",
        3,
    ),
    _cue(
        "TECHNOLOGY",
        "run runs running use uses used using install installed installing upgrade upgraded migrate migrated"
        " switch switched deploy deployed sync synced in behind via to with on wear wears drive drives",
        r"[Rr]un(?:s|ning)?|[Uu]s(?:e[sd]?|ing)|[Ii]nstall(?:ed|ing)?|[Uu]pgraded?|[Mm]igrated? to"
        r"|[Ss]witch(?:ed)? to|[Dd]eploy(?:ed)? (?:to|on)|sync(?:ed)? (?:it |them )?(?:with|to)"
        r"|(?:written|implemented|coded|logged|tracked|stored) in|behind|via|wears?|drives?",
        3,
    ),
)
_FREE = (
    r"(?=$|[.,;:!?)\]\"”\n]| (?:and|or|in|on|for|with|since|as|to|where|when|while|this|last|next|but|by|from"
    r"|until|at|is|was|before|after|because|so|again|today|yesterday|tomorrow|now|during|near|over|via|who"
    r"|which|that|has|had|instead|every|if)\b)"
)
_FOLLOWED = re.compile(r"(?:['’]s)?" + _FREE)
_RELATED = "|".join(sorted(_KIN))
_STRONG_AFTER: Final = (
    (
        "PERSON",
        re.compile(
            r"['’]s (?:birthday|wedding|funeral|mom|mum|dad|mother|father|parents|wife|husband|son|daughter"
            r"|sister|brother|kids|children|girlfriend|boyfriend|family|hair|group|advice|flat|apartment"
            r"|dog|cat"
            r"|surgery|slides|pull request|PR)\b| and I\b"
            r"|,? (?:also |never |always |just |really |has |had |still |now )?"
            r"(?:says|told|asks|asked|thinks|thought|prefers|preferred|loves|loved|likes|hates|hated"
            r"|knows|knew|feels|felt|remembers|lives in|lived in|grew up|was born|married|retired|graduated"
            r"|cooked|baked|ate|slept|cried|smiled|laughed|texted|apologi[sz]ed|volunteered|complained"
            r"|forgot|is out|is sick|is on (?:vacation|leave|holiday|call)|is away|is allergic|is vegetarian"
            r"|is vegan|is pregnant|is married(?! to (?:its|the|this)\b)|turned \d|will own|presents the"
            r"|gave birth|gave blood|studies"
            r"|studied|taught|teaches|sings|sang|moved the|moved in"
            rf"|(?:is|was) (?:my|his|her|our|their) (?:\w+ )?(?:{_RELATED}))\b"
        ),
    ),
)
_WEAK_AFTER: Final = (
    (
        "ORG",
        re.compile(
            r" (?:announced|acquired|hired|employs|merged with|was founded|were founded|is headquartered"
            r"|wanted to buy|hasn['’]t signed|has(?: not)? signed|still hasn['’]t|raised [$€£]|sells|laid off"
            r"|manufactures|contract|invoices?|deal|employees|CEO|stock|shares|headquarters|recruiter"
            r"|executives|account)\b"
        ),
    ),
    (
        "PROJECT",
        re.compile(
            r" (?:project|launch|rollout|roadmap|beta|milestone|initiative|epic|codebase|repo|repository"
            r"|kick-?off|prototype)\b"
        ),
    ),
    (
        "TECHNOLOGY",
        re.compile(
            r" (?:api|API|SDK|CLI|service|server|client|cluster|container|plugin|extension|library|package"
            r"|module|class|endpoint|dashboards?|quer(?:y|ies)|driver|image|pipeline|workflow|script"
            r"|config(?:uration)?|binary|framework|compiler|runtime|integration|webhook|worker|queue|schema"
            r"|bucket|app|firmware|database|linter|migrations?|editor|firewall|router)\b"
        ),
    ),
    ("PLACE", re.compile(r" (?:office|airport|suburbs|coast|skyline)\b")),
    (
        "PERSON",
        re.compile(
            r",? (?:said|wants?|wanted|agreed|suggested|mentioned|moved|wrote|works|worked|went|died"
            r"|joined|met"
            r"|gave|bought|needs to|who|whose|starts|started|plays|played|owns"
            r"|reviewed|presented|presents|helped|visited|founded|built|\(born|, born)\b"
        ),
    ),
)
_MARRIES = re.compile(r"\b(?:married|engaged) to $")
_JOINS = re.compile(r"\b(?:joined|joining|rejoined) (?:the )?[\"“]?$")
_JOINED = re.compile(r", (?:and |or )?| and | or | & ")
_FROM_TO = re.compile(r" (?:to|via|through) | we ")
_BARE_NAME = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)?(?: [^\W\d_]+(?:[-’'][^\W\d_]+)?){0,2}")


_PEOPLE: Final = word_set("my his her their your whose")
_REPLIES: Final = word_set("""
    absolutely, agree, awesome, congrats, cool, cute, definitely, exactly, great, good, haha, hey, hi,
    much, nice, no, nope, ok, okay, please, right, sorry, sure, thanks, totally, true, wow, yeah, yep,
    yes, you, too, well, welcome, whoa, love, support, amazing, wonderful, fantastic, lovely, night, morning,
""")
_CALLED_OUT = re.compile(r"[!?,.]")


def typed_by_context(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Return the mentions of an English text, with types where the words around them tell one.

    Names whose own words or a list give the type keep it. What names joined by "and" are, they are
    together.

    Args:
        text: The text.
        mentions: Mentions with spans, in the order of the text.
    """
    typed = [_typed(text, mention) for mention in mentions]
    for this in range(len(typed) - 1):
        typed[this], typed[this + 1] = _together(text, typed[this], typed[this + 1])
    return typed


def _typed(text: str, mention: Mention) -> Mention:
    if mention.start is None or mention.end is None:
        return mention
    unknown = mention.type == "CONCEPT" and mention.source in _OPEN and mention.confidence < _SURE
    recognised = mention.source == "spacy" and mention.type in _CORRECTED
    if not unknown and not recognised:
        return mention
    before = text[max(0, mention.start - _BEFORE) : mention.start].rpartition("\n")[2]
    after = text[mention.end : mention.end + _AFTER].partition("\n")[0]
    words = before.lower().split()[-4:]
    while words and words[-1] in _ARTICLES:
        words.pop()
    bare = mention.name.count(" ") < 3 and _BARE_NAME.fullmatch(mention.name) is not None
    type_ = _by_noun(words) or _by_cue(_STRONG_BEFORE, words, before, after, mention.name, bare)
    if type_ is None and bare and after[:1] in {" ", ",", "'", "’"}:
        type_ = _by_following(_STRONG_AFTER, after)
        if type_ is None and is_person(mention.name, text[mention.end : mention.end + _LONGER_AFTER]):
            type_ = "PERSON"
    if mention.type == "ORG" and " " not in mention.name and _MARRIES.search(before):
        type_ = None  # "married to Peloton" is a joke about a firm as likely
    if type_ is None and mention.type == "PLACE" and _JOINS.search(before):
        type_ = "ORG"  # nobody joins a town
    if type_ is None and unknown:
        type_ = _weak(words, before, after, mention.name, bare)
    return mention if type_ is None or type_ == mention.type else replace(mention, type=type_)


def _by_noun(words: Sequence[str]) -> str | None:
    """Return the type of a noun that a name follows: "sister X", "a startup called X", "the city of X"."""
    if not words:
        return None
    if words[-1] == "name's" or words[-2:] == ["name", "is"]:
        return "PERSON" if _PEOPLE & set(words) else None
    if words[-1] in {"called", "named"}:
        nouns = words[:-1] if words[-2:-1] not in (["is"], ["was"], ["are"]) else words[:-2]
        return _NOUNS.get(nouns[-1].rstrip(",")) if nouns else None
    noun = words[-1].rstrip(",")
    return None if noun in _NO_APPOSITION else _NOUNS.get(noun)


def _by_cue(
    cues: Sequence[_Cue], words: Sequence[str], before: str, after: str, name: str, bare: bool
) -> str | None:
    last = words[-1].lstrip('("“') if words else ""
    for cue in cues:
        if last not in cue.lasts or name.count(" ") >= cue.words or (cue.type == "PERSON" and not bare):
            continue
        if cue.type == "PLACE" and (name.isupper() or not _FOLLOWED.match(after)):
            continue  # "went to an IEEE conference"
        if cue.pattern.search(before):
            return cue.type
    return None


def _by_following(cues: Sequence[tuple[str, re.Pattern[str]]], after: str) -> str | None:
    return next((type_ for type_, pattern in cues if pattern.match(after)), None)


def _weak(words: Sequence[str], before: str, after: str, name: str, bare: bool) -> str | None:
    if bare and " " not in name and _CALLED_OUT.match(after) and words and words[-1] in _REPLIES:
        return "PERSON"  # "Thanks so much, Zoe!"
    if words and words[-1] == "from" and bare and _FROM_TO.match(after):
        return "PLACE"
    if _FOLLOWED.match(after):
        type_ = _by_cue(_WEAK_BEFORE, words, before, after, name, bare)
        if type_ is not None and (bare or type_ != "PLACE") and not (type_ == "PERSON" and name.isupper()):
            return type_
    if after[:1] not in {" ", ","}:
        return None
    type_ = _by_following(_WEAK_AFTER, after)
    return None if type_ == "PERSON" and (not bare or name.isupper()) else type_


def _together(text: str, one: Mention, other: Mention) -> tuple[Mention, Mention]:
    """Return two names that "and" joins with the same type, if only one of them has any."""
    if one.end is None or other.start is None or one.source not in _OPEN or other.source not in _OPEN:
        return one, other
    if (one.type == "CONCEPT") == (other.type == "CONCEPT") or other.start - one.end > 6:
        return one, other
    if not _JOINED.fullmatch(text, one.end, other.start):
        return one, other
    type_ = other.type if one.type == "CONCEPT" else one.type
    if type_ not in _CORRECTED or (" " in one.name) != (" " in other.name):
        return one, other
    if one.type == "CONCEPT":
        return replace(one, type=type_), other
    return one, replace(other, type=type_)
