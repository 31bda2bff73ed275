"""Sets coding agents up: their MCP server and hooks, written into their configuration and taken out again.

What is written where is data, a file in `adapters/` for each agent. An entry goes into the text of a file, so
that everything else in it stays as it is, comments too. What a file was before is kept, to be put back.
"""

from .adapter import AGENTS, Adapter, adapter
from .setup import Change, apply, planned_install, planned_uninstall

__all__ = ["AGENTS", "Adapter", "Change", "adapter", "apply", "planned_install", "planned_uninstall"]
