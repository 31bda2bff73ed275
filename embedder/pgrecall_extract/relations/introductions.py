"""What a speaker says that he is called: "I'm Kofi", "Call me Wren", "Ilse here", "je m'appelle Odile".

Precision comes first. Frames that only a name fills take any capitalised word that is no common one. Frames
that much else fills ("I'm ...", "... here", "this is ...") take a known given name, or a word that nothing
speaks against where the frame opens the text.
"""

from __future__ import annotations

import re
from bisect import bisect
from dataclasses import dataclass
from typing import Final

from pgrecall_extract.entities.common_nouns import COMPUTING
from pgrecall_extract.entities.surnames import FIRST_NAMES
from pgrecall_extract.entities.world import ORGANISATIONS, PLACES
from pgrecall_extract.languages import GENERIC_LANGUAGES
from pgrecall_extract.sentences import sentence_spans
from pgrecall_extract.words import CALENDAR, COMMON, DEMONYMS, HONORIFICS, word_set

from .doubts import said_end
from .introduction_frames import FRAMES, Frame

__all__ = ["Introduction", "introductions"]


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


# "This is Max. He's so playful." shows somebody else.
_SHOWN: Final = re.compile(r"[\s.!,—–-]*(?i:he|she|it|they|his|her|my|our|their|the|an?|who|which|not|isn)\b")
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
    r"|his|her|если|что|якщо|що|jeśli|że|eğer|pokud|että|att|إذا|अगर)\b)|n['’]t\b"
    r"|如果|假如|假装|假裝|若是|もし|만약|만일"
)
_QUOTE: Final = re.compile('["“”]')
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
_ENDINGS: Final = re.compile(
    r"(?:ing|ed|ist|ish|ese|ness|ful|less|able|ous|ly|tion|arian|phobic|lover|(?<![er])fan)$"
)
_MOST = 3


def introductions(text: str, start: int = 0) -> list[Introduction]:
    """Return the names that whoever tells a text gives himself.

    Args:
        text: A turn of a conversation, or a note.
        start: Where the text itself begins, in characters.
    """
    # Most texts have no words of any frame; the others those of one or two.
    whole = text[start:].lower()
    frames = [frame for frame in FRAMES if any(map(whole.__contains__, frame.cues))]
    if not frames:
        return []
    found: dict[str, Introduction] = {}
    first = start + len(text[start:]) - len(text[start:].lstrip())
    material = said_end(text, start)
    for begin, end in sentence_spans(text, start):
        if begin >= material:
            break
        lower = text[begin:end].lower()
        present = [frame for frame in frames if any(map(lower.__contains__, frame.cues))]
        if not present:
            continue
        doubt = _DOUBTED.search(text, begin, end)
        doubted = end if doubt is None else doubt.end()
        quotes = [quote.start() for quote in _QUOTE.finditer(text, begin, end)]
        asks = lower.rstrip(' \t"”’)。').endswith(("?", "？", "か"))
        for frame in present:
            for match in frame.pattern.finditer(text, begin, end):
                name = match["name"]
                if name in found or match.start() >= material or not _fits(frame, name):
                    continue
                if doubted <= match.start() or bisect(quotes, match.start()) % 2 == 1:
                    continue
                # "My name is Odile, what's yours?" says it before it asks; "I'm Kofi, right?" does not.
                if asks and (
                    frame.known or frame.opens or text[match.end() : match.end() + 1] not in ",，、"
                ):
                    continue
                if frame.shows and _SHOWN.match(text, match.end()):
                    continue
                if frame.opens and not _opens(text, first, begin, match.start()):
                    continue
                found[name] = Introduction(
                    name, match.start("name"), match.end("name"), frame.label, frame.language
                )
                if len(found) == _MOST:
                    return list(found.values())
    return list(found.values())


def _fits(frame: Frame, name: str) -> bool:
    words = name.lower().split()
    if frame.known and words[0].split("-")[0] not in FIRST_NAMES:
        return False
    if name.lower() in PLACES | ORGANISATIONS and name.lower() not in FIRST_NAMES:
        return False
    if len(name) < 2 or (name.isupper() and len(name) > 3) or words[0] in _NO_NAME:
        return False
    return words[0] in FIRST_NAMES or not _ENDINGS.search(words[0])


def _opens(text: str, first: int, begin: int, place: int) -> bool:
    """Return whether nothing but greetings stands before a place in a text."""
    return _GREETING.fullmatch(text, begin, place) is not None and (
        begin == first or _GREETING.fullmatch(text, first, place) is not None
    )
