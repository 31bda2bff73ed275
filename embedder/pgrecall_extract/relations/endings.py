"""The phrases that say that a relationship has ended, and which labels each of them ends.

A phrase that names the relationship ("no longer works at") is evidence that it was. One that fits several
("left Initech") is a guess: it ends whichever of its labels another memory states, and states none.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from .rules import OFFICE, Rule, home, job, person

__all__ = ["ENDINGS", "ENDING_CUE", "SUCCESSIONS"]

_ANYMORE: Final = r" (?:any ?more|any longer|nowadays|these days)\b"
_AGO: Final = r"(?:a|one|two|three|four|five|six|\d+|some|several|a few) (?:day|week|month|year)s? ago"
_MONTH: Final = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|spring|summer|autumn|fall|winter|\d{4})"
)
_STOP: Final = r"[\"”'’`]{0,2}(?:$|[.;:!)\]…\n]|, |,$)"
# Who leaves a company for good does not leave it early, at five or to buy lunch.
_FOR_GOOD: Final = (
    rf"(?={_STOP}| (?:for good|for ever|forever|yesterday|recently|because|since|but|so|when|as (?:of|he"
    rf"|she|they)"
    rf"|last (?:week|month|year|{_MONTH})|this (?:week|month|year|{_MONTH})|(?:early |late )?in {_MONTH}"
    rf"|{_AGO}"
    r"|after (?:\w+ ){1,3}(?:months?|years?|decades?)|for [A-Z]"
    r"|to (?:join|start|work|become|found|study|pursue|raise|retire|travel|take|focus)"
    r"|and (?:now|then|has|is|was|works?|joined|started|moved|founded|became|lives?|went to)\b))"
)
_AT_SOME_TIME: Final = r"(?= (?:last|this|on|today|at|a|two|three|early|suddenly|over|without|by|with|the)\b)"
_TWO_PARTED: Final = (
    r",? (?:have |had |has )?(?:just |recently |finally )?(?:(?:are|were|got) (?:now |finally |both )?"
    r"(?:divorced|separated)|(?:are|were) no longer (?:married|together|a couple)"
    r"|(?:are|were)(?: not|n['’`]t) (?:married|together|a couple) (?:any ?more|any longer)"
    rf"|(?:got|gotten) a divorce|(?:finali[sz]ed|completed) their divorce|called it quits"
    rf"|divorced|separated|split(?: up)?|broken up|broke up|parted ways)(?={_STOP}| (?:last|this|in|after"
    rf"|because|since)\b)"
)
_BY: Final = r"(?: has| have|['’`]ve|['’`]s)?(?: just| recently| finally| already)?"
_PASSIVE: Final = r"(?: was| were| got| has been| have been|['’`]ve been)(?: just| recently| finally)?"
_PARTICIPLES: Final = {
    "works at": "worked",
    "lives in": "(?:lived|resided)",
    "plays for": "played",
    "studies at": "studied",
    "uses": "used",
    "subscribes to": "subscribed",
    "reports to": "reported",
    "belongs to": "belonged",
}
# So long that it is over; "since Monday" or "for long" is not.
_FOR_AGES: Final = (
    rf"(?= since (?:(?:early|late|mid|the|last|that|this|about|around) )*(?:{_MONTH}|year|month|start of"
    rf"|end of|divorce"
    r"|move|merger|split|pandemic|war|wedding|childhood|graduation|graduating|moving|leaving|then)\b"
    r"| (?:for|in) (?:many |several |some |over |more than |\w+ )?(?:years|months|decades|ages)\b)"
)
_EX: Final = r"(?:ex|former)[- ]?"
_OWN: Final = r"(?:(?:his|her|their|my|our|the|its) (?:old |new |last )?)?"

# Third person, plain form and -ing form of a verb, what follows it, and the label that it states.
_VERBS: Final = (
    ("works", "work", "working", r"(?: as an? [a-z -]{2,40}?)? (?:at|for)", "works at"),
    ("lives", "live", "living", " in", "lives in"),
    ("resides", "reside", "residing", " in", "lives in"),
    ("plays", "play", "playing", " for", "plays for"),
    ("studies", "study", "studying", " at", "studies at"),
    ("teaches", "teach", "teaching", " at", "works at"),
    ("uses", "use", "using", "", "uses"),
    ("drives", "drive", "driving", "", "drives"),
    ("owns", "own", "owning", "", "owns"),
    ("has", "have", "having", "", "owns"),
    ("plays", "play", "playing", "", "plays"),
    ("likes", "like", "liking", "", "likes"),
    ("loves", "love", "loving", "", "likes"),
    ("enjoys", "enjoy", "enjoying", "", "likes"),
    ("prefers", "prefer", "preferring", "", "prefers"),
    ("dislikes", "dislike", "disliking", "", "dislikes"),
    ("hates", "hate", "hating", "", "dislikes"),
    ("dates", "date", "dating", "", "in relationship with"),
    ("subscribes", "subscribe", "subscribing", " to", "subscribes to"),
    ("reports", "report", "reporting", " to", "reports to"),
    ("belongs", "belong", "belonging", " to", "belongs to"),
    ("depends", "depend", "depending", " on", "depends on"),
    ("runs", "run", "running", " on", "runs on"),
    ("supports", "support", "supporting", "", "supports"),
    ("requires", "require", "requiring", "", "requires"),
    ("maintains", "maintain", "maintaining", "", "maintains"),
    ("leads", "lead", "leading", "", "leads"),
    ("manages", "manage", "managing", "", "manages"),
)
_JOBS: Final = frozenset({"works at", "plays for", "studies at"})
_PERSONAL: Final = _JOBS | {"lives in", "drives", "plays", "in relationship with"}

_ANY_RULE = Rule(re.compile(""), "", event=True)
_GUESS = replace(_ANY_RULE, confidence=0.0)


def _of(rule: Rule, ends: tuple[str, ...], pattern: str, after: str | None = None) -> Rule:
    return replace(
        rule, ends=ends, pattern=re.compile(pattern), after=None if after is None else re.compile(after)
    )


def _rule_of(label: str) -> Rule:
    """Return a rule with the types of a label's names."""
    rule = person(_ANY_RULE) if label in _PERSONAL else _ANY_RULE
    return job(rule) if label in _JOBS else home(rule) if label == "lives in" else rule


