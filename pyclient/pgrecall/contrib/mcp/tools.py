"""The tools: each a call of the client, and what it returned as structured content and as text."""

from mcp.server.mcpserver.tools import Tool

from pgrecall._async.client import AsyncClient

from .reading import ReadingTools
from .serving import Serving
from .writing import WritingTools

__all__ = ["memory_tools"]


def memory_tools(client: AsyncClient, serving: Serving) -> list[Tool]:
    """Return the tools of a server.

    Args:
        client: The client they call; it stays open as long as the server lives.
        serving: What the server was started with.
    """
    reading = ReadingTools(client, serving).all()
    return reading if serving.read_only else [*reading, *WritingTools(client, serving).all()]
