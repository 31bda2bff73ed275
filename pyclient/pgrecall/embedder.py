"""Lazy imports from the embedder: names of `pgrecall_embedder` and `pgrecall_extract`.

The embedder is a separate package with its own extras. This is the only module of pgrecall that imports it,
and only when a name is first used. If it is not installed, importing a name from this module raises
ModuleNotFoundError; callers turn that into an error that names the extra to install.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pgrecall_embedder.cli import run as run_daemon
    from pgrecall_embedder.jobs.curate.command import Decided, curate_by_model
    from pgrecall_embedder.jobs.extract import build
    from pgrecall_embedder.llm import (
        AnswerUnusable,
        LlmClient,
        LlmMisconfigured,
        LlmUnavailable,
    )
    from pgrecall_embedder.llm.prompts import data_block
    from pgrecall_embedder.providers import EmbeddingProvider, ModelSpec, load_provider
    from pgrecall_embedder.providers.errors import ProviderPaused
    from pgrecall_extract.entities.gazetteer import EntityRules, Gazetteer
    from pgrecall_extract.errors import InvalidRules

_SOURCES = {
    "AnswerUnusable": "pgrecall_embedder.llm:AnswerUnusable",
    "EmbeddingProvider": "pgrecall_embedder.providers:EmbeddingProvider",
    "EntityRules": "pgrecall_extract.entities.gazetteer:EntityRules",
    "Gazetteer": "pgrecall_extract.entities.gazetteer:Gazetteer",
    "InvalidRules": "pgrecall_extract.errors:InvalidRules",
    "LlmClient": "pgrecall_embedder.llm:LlmClient",
    "LlmMisconfigured": "pgrecall_embedder.llm:LlmMisconfigured",
    "LlmUnavailable": "pgrecall_embedder.llm:LlmUnavailable",
    "ModelSpec": "pgrecall_embedder.providers:ModelSpec",
    "ProviderPaused": "pgrecall_embedder.providers.errors:ProviderPaused",
    "Decided": "pgrecall_embedder.jobs.curate.command:Decided",
    "build": "pgrecall_embedder.jobs.extract.build",
    "curate_by_model": "pgrecall_embedder.jobs.curate.command:curate_by_model",
    "data_block": "pgrecall_embedder.llm.prompts:data_block",
    "load_provider": "pgrecall_embedder.providers:load_provider",
    "run_daemon": "pgrecall_embedder.cli:run",
}

__all__ = [
    "AnswerUnusable",
    "Decided",
    "EmbeddingProvider",
    "EntityRules",
    "Gazetteer",
    "InvalidRules",
    "LlmClient",
    "LlmMisconfigured",
    "LlmUnavailable",
    "ModelSpec",
    "ProviderPaused",
    "build",
    "curate_by_model",
    "data_block",
    "load_provider",
    "run_daemon",
]


def __getattr__(name: str) -> Any:
    if name not in _SOURCES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _SOURCES[name].partition(":")
    found = import_module(module)
    return getattr(found, attribute) if attribute else found