def _verb(third: str, base: str, gerund: str, rest: str, label: str) -> tuple[Rule, Rule, Rule]:
    """Return what ends a verb's relationship by itself, what does before "anymore", and what only denies it.

    Who does not live in Ghent may never have: a denial ends what another memory states, and states nothing.
    """
    rule = _rule_of(label)
    # "No longer has", "used to own" and "stopped having" are about more than things.
    kept = rf"|{_BY} used to {base}" if base != "have" else ""
    return (
        _of(
            rule,
            (label,),
            rf"(?: no longer (?:{third}|{base})|(?: is|['’`]m|['’`]s| am|['’`]re| are) no longer {gerund}"
            rf"|{_BY} (?:stopped|quit|ceased) {gerund}{kept}){rest} (?:the |a |an )?",
        ),
        _of(
            rule,
            (label,),
            rf"(?: (?:does|do)(?:n['’`]t| not)(?: {base})|(?: is|['’`]m| am|['’`]s)(?:n['’`]t"
            rf"| not)? (?:not )?{gerund}"
            rf"){rest} (?:the |a |an )?",
            _ANYMORE,
        ),
        _of(
            replace(rule, confidence=0.0),
            (label,),
            rf"(?: (?:does|do)(?:n['’`]t| not) {base}|(?: isn['’`]t|(?: is|['’`]m| am|['’`]s) not) {gerund})"
            rf"{rest} (?:the |a |an )?",
            f"(?={_STOP})",
        ),
    )


_COUPLE = ("married to", "in relationship with", "engaged to")
_PAIR = replace(person(_GUESS), second_types=frozenset({"PERSON", "CONCEPT"}), both_ways=True)
_MARRIED = replace(_PAIR, confidence=0.8, object_becomes="PERSON")
_JOB = job(_ANY_RULE)
_LEFT = job(_GUESS)
_DISMISSED = replace(_LEFT, first_types=_LEFT.second_types, second_types=_LEFT.first_types, reversed=True)
_FORMER: Final = (
    (_MARRIED, "married to", "husband|wife|spouse"),
    (_MARRIED, "in relationship with", "girlfriend|boyfriend|partner|lover"),
    (_MARRIED, "engaged to", "fianc[ée]e?"),
)

