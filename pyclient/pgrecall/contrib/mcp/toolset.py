"""What the tools have in common: how they are called, what they may read, how they answer."""

import functools
import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from time import monotonic
from typing import Any, TypedDict

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import FuncMetadata
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel

from pgrecall._async.client import AsyncClient
from pgrecall.concurrency import in_time
from pgrecall.errors import ConnectionFailed, NotFound, PgrecallError, UnknownNamespace
from pgrecall.models import RecalledMemory, TimelineMemory, Validity
from pgrecall.query.embedding import Embed

from .error_texts import error_text
from .serving import Serving

__all__ = ["EMBED", "Toolset", "answer", "given_arguments"]


class _EmbedBy(TypedDict):
    embed: Embed
    embed_timeout: float


class _ReadNamespaces(TypedDict, total=False):
    namespace: str | None
    namespaces: Sequence[str]


EMBED: _EmbedBy = {"embed": "daemon", "embed_timeout": 2.0}
"""Questions are embedded by a daemon, if there is one: a model in this process would take seconds to load."""

_CALL_SECONDS = 60.0
_NOTHING = {"", "null", "None", "none"}

_log = logging.getLogger("pgrecall.mcp")


class Toolset:
    """Tools of one server.

    Args:
        client: The client they call; it stays open as long as the server lives.
        serving: What the server was started with.
    """

    def __init__(self, client: AsyncClient, serving: Serving) -> None:
        self._client = client
        self._serving = serving

    def _namespace(self, named: str | None) -> str | None:
        """Return the namespace that a call writes to.

        Raises:
            UnknownNamespace: It is none of those that are served.
        """
        served = self._serving.namespaces
        if not named:
            return served[0] if served else None
        if not self._serving.any_namespace and named not in served:
            raise UnknownNamespace(
                f"there is no namespace {named!r}", hint=f"Choose one of {', '.join(map(repr, served))}."
            )
        return named

    def _read(self, named: str | None) -> _ReadNamespaces:
        """Return the namespaces that a call reads, as arguments of the client."""
        served = self._serving.namespaces
        if not named and len(served) > 1:
            return {"namespaces": served}
        return {"namespace": self._namespace(named)}

    async def _validity(
        self, memories: Sequence[RecalledMemory | TimelineMemory], named: str | None
    ) -> dict[int, Validity]:
        """Return the validity of recalled memories by id."""
        held: dict[int, Validity] = {}
        for name in {memory.namespace_name for memory in memories}:
            ids = [memory.id for memory in memories if memory.namespace_name == name]
            held |= await self._client.validity(ids, namespace=name or self._namespace(named))
        return held

    async def _check(self, id: int) -> None:
        """Refuse a memory that the agent may not read, as one that is not there.

        Ids are the same for all namespaces; with `any_namespace` the agent may read them all.
        """
        for namespace in self._serving.namespaces or (None,):
            if await self._client.is_shown(
                id,
                namespace=namespace,
                any_namespace=self._serving.any_namespace,
                include_sensitive=self._serving.include_sensitive,
            ):
                return
        raise NotFound(f"there is no memory {id}")

    def _tool(
        self, method: Callable[..., Awaitable[CallToolResult]], title: str, annotations: ToolAnnotations
    ) -> Tool:
        """Make a tool of a method, without the argument that names a namespace unless that is allowed."""

        @functools.wraps(method)
        async def called(**arguments: Any) -> CallToolResult:
            began = monotonic()
            outcome = "cancelled"
            try:
                result = await in_time(_CALL_SECONDS, _awaited, method, arguments)
                outcome = "ok"
                return result
            except PgrecallError as error:
                outcome = type(error).__name__
                if isinstance(error, ConnectionFailed):
                    outcome = f"{outcome}: {' '.join(error.message.split())}"
                raise ToolError(error_text(error)) from None
            except Exception as error:
                outcome = type(error).__name__
                raise
            finally:
                _log.info("%s: %s, %.0f ms", method.__name__, outcome, (monotonic() - began) * 1000)

        signature = inspect.signature(method)
        parameters = [
            parameter
            for name, parameter in signature.parameters.items()
            if name != "namespace" or self._serving.lets_choose
        ]
        called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        tool = Tool.from_function(
            called,
            name=method.__name__,
            title=title,
            description=inspect.getdoc(method),
            annotations=annotations,
        )
        tool.fn_metadata = _Texts(**dict(tool.fn_metadata))
        # The SDK would ignore an argument that it does not know: see `MemoryServer.call_tool`.
        tool.parameters["additionalProperties"] = False
        for parameter in tool.parameters["properties"].values():
            _omit_null(parameter)
        return tool


class _Texts(FuncMetadata):
    """Arguments of a tool, where an optional text stays one.

    The SDK reads JSON in whatever may also be null: a title `["a"]` would be a list, and refused;
    a session `null` would be none, and its memories those of all.
    """

    def pre_parse_json(self, data: dict[str, Any]) -> dict[str, Any]:
        fields = self.arg_model.model_fields
        texts = {
            name: value
            for name, value in data.items()
            if name in fields and fields[name].annotation == (str | None) and isinstance(value, str)
        }
        return data | super().pre_parse_json({name: data[name] for name in data.keys() - texts}) | texts


def given_arguments(arguments: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call without the optional ones that say nothing.

    Agents fill in what they do not want to give: null for anything, an empty text for a time, a number or a
    choice.

    Args:
        arguments: The arguments by name.
        schema: The tool's schema.
    """
    required = schema.get("required", ())
    return {
        name: value
        for name, value in arguments.items()
        if name in required or not _says_nothing(value, schema["properties"][name])
    }


def _says_nothing(value: object, parameter: dict[str, Any]) -> bool:
    if value is None:
        return True
    takes_any_text = parameter.get("type") == "string" and not parameter.keys() & {"format", "enum"}
    return not takes_any_text and isinstance(value, str) and value.strip() in _NOTHING


def _omit_null(parameter: dict[str, Any]) -> None:
    """Say of an optional argument what it is when given: shorter, and some agents take no alternatives."""
    kinds = [kind for kind in parameter.pop("anyOf", ()) if kind != {"type": "null"}]
    if kinds:
        [kind] = kinds
        parameter |= kind
    if parameter.get("default", "") is None:
        del parameter["default"]


async def _awaited(
    method: Callable[..., Awaitable[CallToolResult]], arguments: dict[str, Any]
) -> CallToolResult:
    return await method(**arguments)


def answer(structured: BaseModel, text: str) -> CallToolResult:
    """Return what a tool answers."""
    return CallToolResult(
        content=[TextContent(type="text", text=text)], structured_content=structured.model_dump(mode="json")
    )
