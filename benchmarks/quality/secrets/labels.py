"""The labelled texts: what holds a secret, of which kind, and what only looks like it. All are ours."""

from __future__ import annotations

import base64
import uuid
from dataclasses import dataclass
from random import Random

from .mistaken import HARMLESS_HELD_OUT, HARMLESS_SEEN, SECRETS_HELD_OUT, SECRETS_SEEN
from .phrases import CODE, PASSWORDS, PROSE, URLS
from .tokens import TOKENS, private_key, token

__all__ = ["Label", "labels"]

_AROUND = (
    "The deploy failed until I set {} in the environment.",
    "export SERVICE_CREDENTIAL={}\nmake deploy",
    'client = Client("{}")',
    "Ana pasted this into the chat: {} and asked whether it still works.",
)
_KEY_KINDS = ("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ")


@dataclass(frozen=True, slots=True)
class Label:
    """A text with its label.

    Attributes:
        text: The text.
        kind: Of its secret; None: it has none.
        secret: The secret itself; empty if there is none.
        is_held_out: Whether the rules were made without its mistakes. Texts of one shape stay together.
    """

    text: str
    kind: str | None
    secret: str
    is_held_out: bool


def labels(seed: int) -> list[Label]:
    """Return the labelled texts: the same ones for the same seed.

    Args:
        seed: Of the characters of the tokens.
    """
    random = Random(seed)  # noqa: S311 - the same tokens in every run
    made: list[Label] = []
    for number, (kind, parts) in enumerate(TOKENS):
        for turn in range(2):
            secret = token(parts, random)
            # What a scan has to remove: after AccountKey= and the address of a webhook comes the secret.
            shown = secret.removeprefix("Account" + "Key=")
            text = _AROUND[(number + turn) % len(_AROUND)].format(secret)
            made.append(Label(text, kind, shown[-16:], number % 2 == 1))
    for number, kind_of_key in enumerate(_KEY_KINDS):
        for around in ("{}", "The key of the old server:\n{}\nPlease rotate it."):
            secret = private_key(kind_of_key, random)
            made.append(Label(around.format(secret), "private-key", secret.split("\n")[2], number % 2 == 1))
    for number, text in enumerate(URLS):
        secret = token((("n", 12),), random)
        made.append(Label(text.format(secret), "password-in-url", secret, number % 2 == 1))
    for number, text in enumerate(PASSWORDS):
        chosen = (_password(random), _password(random))
        made += [Label(text.format(secret), "password", secret, number % 2 == 1) for secret in chosen]
    harmless = enumerate((*PROSE, *CODE, *_identifiers(random)))
    made += [Label(text, None, "", number % 2 == 1) for number, text in harmless]
    return made + _mistaken()


def _mistaken() -> list[Label]:
    """Return texts of kinds that the rules once got wrong. They come last: the others stay as they were."""
    made = []
    for is_held_out, secrets, harmless in (
        (False, SECRETS_SEEN, HARMLESS_SEEN),
        (True, SECRETS_HELD_OUT, HARMLESS_HELD_OUT),
    ):
        for phrase, values in secrets:
            made += [Label(phrase.replace("{}", value), "password", value, is_held_out) for value in values]
        made += [Label(text, None, "", is_held_out) for text in harmless]
    return made


def _password(random: Random) -> str:
    """Make a password as people choose them: a word, digits, often a sign."""
    word = random.choice(("Sommer", "tiger", "Barcelona", "wifi", "Kaffee", "monkey", "letmein", "Blume"))
    return f"{word}{random.randrange(10, 9999)}{random.choice(('', '!', '#', '%'))}"


def _identifiers(random: Random) -> list[str]:
    """Make ids, hashes and data: long and random, and no secret."""
    made = []
    for number in range(14):
        digest = "".join(random.choices("0123456789abcdef", k=(40, 64, 32, 7)[number % 4]))
        data = base64.b64encode(random.randbytes(90)).decode()
        made += [
            f"Fixed in commit {digest}, please check.",
            f"request_id={uuid.UUID(int=random.getrandbits(128))} took {random.randrange(900)} ms",
            f"data:image/png;base64,{data}",
            f"sha256:{''.join(random.choices('0123456789abcdef', k=64))} is the digest of the image.",
            f"Order {random.randrange(10**11)} was shipped, tracking {random.randrange(10**17)}.",
            f"Call me at +49 30 {random.randrange(10**6, 10**8)} or write to team{number}@example.org.",
            f"session: {uuid.UUID(int=random.getrandbits(128))}",
            f'"integrity": "sha512-{base64.b64encode(random.randbytes(64)).decode()}"',
            f"https://example.org/a/{uuid.UUID(int=random.getrandbits(128))}/edit?page={number}#comments",
            f"/home/ana/.cache/models/{digest}/snapshot-{number}.bin",
        ]
    return made