ENDINGS: Final = (
    *(rule for verb in _VERBS for rule in _verb(*verb)),
    *(
        _of(
            _rule_of(label),
            (label,),
            rf"(?: has| have|['’`]ve)(?:n['’`]t| not)(?: actually| really)? {_PARTICIPLES[label]}"
            rf"{rest} (?:the |a |an )?",
            _FOR_AGES,
        )
        for rest, label in dict.fromkeys((rest, label) for *_, rest, label in _VERBS)
        if label in _PARTICIPLES
    ),
    _of(_JOB, ("works at",), r"(?: is|['’`]m| am|['’`]s) no longer (?:employed )?(?:at|with|by) (?:the )?"),
    _of(_JOB, ("works at",), r"(?: is|['’`]m| am|['’`]s)(?:n['’`]t| not) (?:at|with) (?:the )?", _ANYMORE),
    _of(
        _JOB,
        ("works at",),
        rf"{_BY} (?:quit|left|lost|gave up) (?:his|her|their|my|a|the) (?:\w+ )?(?:job|position|role"
        rf"|post) (?:at|with) ",
    ),
    _of(
        _JOB,
        ("works at",),
        rf"{_PASSIVE} (?:fired|sacked|dismissed|laid off|let go|made redundant) (?:by|from|at) (?:the )?",
    ),
    # Whoever fires somebody may be a person: a guess.
    _of(
        _DISMISSED,
        ("works at",),
        rf"{_BY} (?:fired|sacked|dismissed|terminated|laid off|let go of|made redundant) ",
        rf"(?={_STOP}| (?:yesterday|recently|today|last|this|in|on|after|because|since|and|for)\b)",
    ),
    _of(
        _DISMISSED,
        ("works at",),
        rf"{_BY} (?:let|laid|made) ",
        rf" (?:go|off|redundant)(?={_STOP}| (?:yesterday|recently|last|after|because|since|when"
        rf"|in {_MONTH})\b)",
    ),
    _of(
        _JOB,
        ("works at",),
        rf"{_BY} (?:(?:handed|put|turned|sent|gave) in|gave|given|submitted|tendered)"
        r" (?:(?:his|her|their|my) (?:\w+ )?(?:notice|resignation)|notice) (?:at|from) (?:the )?",
    ),
    _of(
        _LEFT,
        ("works at",),
        rf"{_BY} (?:(?:handed|put|turned|sent|gave) in|gave|given|submitted|tendered)"
        r" (?:(?:his|her|their|my) (?:\w+ )?(?:notice|resignation)|notice) (?:to|with) (?:the )?",
    ),
    # A town is left for good as well.
    _of(
        replace(_LEFT, second_types=_LEFT.second_types | {"PLACE"}),
        ("works at", "member of", "lives in"),
        rf"{_BY} left (?:the )?",
        r"(?= for (?:good|ever)\b| forever\b)",
    ),
    _of(_LEFT, ("works at", "member of"), rf"{_BY} (?:left|quit) (?:the )?", _FOR_GOOD),
    # Who leaves a firm on Friday may be back on Monday; who quits it is not.
    _of(_LEFT, ("works at", "member of"), rf"{_BY} quit (?:the )?(?!playing |using )", _AT_SOME_TIME),
    _of(
        _LEFT,
        ("works at", "member of"),
        rf"{_BY} (?:resigned from|retired from|parted ways with|stepped down from|walked out on) (?:the )?",
    ),
    _of(
        _LEFT,
        ("studies at", "member of"),
        rf"{_BY} (?:dropped out of|withdrew from|(?:was |got )?(?:kicked out of|expelled from)) (?:the )?",
    ),
    _of(
        _ANY_RULE,
        ("{0} of",),
        rf"(?: is|['’`]m| am|['’`]s) no longer (?:the |an? )?((?i:{OFFICE})) of (?:the )?",
    ),
    _of(
        _ANY_RULE,
        ("{0} of",),
        rf"{_BY} (?:(?:stepped down|resigned) as|stopped being|ceased to be"
        rf"|used to be)(?: the| an?)? ((?i:{OFFICE})) of (?:the )?",
    ),
    _of(
        _ANY_RULE,
        ("{0} of",),
        rf"(?: is|['’`]m| am|['’`]s)(?:n['’`]t| not) (?:the |an? )?((?i:{OFFICE})) of (?:the )?",
        _ANYMORE,
    ),
    _of(
        _ANY_RULE,
        ("located in",),
        r" (?:is no longer|used to be) (?:located|situated|based|headquartered) in ",
    ),
    _of(home(_ANY_RULE), ("lives in",), rf"{_BY} moved (?:away from|out of|out from) "),
    _of(_PAIR, _COUPLE, r" and ", _TWO_PARTED),
    _of(
        _MARRIED,
        ("married to",),
        rf"(?:{_BY} (?:divorced|(?:got|gotten|obtained|won|finali[sz]ed) (?:an?|the|his|her|their"
        rf"|my) divorce from)"
        r"| was granted a divorce from|(?: is|['’`]m| am| got| was) (?:now )?divorced from"
        r"|(?: is|['’`]m| am) no longer married to) ",
    ),
    *(
        _of(rule, (label,), r"(?: is|['’`]s|,) (?:now )?", rf"['’`]s {_EX}(?:{kin})\b(?!['’`])")
        for rule, label, kin in _FORMER
    ),
    *(
        _of(rule, (label,), rf"(?: is|['’`]s|,) (?:now )?(?:the|an) {_EX}(?:{kin}) of ")
        for rule, label, kin in _FORMER
    ),
    _of(_PAIR, _COUPLE, r"(?: is|['’`]s) (?:now )?", r"['’`]s ex(?![-\w'’`])"),
    _of(
        _PAIR,
        _COUPLE,
        rf"{_BY}(?: is| am|['’`]m)? (?:split(?: up)? (?:from|with)|(?:been )?separated from|broken? up with"
        r"|no longer (?:dating|with|together with)|left (?:his|her|their|my) "
        r"(?:wife|husband|partner|girlfriend|boyfriend|fianc[ée]e?),?) ",
    ),
    _of(
        replace(_MARRIED, object_becomes="CONCEPT"),
        ("engaged to",),
        rf"{_BY} (?:broke|called) off (?:his|her|their|my|the) engagement (?:to|with) ",
    ),
    _of(
        replace(person(_GUESS), second_types=frozenset({"ORG", "TECHNOLOGY", "CONCEPT", "PROJECT"})),
        ("owns", "drives"),
        rf"{_BY} (?:sold|got rid of|gave away|traded in|scrapped) {_OWN}",
    ),
    _of(
        _GUESS,
        ("uses", "subscribes to", "member of"),
        rf"{_BY} (?:cancell?ed|terminated|ended) {_OWN}(?:(?:subscription|membership|account) (?:to|with|of"
        rf"|at) )?",
        rf" (?:subscription|membership|account|plan)\b|(?={_STOP}| (?:yesterday|last|this|in|because|since"
        rf"|after|and)\b)",
    ),
    _of(
        _GUESS,
        ("uses", "subscribes to"),
        rf"{_BY} (?:unsubscribed from|uninstalled|ditched|abandoned|dropped|swapped|gave up(?: on)?"
        r"|(?:switched|migrated|moved)(?: away)? from) (?:the )?",
    ),
    _of(replace(person(_GUESS)), ("plays", "likes", "uses"), rf"{_BY} (?:gave up|quit) (?:playing |using )?"),
)
"""Tried in this order; the first that fits counts."""

