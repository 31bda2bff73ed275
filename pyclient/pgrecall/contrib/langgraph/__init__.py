"""LangGraph's `BaseStore` over pgrecall (`pip install 'pgrecall[langgraph]'`).

Items become memories of one pgrecall namespace. LangGraph's namespaces are paths within it: filters, not a
boundary of security.
"""

from .store import AsyncPgrecallStore, PgrecallStore

__all__ = ["AsyncPgrecallStore", "PgrecallStore"]
