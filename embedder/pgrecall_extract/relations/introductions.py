"""What a speaker says that he is called: "I'm Kofi", "Call me Wren", "Ilse here", "je m'appelle Odile".

Precision comes first. Frames that only a name fills take any capitalised word that is no common one. Frames
that much else fills ("I'm ...", "... here", "this is ...") take a known given name, or a word that nothing
speaks against where the frame opens the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pgrecall_extract.entities.common_nouns import COMPUTING
from pgrecall_extract.entities.surnames import FIRST_NAMES
from pgrecall_extract.entities.world import ORGANISATIONS, PLACES
from pgrecall_extract.languages import GENERIC_LANGUAGES
from pgrecall_extract.sentences import sentence_spans
from pgrecall_extract.words import CALENDAR, COMMON, DEMONYMS, HONORIFICS, word_set

from .doubts import said_end

__all__ = ["ASKED_AS", "Introduction", "introductions"]

ASKED_AS: Final = {
    "english": ("my name",),
    "german": ("mein Name", "wie heiße ich"),
    "french": ("mon nom", "je m'appelle"),
    "spanish": ("mi nombre", "me llamo"),
    "dutch": ("mijn naam", "hoe heet ik"),
    "italian": ("il mio nome", "mi chiamo"),
    "portuguese": ("meu nome", "me chamo"),
}
"""How one asks for one's own name, by the language in which it was told; English always. "Who am I" is not
among them: it begins "Who am I meeting?" as well."""


@dataclass(frozen=True, slots=True)
class Introduction:
    """A name that a speaker gives himself.

    Attributes:
        name: The name.
        start: First character in the text.
        end: One past the last character.
        label: "named", or "also known as" for what one may call him.
        language: The language of the words around it.
    """

    name: str
    start: int
    end: int
    label: str
    language: str


@dataclass(frozen=True, slots=True)
class _Frame:
    """Words around a name.

    Attributes:
        pattern: To the end of what must follow; the group "name" is the name.
        cues: A sentence without any of them, in lower case, cannot match; cheaper than the pattern.
        language: Their language.
        label: As in Introduction.
        known: The name must be a known given name.
        opens: Only at the begin of the text, after a greeting at most.
        shows: It may show somebody else, of whom the text then speaks.
    """

    pattern: re.Pattern[str]
    cues: tuple[str, ...]
    language: str = "english"
    label: str = "named"
    known: bool = False
    opens: bool = False
    shows: bool = False


_PART: Final = r"[A-ZÀ-ÖØ-ÞŁŚŠŽČĆŞİĐ][^\W\d_]*(?:['’-][A-ZÀ-ÖØ-Þ]?[^\W\d_]+)*"
_NAME: Final = (
    rf"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?(?P<name>{_PART}(?:(?: (?:van|von|de|da|del|der|la|el|bin"
    rf"|al))* {_PART}){{0,2}})"
    r"(?!['’]s\b|[\w'’-])"
)
_END: Final = (
    r"(?=\s*(?:$|[.!,;:)\n\"”—–]| [—–-] | (?:and|but|from|by the way|btw|again|here|und|et|y|e|en|aus|de)\b))"
)
_ONLY: Final = (
    r"(?=\s*(?:$|[.!\n)—–]| [—–-] |, (?!(?:my|our|his|her|their|the|a|an|she|he|who|which|not)\b)))"
)
# "This is Max. He's so playful." shows somebody else.
_SHOWN: Final = re.compile(r"[\s.!,—–-]*(?i:he|she|it|they|his|her|my|our|their|the|an?|who|which|not|isn)\b")
_NICKNAME: Final = (
    r"(?=\s*(?:$|[.!,;)\n\"”]"
    r"| (?:please|instead|from now on|if|for short|and|but|by the way|btw|when|around|in)\b))"
)


def _of(cues: str, pattern: str, **fields: object) -> _Frame:
    return _Frame(re.compile(pattern.replace("NAME", _NAME)), tuple(cues.split("|")), **fields)  # type: ignore[arg-type]


_FRAMES: Final = (
    _of("name", rf"\b[Mm]y (?:(?:full|first|real) )?name(?: is|['’]s)(?: actually)? NAME{_END}"),
    _of("name", rf"\b(?:[Tt]he )?[Nn]ame['’]s NAME{_END}", opens=True),
    _of("called|named", rf"\b(?:I['’]m|I am|I was) (?:called|named) NAME{_END}"),
    _of("call me", rf"\b(?:[Pp]lease )?(?:[Jj]ust )?[Cc]all me NAME{_NICKNAME}", label="also known as"),
    _of(
        "calls me|call me",
        r"\b(?:[Yy]ou (?:can|may|could) (?:just )?|(?:[Ee]very(?:one|body)|[Pp]eople|[Ff]riends|[Mm]y friends"
        rf"|[Mm]ost people|[Tt]hey all) (?:just )?)calls? me NAME{_NICKNAME}",
        label="also known as",
    ),
    _of("go by", rf"\bI go by (?:the name )?NAME{_END}", label="also known as"),
    _of(
        "sign|address|refer",
        r"\b(?:[Ss]ign|[Aa]ddress|[Rr]efer to) (?:it|this|that|them|me|the (?:letter|e-?mail|mail|card|note"
        r"|message))"
        rf" (?:off )?(?:as|with|from) NAME{_END}",
    ),
    _of("i'm|i’m|i am|im ", rf"\b(?:I['’]?m|I am) (?:just )?NAME{_ONLY}", opens=True),
    _of("i'm|i’m|i am|im ", r"\b(?:I['’]?m|I am) NAME(?= (?:from|and I|by the way)\b)", opens=True),
    _of("i'm|i’m|i am|im ", rf"\b(?:I['’]?m|I am) NAME(?:{_ONLY}| (?:by the way|btw)\b)", known=True),
    _of(
        "it's|it’s|it is|this is",
        r"(?:\b(?:it['’]s|[Ii]t is|It['’]s|[Tt]his is) )NAME(?: (?:here|speaking|again|calling"
        r"|from [A-Za-z]))",
        opens=True,
    ),
    _of(
        "it's|it’s|it is|this is",
        rf"\b(?:it['’]s|It['’]s|[Ii]t is|[Tt]his is) NAME{_ONLY}",
        shows=True,
        known=True,
        opens=True,
    ),
    _of(
        " here",
        r"\bNAME(?: here)(?=\s*(?:$|[.,!;:\n—–]| [—–-] | (?:again|from|with)\b))",
        known=True,
        opens=True,
    ),
    _of("heiß|heiss", rf"\b[Ii]ch hei(?:ß|ss)e NAME{_END}", language="german"),
    _of("name", rf"\b[Mm]ein (?:voller )?Name (?:ist|lautet) NAME{_END}", language="german"),
    _of(
        "mich",
        rf"\b[Nn]enn(?:en Sie|t|e)? mich (?:einfach |bitte )?NAME{_END}",
        language="german",
        label="also known as",
    ),
    _of("nennen", r"\bmich (?:einfach |gerne? )?NAME nennen\b", language="german", label="also known as"),
    _of(
        "bin|hier",
        rf"\b(?:[Ii]ch bin(?:['’]?s)?(?: (?:die|der))?|[Hh]ier (?:ist|spricht)) NAME{_ONLY}",
        language="german",
        known=True,
    ),
    _of("appelle", rf"\b[Jj]e m['’]appelle NAME{_END}", language="french"),
    _of("nom", rf"\b[Mm]on (?:pré)?nom (?:est|c['’]est) NAME{_END}", language="french"),
    _of("appel", rf"\b[Aa]ppel(?:le|ez)-moi NAME{_END}", language="french", label="also known as"),
    _of(
        "moi|suis|ici",
        rf"\b(?:[Mm]oi,? c['’]est|[Jj]e suis|[Ii]ci) NAME{_ONLY}",
        language="french",
        known=True,
    ),
    _of("llamo", rf"\b[Mm]e llamo NAME{_END}", language="spanish"),
    _of("nombre", rf"\b[Mm]i nombre es NAME{_END}", language="spanish"),
    _of("lam|lám", rf"\b[Ll]l[áa]m(?:ame|enme|eme) NAME{_END}", language="spanish", label="also known as"),
    _of("soy|aquí|habla", rf"\b(?:[Ss]oy|[Aa]quí|[Hh]abla) NAME{_ONLY}", language="spanish", known=True),
    _of("heet", rf"\b[Ii]k heet NAME{_END}", language="dutch"),
    _of("naam", rf"\b[Mm]ijn naam is NAME{_END}", language="dutch"),
    _of("noem", rf"\b[Nn]oem me (?:maar )?NAME{_END}", language="dutch", label="also known as"),
    _of("chiamo", rf"\b[Mm]i chiamo NAME{_END}", language="italian"),
    _of("nome", rf"\b[Ii]l mio nome è NAME{_END}", language="italian"),
    _of("chiama", rf"\b[Cc]hiama(?:te)?mi NAME{_END}", language="italian", label="also known as"),
    _of("nome", rf"\b(?:[Oo] )?[Mm]eu nome é NAME{_END}", language="portuguese"),
    _of("chamo", rf"\b(?:[Ee]u )?[Mm]e chamo NAME{_END}", language="portuguese"),
)
# A text without one of these words introduces nobody; it is not read further.
_CUE: Final = re.compile(
    r"\b[Nn]ame|\b[Nn]om(?:bre|e)?\b|\bnaam\b|\bprénom\b|I['’]?m\b|\bI am\b|\bI was\b|\bI go by\b|\bme\b"
    r"|\bmich\b|-moi\b|\b[Mm]oi\b"
    r"|\b[Ii]t['’]s\b|\b[Ii]t is\b|\b[Tt]his is\b|\b(?:here|heiße|heisse|bin|[Hh]ier|[Ii]ci|[Ss]oy|[Aa]quí"
    r"|[Hh]abla|heet|suis)\b"
    r"|m['’]appelle|\b(?:[Mm]e|[Mm]i) (?:llamo|chiamo|chamo)\b|l[áa]m(?:a|en|e)me\b|amemi\b|\b[Ss]ign\b"
)
_GREETING: Final = re.compile(
    r"[\s\"“*>-]{0,4}(?:(?:[Hh]i|[Hh]ello|[Hh]ey|[Hh]iya|[Yy]o|[Gg]ood (?:morning|evening|afternoon|day)"
    r"|[Gg]reetings|[Hh]allo"
    r"|[Bb]onjour|[Ss]alut|[Hh]ola|[Cc]iao|[Oo]l[áa]|[Gg]uten (?:Tag|Morgen|Abend)|[Oo]h|[Ss]o|[Ww]ell"
    r"|[Oo]kay|[Oo]k|[Yy]es"
    r"|[Nn]ice to meet you|[Tt]hanks|[Bb]y the way|[Bb][Tt][Ww])(?: (?:there|all|everyone|everybody|again"
    r"|team|folks))?[,!. —–-]{0,3}"
    r" ?){0,2}(?:and |my friend, )?"
)
_DOUBTED: Final = re.compile(
    r"(?i:\b(?:if|whether|unless|not|never|pretend\w*|imagine|suppose|said|says|say|told|tell|tells|thinks?"
    r"|thought|wish"
    r"|asked|asks|joke|character|role|would|might|could be|dream\w*|why|who|when|that|as though|she|he|they"
    r"|his|her)\b)|n['’]t\b"
)
_NO_NAME: Final = (
    COMMON
    | DEMONYMS
    | CALENDAR
    | HONORIFICS
    | COMPUTING
    | PLACES
    | ORGANISATIONS
    | frozenset().union(*GENERIC_LANGUAGES.values())
    | word_set("""
        adhd agnostic anonymous anon aquarius aries asexual atheist autistic batman beginner bi bisexual
        bored buddhist busy cancer capricorn catholic celiac christmas coeliac conservative crazy
        curious cynical deaf democrat developer diabetic dutch dyslexic easter engineer exhausted gay
        gemini gluten hindu hungry infp introvert intj jewish lazy leo lesbian liberal libertarian libra
        lost lutheran maybe mom mormon mother mum muslim nervous newbie nobody noob nonbinary obsessed
        old paranoid picky pisces pregnant protestant quaker queer ready republican sagittarius santa
        scorpio sick sikh silly sorry starving stupid superman taurus thirsty tired tory trans uber
        vegan vegetarian virgo worried xmas diwali halloween hanukkah ramadan thanksgiving
        spanish-speaking later back lehrer lehrerin student studentin arzt ärztin müde krank vegetarier
        veganer deutscher deutsche
    """)
) - FIRST_NAMES | word_set("christian may april june summer autumn")
_ENDINGS: Final = re.compile(r"(?:ing|ed|ist|ish|ese|ness|ful|less|able|ous|ly|tion|arian|phobic|lover|fan)$")
_MOST = 3


def introductions(text: str, start: int = 0) -> list[Introduction]:
    """Return the names that whoever tells a text gives himself.

    Args:
        text: A turn of a conversation, or a note.
        start: Where the text itself begins, in characters.
    """
    if _CUE.search(text, start) is None:
        return []
    found: dict[str, Introduction] = {}
    first = start + len(text[start:]) - len(text[start:].lstrip())
    material = said_end(text, start)
    for begin, end in sentence_spans(text, start):
        if begin >= material:
            break
        lower = text[begin:end].lower()
        if lower.rstrip(' \t"”’)').endswith("?"):
            continue
        for frame in _FRAMES:
            if not any(map(lower.__contains__, frame.cues)):
                continue
            for match in frame.pattern.finditer(text, begin, end):
                name = match["name"]
                if match.start() >= material or not _fits(frame, name):
                    continue
                if _is_doubtful(text, begin, match.start()):
                    continue
                if frame.shows and _SHOWN.match(text, match.end()):
                    continue
                if frame.opens and not _opens(text, first, begin, match.start()):
                    continue
                found.setdefault(
                    name,
                    Introduction(name, match.start("name"), match.end("name"), frame.label, frame.language),
                )
                if len(found) == _MOST:
                    return list(found.values())
    return list(found.values())


def _fits(frame: _Frame, name: str) -> bool:
    words = name.lower().split()
    if frame.known and words[0].split("-")[0] not in FIRST_NAMES:
        return False
    if name.lower() in PLACES | ORGANISATIONS and name.lower() not in FIRST_NAMES:
        return False
    if len(name) < 2 or (name.isupper() and len(name) > 3) or words[0] in _NO_NAME:
        return False
    return words[0] in FIRST_NAMES or not _ENDINGS.search(words[0])


def _is_doubtful(text: str, begin: int, place: int) -> bool:
    before = text[begin:place]
    return bool(_DOUBTED.search(before)) or sum(map(before.count, '"“”')) % 2 == 1


def _opens(text: str, first: int, begin: int, place: int) -> bool:
    """Return whether nothing but greetings stands before a place in a text."""
    return _GREETING.fullmatch(text, begin, place) is not None and (
        begin == first or _GREETING.fullmatch(text, first, place) is not None
    )