_NEXT_JOB = job(replace(_ANY_RULE, confidence=0.7, label="works at"))
_FOR: Final = (
    r" for (?:the )?(?!(?:Easter|Christmas|Lent|Ramadan|Advent|Thanksgiving|Mon|Tues|Wednes|Thurs|Fri"
    r"|Satur|Sun|January"
    r"|February|March|April|May|June|July|August|September|October|November|December|Covid|COVID)(?:day)?\b)"
)
_NEXT_JOBS: Final = (
    replace(
        _NEXT_JOB,
        pattern=re.compile(
            r",? (?:to (?:join|work (?:at|for|with)|start(?: work(?:ing)?)? (?:at|with)|take (?:a|the"
            r"|up a) (?:\w+ )?"
            r"(?:job|position|role|post) (?:at|with))|and (?:then )?(?:joined|went to work (?:at"
            r"|for))) (?:the )?"
        ),
    ),
    replace(_NEXT_JOB, pattern=re.compile(_FOR), second_types=frozenset({"ORG"})),
)
_NEXT_TOOL = replace(
    _ANY_RULE,
    label="uses",
    pattern=re.compile(r" to (?:the )?"),
    second_types=frozenset({"TECHNOLOGY", "CONCEPT", "ORG", "PROJECT"}),
)
# Who switches from Volvo to Saab may have changed the employer, the car or the supplier. So of a person one
# of the two must be a known tool, and none a firm. These tools are employers as well.
_FIRMS: Final = (
    "Spotify", "GitHub", "GitLab", "Slack", "Zoom", "Notion", "Snowflake", "Databricks", "Salesforce",
    "HubSpot", "Twilio", "Cloudflare", "Datadog", "Splunk", "Vercel", "Netlify", "Supabase", "Heroku",
    "Dropbox", "Instagram", "YouTube", "WhatsApp", "Strava", "Asana", "Fitbit", "AWS",
)  # fmt: skip
_KNOWN: Final = frozenset({"TECHNOLOGY"})
_UNKNOWN: Final = frozenset({"CONCEPT", "PROJECT"})
_INSTEAD: Final = rf"(?: to (?:the )?|{_FOR}| in favou?r of (?:the )?)"
_NEXT_OF_SOMEBODY: Final = (
    replace(_NEXT_TOOL, pattern=re.compile(_INSTEAD), instead_of=_KNOWN, second_types=_KNOWN),
    replace(
        _NEXT_TOOL,
        confidence=0.6,
        pattern=re.compile("".join(rf"(?<!\b{firm})" for firm in _FIRMS) + _INSTEAD),
        instead_of=_KNOWN,
        second_types=_UNKNOWN,
    ),
    replace(
        _NEXT_TOOL,
        pattern=re.compile(rf"{_INSTEAD}(?!(?:{'|'.join(_FIRMS)})\b)"),
        instead_of=_UNKNOWN,
        second_types=_KNOWN,
    ),
)
SUCCESSIONS: Final = {
    ("works at",): _NEXT_JOBS,
    ("works at", "member of", "lives in"): _NEXT_JOBS,
    # Who left a firm for a name of an unknown kind mostly works there, but the name may be a town's.
    ("works at", "member of"): (
        *_NEXT_JOBS,
        replace(
            _NEXT_JOB,
            confidence=0.6,
            pattern=re.compile(_FOR),
            second_types=frozenset({"CONCEPT", "PROJECT", "TECHNOLOGY"}),
            object_becomes="CONCEPT",
        ),
    ),
    ("uses",): (_NEXT_TOOL,),
    ("uses", "subscribes to", "member of"): _NEXT_OF_SOMEBODY,
    ("uses", "subscribes to"): (
        replace(_NEXT_TOOL, first_types=frozenset({"ORG", "PROJECT", "TECHNOLOGY"})),
        *_NEXT_OF_SOMEBODY,
    ),
}
"""What follows the object of the ended labels, and states what came instead."""

ENDING_CUE: Final = re.compile(
    r"\b(?:no longer|any ?more|any longer|these days|nowadays|used to|stopped|quit|ceased|left|lost|gave"
    r"|fired|sacked"
    r"|dismissed|laid off|let go|redundant|resigned|retired|parted|stepped|walked out|dropped|withdrew"
    r"|kicked|expelled"
    r"|moved|divorced|separated|split|broken?|off|together|couple|sold|rid|traded|scrapped|cancell?ed"
    r"|terminated|ended|made"
    r"|divorce|quits|ex\w*|former\w*|notice|resignation"
    r"|(?:has|have|['’`]ve|do|does|is|am|['’`][ms])(?:n['’`]t| not)|let|laid|swapped"
    r"|unsubscribed|uninstalled|ditched|abandoned|switched|migrated)\b"
)
"""What a sentence without one of these words ends is nothing."""
