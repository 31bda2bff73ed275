"""What is known of English relation labels, as data: synonyms, inverses, verbs, which hold once at a time."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ADVERBS",
    "ARTICLES",
    "FUNCTIONAL_LABELS",
    "HAVE",
    "INTRANSITIVE",
    "INVERSES",
    "IRREGULAR",
    "LABELS",
    "SYMMETRIC_LABELS",
    "SYNONYMS",
    "TO_BE",
    "TRANSITIVE",
]


def _listed(table: Mapping[str, str]) -> Mapping[str, str]:
    """Turn label -> "a, b, c" into a -> label, b -> label, c -> label."""
    return MappingProxyType(
        {one.strip(): label for label, listed in table.items() for one in listed.split(",")}
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SYNONYMS: Final = _listed(
    {
        "works at": "works for, employed by, employed at, employee of, on staff at, staff member of, "
        "hired by",
        "works as": "employed as, has job as, job title, occupation, profession",
        "works on": "contributes to",
        "lives in": "resides in, resident of, has home in, domiciled in",
        "located in": "based in, situated in, headquartered in, has headquarters in, lies in, location",
        "located near": "near, close to, next to",
        "married to": "spouse of, spouse, wife of, husband of, wife, husband, marries, married, wed to",
        "engaged to": "fiance of, fiancee of, fiancé of, fiancée of",
        "in relationship with": "partner of, dates, dating, girlfriend of, boyfriend of",
        "parent of": "father of, mother of, dad of, mom of, mum of, has child, has son, has daughter",
        "child of": "son of, daughter of, born to, has parent, has father, has mother",
        "sibling of": "brother of, sister of, has brother, has sister, has sibling",
        "friend of": "friends with, friend, befriends, has friend",
        "colleague of": "coworker of, co-worker of, teammate of, has colleague",
        "comes from": "hails from, native of, originates from, from",
        "born in": "birthplace, place of birth, born at",
        "died in": "dies in, died at, place of death",
        "named": "called, has name",
        "also known as": "known as, goes by, nicknamed, alias, alias of, aka",
        "part of": "belongs to, component of, subset of, division of, section of, module of, contained in, "
        "included in, subsidiary of",
        "member of": "on team, joins, plays for",
        "capital of": "capital city of",
        "leads": "heads, manages, directs, head of, leader of, manager of, ceo of, director of, chief of, "
        "president of, in charge of, lead of, chairs, chair of",
        "reports to": "works under",
        "owns": "owner of, possesses, has ownership of",
        "wrote": "writes, author of, authors, authored",
        "created": "creates, makes, made, builds, built, develops, creator of, developer of, invents, "
        "invented, inventor of, designs, designer of",
        "founded": "founds, founder of, co-founds, cofounds, co-founded, cofounded, co-founder of, cofounder "
        "of, establishes, established",
        "uses": "utilizes, utilises, makes use of, built with, powered by, implemented in",
        "depends on": "requires, needs, relies on, dependent on",
        "studies at": "student at, student of, enrolled at, enrolled in, goes to school at",
        "graduated from": "graduates from, alumnus of, alumna of, educated at",
        "likes": "loves, enjoys, fond of, fan of, prefers",
        "dislikes": "hates, does not like",
        "visited": "visits, travels to, goes to",
        "moved to": "moves to, relocates to",
        "knows": "acquainted with, meets, met",
        "replaces": "supersedes, succeeds, successor of, successor to",
        "instance of": "a, an, type of, kind of, example of",
        "speaks": "speaks language, fluent in",
        "plays in": "stars in, acts in, appears in, performs in",
    }
)
"""Labels of the same meaning and direction, without auxiliaries and articles, and the one that stands for
them. Verbs in the present tense cover their other tenses."""

INVERSES: Final = _listed(
    {
        "works at": "employs, employer of, hires, has employee",
        "works on": "has contributor",
        "lives in": "has resident, home of, home to",
        "located in": "location of, houses",
        "parent of": "child of",
        "part of": "contains, includes, comprises, has part, consists of, has component, has module",
        "member of": "has member, has team member",
        "capital of": "has capital, has capital city, capital",
        "leads": "led by, headed by, managed by, run by, directed by, chaired by, has leader, has ceo, has "
        "president",
        "reports to": "supervises, boss of, has report",
        "owns": "owned by, property of",
        "wrote": "written by, has author, authored by",
        "created": "created by, made by, built by, developed by, invented by, designed by",
        "founded": "founded by, co-founded by, cofounded by, established by, has founder",
        "uses": "used by, used in, utilized by, utilised by",
        "depends on": "required by, needed by",
        "studies at": "has student",
        "graduated from": "has alumnus",
        "likes": "liked by, loved by, enjoyed by, favorite of, favourite of",
        "replaces": "replaced by, superseded by, succeeded by, predecessor of",
        "born in": "birthplace of",
        "visited": "visited by",
        "named": "name of",
        "instance of": "has instance",
    }
)
"""Labels that say the same with subject and object exchanged, and the label that stands for both."""

LABELS: Final = frozenset((*SYNONYMS.values(), *INVERSES.values()))
"""The labels that stand for others."""

SYMMETRIC_LABELS: Final = frozenset(
    (
        "married to",
        "engaged to",
        "in relationship with",
        "sibling of",
        "friend of",
        "colleague of",
        "located near",
    )
)
"""Labels that hold both ways."""

_PERSON: Final = frozenset(("PERSON",))

FUNCTIONAL_LABELS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "works at": _PERSON,
        "works as": _PERSON,
        "lives in": _PERSON,
        "married to": _PERSON,
        "engaged to": _PERSON,
        "born in": _PERSON,
        "died in": _PERSON,
        "located in": frozenset(("ORG",)),
        "capital of": frozenset(("PLACE",)),
        "named": frozenset(),
    }
)
"""Canonical labels by which a subject has one object at a time, and the types of subject for which that is
so; none means all. A new object closes the fact with the old one. A place lies in a town and in a country at
once, so that "located in" holds for organisations only."""

TO_BE: Final = _words("is are was were be been being am gets got get getting")
HAVE: Final = _words("has have had having")
ADVERBS: Final = _words(
    "will did does do currently now still also then formerly previously once recently originally "
    "primarily mainly usually often always"
)
"""What else may stand before a verb and leaves its meaning. Not among them are "may", "would" and "not"."""

ARTICLES: Final = frozenset(("a", "an", "the"))

INTRANSITIVE: Final = _words(
    "work live reside move relocate belong contribute graduate participate play serve report travel "
    "depend rely grow die volunteer intern compete collaborate arrive return emigrate immigrate retire "
    "specialize specialise migrate listen talk speak apply connect refer relate stay go come meet fall "
    "rise act appear perform star lie sit hail commute invest study"
)
"""Verbs whose past before a preposition is not passive: "worked at" is what "works at" was."""

TRANSITIVE: Final = _words(
    "own write found create use know like love hate enjoy prefer visit make build develop design invent "
    "manage direct head chair employ hire establish replace supersede succeed include contain comprise "
    "require need publish produce release sell buy acquire support maintain join win receive adopt "
    "raise marry date attend discover paint compose record host sponsor fund teach coach mentor "
    "supervise help call name see read watch drive ride cook plant keep hold carry deploy install "
    "configure implement extend import export generate store process deliver review approve reject fix "
    "close open merge test document describe cause affect influence inspire follow admire respect trust "
    "miss represent govern rule conquer defeat border cross cover surround power utilize utilise "
    "possess license translate edit present run lead learn dislike favor favour celebrate organize "
    "organise plan start begin finish end stop recommend order collect repair renovate rent befriend "
    "beat co-found cofound author drink eat train switch transfer"
)
"""Verbs whose past is active only without a preposition: "owned by" and "used in" are passive."""

IRREGULAR: Final = _listed(
    {
        "write": "wrote, written",
        "build": "built",
        "make": "made",
        "lead": "led",
        "hold": "held",
        "know": "knew, known",
        "see": "saw, seen",
        "buy": "bought",
        "sell": "sold",
        "win": "won",
        "teach": "taught",
        "grow": "grew, grown",
        "drive": "drove, driven",
        "ride": "rode, ridden",
        "speak": "spoke, spoken",
        "keep": "kept",
        "begin": "began, begun",
        "run": "ran",
        "go": "went, gone",
        "come": "came",
        "meet": "met",
        "fall": "fell, fallen",
        "rise": "rose, risen",
        "eat": "ate, eaten",
        "drink": "drank, drunk",
        "beat": "beaten",
        "die": "dying",
        "lie": "lying, lay",
        "sit": "sat",
    }
)
"""Past forms, participles and odd -ing forms, and their verb."""
