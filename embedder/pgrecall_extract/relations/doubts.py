"""What keeps a sentence from stating what its words say: doubts, hearsay, fiction, texts of somebody else.

The lists are English. A fact too few is cheap, and a false one is not: what may be doubt counts as doubt.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pgrecall_extract.sentences import sentence_spans

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pgrecall_extract.base import Mention

__all__ = ["DENIED", "ENDING_DOUBTS", "is_hedged", "said_end"]

# As a phrase of its own: who is "known for her role in the film X" is so outside it.
_FICTION: Final = (
    r"in (?:the|an?|my|our|his|her|their|that|this|some|one) (?:\w+ )?(?:novel|film|movie|episode|story"
    r"|game|play|series|show|book|dream|nightmare|scenario|example|simulation|role-?play|rpg|sketch|song"
    r"|sitcom)(?=\s*(?:$|[.,;:!?)\n]| last night))"
)
# What makes a statement doubtful, and that something has ended as well.
_DOUBTS: Final = (
    r"if|unless|whether|would|might|could|should|perhaps|maybe|possibly|probably|allegedly|apparently"
    r"|reportedly|supposed|supposedly|rumou?red|claims?|claimed|wish|wishes|hopes?|hoping|almost|nearly"
    r"|pretend\w*|imagine|fictional|fake|according to|planned|plans to|neither|nor|as far as i know|afaik"
    r"|to my knowledge|jok(?:e|ing)|kidding|(?:from|starting|beginning|as of) (?:next|tomorrow)|so-called"
    r"|erroneously|incorrectly|wrongly|falsely"
)
_HEDGES: Final = re.compile(
    rf"(?i:\b(?:(?:{_DOUBTS}|not|never|no longer|cannot|nobody|used to|dreams? of|dreamed|ex|without)\b"
    rf"|{_FICTION}))|\bmay\b|n['’`]t\b|\?"
)
_SAYS: Final = (
    r"(?:think|believe|guess|suppose|assume|reckon|suspect|hear|claim|insist|say|tell)s?"
    r"|thought|believed|guessed|supposed|assumed|heard|said|told (?:me|us)|insisted|wrote|writes"
)
_WHO: Final = (
    r"(?:I|you|we|he|she|they|people|(?:my|his|her|their|our|the) \w+|[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)?)"
)
_STOP: Final = r"(?=\s*(?:$|[.,;:!)\n]))"
# "..., he says", "..., says Anna", "... is a lie".
_HEARSAY: Final = re.compile(
    rf"[,;—–-]\s*(?:or )?(?:so )?(?:at least )?(?:that['’]s what )?{_WHO} (?:{_SAYS}){_STOP}"
    rf"|(?:[,;—–-]|[\"”'’])[\"”'’]?\s+(?:says|said|claims|claimed|thinks|writes|wrote) {_WHO}{_STOP}"
    r"|(?:,? which)? (?:is|was) (?:just |simply |totally |completely |an? |all |pure )*(?:lie|wrong|false"
    rf"|untrue|nonsense|myth|rumou?r|fiction|incorrect|outdated|made up){_STOP}"
    r"|,? (?:lol|haha),? no\b"
)
# "I work at Globex, not Initech" is no denial of the first.
_CONTRAST: Final = re.compile(
    r",? (?:and )?not (?:(?:at|in|for|with|to|from|on) )?(?:the )?[A-Z][\w&'’-]*(?: [A-Z][\w&'’-]*){0,2}"
    rf"{_STOP}"
)
_RETRACTED: Final = re.compile(
    r"\s*(?i:just kidding|kidding|just joking|joking|jk|scratch that|no,? wait|wait,? no|correction|oops"
    r"|i mean|i meant|sorry,? i mean\w*|april fools?|not|or not|that['’]s (?:a lie|not true|wrong|false))\b"
    r"(?! (?:that|to|only|far|sure|bad|much)\b)"
)
ENDING_DOUBTS: Final = re.compile(
    rf"(?i:\b(?:(?:{_DOUBTS}|seems?|suppose|rumou?rs?|dream\w*|imagin\w*|plans|thinks?|thought|guess"
    r"|believes?|suspects?|afraid|or so|they say|i hear"
    r"|going to|gonna|rehired|reinstated|(?:took|taken|hired|got) (?:him|her|them|it) back|withdr[ea]w it"
    r"|withdr[ea]w (?:his|her|their) (?:notice|resignation)|changed (?:his|her|their) mind"
    r"|for (?:now|lent|ramadan|advent|(?:the|an?) (?:\w+ )?(?:day|week|weekend|month|while|bit)))\b"
    rf"|{_FICTION}))|\bmay\b|\?"
)
"""What makes an ended relationship doubtful."""

DENIED: Final = re.compile(r"(?i:\b(?:not|never|no|cannot|will|won|wants?|wanted|without|ex)\b)|n['’`]t\b")
"""What denies that something has ended."""

# What follows is a text to work on, or somebody else's: "Translate into French:", "Bob wrote:".
_TEXT: Final = (
    r"(?:e-?mails?|mail|messages?|letter|texts?|post|comment|tweet|review|quote|sentences?|paragraph"
    r"|passage|lyrics|poem|stor(?:y|ies)|character|bio|biography|persona|dialog(?:ue)?|scene|script|speech"
    r"|resume|cv|essay|article|abstract|draft|prompt|example|template|testimonial)"
)
_SOMEBODYS: Final = (
    r"(?:e-?mail|message|letter|text|post|comment|tweet|review|quote|lyrics|poem|story|character|dialogue"
    r"|scene|script|speech|essay|article|prompt|example|template|persona|testimonial|sentence|paragraph"
    r"|passage)"
)
_MATERIAL: Final = re.compile(
    r"(?i:[\"“'*-]{0,2}(?:(?:hi|hey|hello|ok(?:ay)?|so|now|thanks|great)[^.!?\n]{0,12}[,.!] ?)?"
    r"(?:please,? |kindly )?(?:(?:can|could|would|will) you (?:please )?|i (?:want|need) you to "
    r"|i['’]d like you to |help me (?:to )?|let['’]s )?"
    r"(?:translate|proofread|rewrite|re-?phrase|paraphrase|summari[sz]e|pretend|imagine|role-?play|act as"
    r"|play the (?:part|role)|suppose|assume|say that|write as"
    r"|(?:correct|fix|edit|improve|polish|shorten|review|check|analy[sz]e|explain|continue|complete|answer"
    rf"|reply to) (?:[\w'’-]+ ){{0,6}}{_TEXT}"
    r"|(?:correct|fix|check|improve) (?:the |my )?(?:grammar|spelling|english|punctuation|this|following)"
    r"|(?:write|draft|compose|make up|invent|create|generate|tell me) (?:[\w'’-]+ ){0,6}"
    rf"{_TEXT})\b)"
    # A line that ends in a colon and names a text, or who said something.
    rf"|[^\n]*(?i:\b(?:{_SOMEBODYS}|wrote|writes|said|says|told me|sent me|replied|answered|posted))\b"
    r"[^.!?\n]{0,40}:\s*$"
)


def is_hedged(text: str, begin: int, end: int, names: Iterable[Mention]) -> bool:
    """Return whether a sentence is doubtful, hearsay or taken back; a name ("Hope Brown") is no doubt.

    Args:
        text: The text.
        begin: Where the sentence begins.
        end: Where it ends.
        names: The names in it.
    """
    spans = [(name.start, name.end) for name in names if name.start is not None and name.end is not None]
    spans += [found.span() for found in _CONTRAST.finditer(text, begin, end)]
    return (
        any(
            not any(start <= word.start() < stop for start, stop in spans)
            for word in _HEDGES.finditer(text, begin, end)
        )
        or _HEARSAY.search(text, begin, end) is not None
        or _RETRACTED.match(text, end) is not None
    )


def said_end(text: str, start: int = 0) -> int:
    """Return where what the speaker says himself ends, and a text to work on or of somebody else begins.

    Args:
        text: The text.
        start: Where the text itself begins, in characters.
    """
    for begin, end in sentence_spans(text, start):
        if text[begin] == ">":
            return begin
        given = _MATERIAL.match(text[begin:end])
        if given is not None:
            return begin + given.end()
    return len(text)
