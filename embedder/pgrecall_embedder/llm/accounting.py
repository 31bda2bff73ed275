"""What the language model was asked and what that cost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeGuard

from pgrecall.errors import InvalidInput

__all__ = ["Meter", "Prices", "Usage"]

_MILLION = 1_000_000
_MOST_TOKENS = 10**9
"""Of one answer; more is no count. The sums of a day must fit a bigint of the database."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What a model costs, in any one currency.

    Attributes:
        prompt: For a million tokens read; None: unknown.
        completion: For a million tokens written; None: unknown.
    """

    prompt: float | None = None
    completion: float | None = None

    def __post_init__(self) -> None:
        for price in (self.prompt, self.completion):
            if price is not None and not (math.isfinite(price) and price >= 0):
                raise InvalidInput("a price must be a finite number of at least 0")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a client has used so far.

    Attributes:
        requests: Requests sent, those that were refused or tried again among them.
        prompt_tokens: Tokens read, as the server counts them.
        completion_tokens: Tokens written, as the server counts them.
        cost: Tokens times prices, an upper bound where the server gives a discount on what it has cached;
            None where a price is unknown.
        unreported: Answers that did not say how many tokens they took; they are in no other figure but
            `requests`.
    """

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    unreported: int = 0


class Meter:
    """Adds up.

    Args:
        prices: What tokens cost.
    """

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._requests = 0
        self._prompt = 0
        self._completion = 0
        self._unreported = 0

    def request(self) -> None:
        """Count a request."""
        self._requests += 1

    def answer(self, usage: object) -> None:
        """Count the tokens of an answer.

        Args:
            usage: Its "usage"; whatever is no such object counts as not reported.
        """
        counts = (
            (usage.get("prompt_tokens"), usage.get("completion_tokens"))
            if isinstance(usage, Mapping)
            else (None, None)
        )
        prompt, completion = counts
        if _is_count(prompt) and _is_count(completion):
            self._prompt += prompt
            self._completion += completion
        else:
            self._unreported += 1

    def read(self) -> Usage:
        """Return the sums."""
        cost = None
        if self._prices.prompt is not None and self._prices.completion is not None:
            # Of the sums, so that rounding does not add up.
            cost = (
                self._prompt * self._prices.prompt + self._completion * self._prices.completion
            ) / _MILLION
        return Usage(self._requests, self._prompt, self._completion, cost, self._unreported)


def _is_count(value: object) -> TypeGuard[int]:
    # `type` and not isinstance: true is no number of tokens.
    return type(value) is int and 0 <= value <= _MOST_TOKENS
