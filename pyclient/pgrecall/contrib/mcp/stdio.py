"""Standard input: a request that the SDK cannot read is repaired or refused: no agent waits for ever."""

from __future__ import annotations

import json
from math import inf
from typing import TYPE_CHECKING, Any

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter
from pydantic import ValidationError

if TYPE_CHECKING:
    from contextvars import Context

__all__ = ["Requests"]

_DIGITS = 100


class Requests:
    """The stream of what an agent sends, in place of the SDK's, which drops what it cannot read.

    A program that cuts a text after so many UTF-16 units, as JavaScript does, sends half an emoji: that is
    JSON, but no text. The half becomes a replacement character. Of what else is unreadable, such as arguments
    nested a thousand levels deep, the agent is told.

    Args:
        read: The SDK's stream of messages, or errors in place of them.
        write: Where answers go.
    """

    def __init__(self, read: Any, write: Any) -> None:
        self._read = read
        self._write = write

    @property
    def last_context(self) -> Context | None:
        """The context that the last message was sent in."""
        found: Context | None = self._read.last_context
        return found

    async def receive(self) -> Any:
        """Return the next message.

        Raises:
            anyio.EndOfStream: There is none.
        """
        while isinstance(item := await self._read.receive(), ValidationError):
            error = item.errors()[0]
            whole = _whole(error["input"]) if error["type"] == "json_invalid" else None
            if whole is None:
                return item
            try:
                return SessionMessage(jsonrpc_message_adapter.validate_json(whole[1], by_name=False))
            except ValidationError:
                if whole[0] is None:
                    return item
            refusal = ErrorData(code=PARSE_ERROR, message="the request cannot be read")
            await self._write.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=whole[0], error=refusal)))
        return item

    async def aclose(self) -> None:
        """Close the stream."""
        await self._read.aclose()

    def __aiter__(self) -> Requests:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Requests:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _whole(line: str) -> tuple[str | int | None, str] | None:
    """Return the id of a request, and its line without halves of surrogate pairs; None if it is no JSON."""
    try:
        # What is too long for a number is none for JSON either, once it is written again.
        message = json.loads(line, parse_int=lambda digits: int(digits) if len(digits) < _DIGITS else inf)
        text = json.dumps(message, ensure_ascii=False)
    except (ValueError, RecursionError):
        return None
    id = message.get("id") if isinstance(message, dict) and "method" in message else None
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    is_id = type(id) is int or (isinstance(id, str) and id.isascii())
    return id if is_id else None, whole
