"""Tokens of the shapes that services give out, made at run time: no file of the checkout holds one.

A prefix is joined to random characters when the benchmark runs, so the scanners of code hosts find nothing.
"""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

__all__ = ["TOKENS", "private_key", "token"]

_CLASSES = {
    "a": string.ascii_lowercase,
    "A": string.ascii_uppercase + string.digits,
    "n": string.ascii_letters + string.digits,
    "l": string.ascii_lowercase + string.digits,
    "L": string.ascii_letters,
    "h": "0123456789abcdef",
    "d": string.digits,
    "u": string.ascii_letters + string.digits + "_-",
    "b": string.ascii_letters + string.digits + "+/",
}
# Kind, then parts: a text as it is, or a class of characters and how many.
TOKENS: tuple[tuple[str, tuple[str | tuple[str, int], ...]], ...] = (
    ("aws-access-key", ("AK", "IA", ("A", 16))),
    ("aws-access-key", ("AS", "IA", ("A", 16))),
    ("google-key", ("AI", "za", ("u", 35))),
    ("google-key", ("GOC", "SPX-", ("u", 28))),
    ("google-key", ("ya", "29.", ("u", 60))),
    ("digitalocean-token", ("dop", "_v1_", ("h", 64))),
    ("cloud-token", ("da", "pi", ("h", 32))),
    ("cloud-token", ("hv", "s.", ("u", 28))),
    ("cloud-token", (("n", 14), ".atlas", "v1.", ("u", 64))),
    ("cloud-token", ("dp.", "pt.", ("n", 43))),
    ("cloud-token", ("pul", "-", ("h", 40))),
    ("cloud-token", ("lin_", "api_", ("n", 40))),
    ("cloud-token", ("pscale_", "tkn_", ("u", 43))),
    ("cloud-token", ("tskey", "-auth-", ("n", 12), "-", ("n", 32))),
    ("azure-key", ("Account", "Key=", ("b", 86), "==")),
    ("azure-key", (("n", 3), "8Q", "~", ("n", 34))),
    ("github-token", ("gh", "p_", ("n", 36))),
    ("github-token", ("gh", "s_", ("n", 36))),
    ("github-token", ("github", "_pat_", ("n", 22), "_", ("n", 59))),
    ("gitlab-token", ("gl", "pat-", ("u", 20))),
    ("gitlab-token", ("gl", "rt-", ("u", 20))),
    ("atlassian-token", ("AT", "BB", ("n", 32))),
    ("atlassian-token", ("ATA", "TT3", ("u", 180))),
    ("npm-token", ("np", "m_", ("n", 36))),
    ("pypi-token", ("py", "pi-Ag", "EIcHlwaS5vcmc", ("u", 80))),
    ("package-token", ("ruby", "gems_", ("h", 48))),
    ("package-token", ("dckr", "_pat_", ("u", 27))),
    ("slack-token", ("xo", "xb-", ("d", 12), "-", ("d", 12), "-", ("n", 24))),
    ("slack-token", ("xa", "pp-1-A", ("A", 10), "-", ("d", 13), "-", ("h", 64))),
    ("chat-webhook", ("https://hooks.", "slack.com/services/T", ("A", 8), "/B", ("A", 8), "/", ("n", 24))),
    ("chat-webhook", ("https://dis", "cord.com/api/webhooks/", ("d", 18), "/", ("u", 68))),
    ("discord-token", ("M", ("n", 23), ".", ("n", 6), ".", ("u", 27))),
    ("telegram-token", (("d", 10), ":A", "A", ("u", 33))),
    ("jwt", ("ey", "J", ("u", 34), ".ey", "J", ("u", 60), ".", ("u", 43))),
    ("stripe-key", ("sk", "_live_", ("n", 24))),
    ("stripe-key", ("rk", "_test_", ("n", 24))),
    ("stripe-key", ("wh", "sec_", ("n", 32))),
    ("payment-key", ("sq0", "csp-", ("u", 43))),
    ("payment-key", ("rzp", "_live_", ("n", 14))),
    ("payment-key", ("shp", "at_", ("h", 32))),
    ("mail-key", ("S", "G.", ("u", 22), ".", ("u", 43))),
    ("mail-key", (("h", 32), "-u", "s14")),
    ("mail-key", ("xkey", "sib-", ("h", 64), "-", ("n", 16))),
    ("model-provider-key", ("sk", "-", ("n", 48))),
    ("model-provider-key", ("sk", "-proj-", ("u", 74))),
    ("model-provider-key", ("sk", "-ant-api03-", ("u", 93))),
    ("model-provider-key", ("h", "f_", ("L", 34))),
    ("model-provider-key", ("gs", "k_", ("n", 52))),
    ("model-provider-key", ("r", "8_", ("n", 37))),
    ("model-provider-key", ("xa", "i-", ("n", 80))),
    ("service-token", ("fig", "d_", ("u", 40))),
    ("service-token", ("gl", "sa_", ("n", 32), "_", ("h", 8))),
    ("service-token", ("PM", "AK-", ("h", 24), "-", ("h", 34))),
    ("service-token", ("nt", "n_", ("n", 46))),
    ("service-token", ("sb", "p_", ("h", 40))),
    ("service-token", ("NR", "AK-", ("A", 27))),
)


def token(parts: tuple[str | tuple[str, int], ...], random: Random) -> str:
    """Make a token; it begins and ends with a letter or a digit where it is random."""
    made = []
    for part in parts:
        if isinstance(part, str):
            made.append(part)
            continue
        characters, length = _CLASSES[part[0]], part[1]
        plain = "".join(one for one in characters if one.isalnum())
        inner = "".join(random.choices(characters, k=max(length - 2, 0)))
        made.append(random.choice(plain) + inner + (random.choice(plain) if length > 1 else ""))
    return "".join(made)


def private_key(kind: str, random: Random) -> str:
    """Make a block of a private key: its lines are random."""
    lines = ["".join(random.choices(_CLASSES["b"], k=64)) for _ in range(6)]
    name = f"{kind}PRIVATE" + " KEY"
    return "\n".join([f"-----BEGIN {name}-----", *lines, f"-----END {name}-----"])
