"""What a chat completion says, as JSON that PostgreSQL stores."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from .errors import AnswerUnusable

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["content_of"]


def content_of(choice: Mapping[str, Any]) -> object:
    """Take what the model says out of a choice.

    Args:
        choice: One of a chat completion.

    Raises:
        AnswerUnusable: It is cut off, a refusal, or no JSON.
    """
    message, reason = choice["message"], choice.get("finish_reason")
    content = message.get("content")
    if message.get("refusal") or reason == "content_filter":
        raise AnswerUnusable("the language model refuses")
    if reason == "length":
        raise AnswerUnusable("the language model's answer is cut off")
    if not isinstance(content, str):
        raise AnswerUnusable("the language model's answer is empty")
    try:
        return _storable(json.loads(_bare(content), parse_constant=_no_constant, parse_float=_finite))
    except (ValueError, RecursionError):
        raise AnswerUnusable("the language model's answer is not JSON") from None


def _storable(said: Any) -> Any:
    """Take out of all texts what PostgreSQL refuses in JSON: its log would quote the rest."""
    if isinstance(said, str):
        return said.replace("\x00", "").encode("utf-8", "replace").decode()
    if isinstance(said, list):
        return [_storable(one) for one in said]
    if isinstance(said, dict):
        return {_storable(key): _storable(one) for key, one in said.items()}
    return said


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("too large a number")
    return number


def _bare(content: str) -> str:
    """Take off what models put around JSON where no server holds them to it: thoughts and a fence."""
    if "</think>" in content:
        content = content.rpartition("</think>")[2]
    content = content.strip()
    if content.startswith("```") and content.endswith("```"):
        content = content[3:-3].removeprefix("json")
    return content


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no JSON")
