"""What must never become a name: keys, passwords, digests, identifiers made by machines, e-mail addresses."""

from __future__ import annotations

import re

__all__ = ["looks_secret", "secret_spans"]

_PREFIXED = re.compile(
    r"(?:sk|pk|rk)[-_](?:live|test|proj|ant)|sk-|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|AKIA|ASIA|AIza"
    r"|ya29\."
    r"|eyJ|hf_|npm_|pypi-|SG\.|shpat_|dop_v1_|-----BEGIN",
)
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)
_HEX = re.compile(r"(?:0x)?[0-9a-f]{7,}", re.IGNORECASE)
_TOKEN = re.compile(r"[^\s\"'“”‘’«»<>|`,;()\[\]{}=]+")
_LABELLED = re.compile(
    r"(?<![A-Za-z])(?:passwords?|passwd|passphrase|pwd|secret|token|api[ _-]?key|access[ _-]?key"
    r"|private[ _-]?key"
    r"|credentials?)\b"
    r"[\"'`]?[ \t]{0,3}(?:=>|[:=]|\b(?:is|was|to)\b)[ \t]{0,3}(?:bearer[ \t]{1,3})?[\"'`]?([^\s\"'`]{1,200})",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_USER_IN_URL = re.compile(r"://[^\s/@]{1,200}@")
_SHORTEST = 7
_PREFIXED_LENGTH = 12
_KEY_LENGTH = 20


def looks_secret(token: str) -> bool:
    """Return whether a token looks like a key, a digest or an id that a machine made.

    Args:
        token: A stretch of text without white space.
    """
    digits = sum(map(str.isdigit, token))
    if digits == 0:
        return False
    if _UUID.search(token) or (len(token) >= _PREFIXED_LENGTH and _PREFIXED.match(token)):
        return True
    if _HEX.fullmatch(token):
        return not token.isdigit()
    if len(token) < _KEY_LENGTH or "/" in token or "\\" in token or "." in token:
        return False
    longest = max(map(len, re.split(r"[-_]", token)))
    mixed = any(map(str.isupper, token)) and any(map(str.islower, token))
    return longest >= _KEY_LENGTH and (mixed or digits >= _KEY_LENGTH // 4)


def secret_spans(text: str) -> list[tuple[int, int]]:
    """Find the stretches that no name may touch, in the order of their begin.

    They are e-mail addresses, what stands after a word like "password", users in URLs, and tokens that look
    like keys or digests.

    Args:
        text: Any text. The work grows in proportion to its length.
    """
    spans = [match.span() for match in _ADDRESS.finditer(text)] if "@" in text else []
    spans += [match.span() for match in _USER_IN_URL.finditer(text)] if "@" in text else []
    spans += [match.span(1) for match in _LABELLED.finditer(text)]
    spans += [
        match.span()
        for match in _TOKEN.finditer(text)
        if len(match[0]) >= _SHORTEST and looks_secret(match[0])
    ]
    return sorted(spans)
