"""The one door to the embedder: what this package uses of `pgrecall_embedder`, imported at its first use.

The embedder is another package, with extras of its own. Nothing else here imports it, and nothing here needs
it to be imported. Where it is missing, the import of a name from this module raises ModuleNotFoundError;
callers turn that into an error that says which extra to install.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pgrecall_embedder.cli import run as run_daemon
    from pgrecall_embedder.enriching import building
    from pgrecall_embedder.enriching.curating.running import Said, curate_by_model
    from pgrecall_embedder.extraction.gazetteer import EntityRules, Gazetteer
    from pgrecall_embedder.extraction.llm import (
        AnswerUnusable,
        LlmClient,
        LlmMisconfigured,
        LlmUnavailable,
    )
    from pgrecall_embedder.extraction.llm.prompts import data_block
    from pgrecall_embedder.providers import EmbeddingProvider, ModelSpec, load_provider
    from pgrecall_embedder.providers.errors import ProviderPaused

_SOURCES = {
    "AnswerUnusable": "extraction.llm:AnswerUnusable",
    "EmbeddingProvider": "providers:EmbeddingProvider",
    "EntityRules": "extraction.gazetteer:EntityRules",
    "Gazetteer": "extraction.gazetteer:Gazetteer",
    "LlmClient": "extraction.llm:LlmClient",
    "LlmMisconfigured": "extraction.llm:LlmMisconfigured",
    "LlmUnavailable": "extraction.llm:LlmUnavailable",
    "ModelSpec": "providers:ModelSpec",
    "ProviderPaused": "providers.errors:ProviderPaused",
    "Said": "enriching.curating.running:Said",
    "building": "enriching.building",
    "curate_by_model": "enriching.curating.running:curate_by_model",
    "data_block": "extraction.llm.prompts:data_block",
    "load_provider": "providers:load_provider",
    "run_daemon": "cli:run",
}

__all__ = [
    "AnswerUnusable",
    "EmbeddingProvider",
    "EntityRules",
    "Gazetteer",
    "LlmClient",
    "LlmMisconfigured",
    "LlmUnavailable",
    "ModelSpec",
    "ProviderPaused",
    "Said",
    "building",
    "curate_by_model",
    "data_block",
    "load_provider",
    "run_daemon",
]


def __getattr__(name: str) -> Any:
    if name not in _SOURCES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, attribute = _SOURCES[name].partition(":")
    found = import_module(f"pgrecall_embedder.{module}")
    return getattr(found, attribute) if attribute else found
