"""Where the functions run whose arguments do not tell it, and which functions a router does not have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DECLARED", "EVERYWHERE", "NOT_ROUTED", "WRITTEN", "Kind", "Route"]

Kind = Literal[
    "namespace",
    "memory",
    "memories",
    "question",
    "found",
    "any",
    "union",
    "sum",
    "max",
    "each",
    "status",
    "written",
]


@dataclass(frozen=True, slots=True)
class Route:
    """Where a function runs.

    Attributes:
        kind: 'namespace', 'memory' and 'question' run on the shard that an argument tells; 'memories' on
            each shard that has some of them; 'found' on the first that knows the id; 'any' on the first that
            answers; the others on all: their rows one after the other, their sum, their highest value,
            nothing at all, one row of a status. 'written' ones have an outer function in router.sql.
        argument: The argument that tells, or that the order of the shards begins with.
    """

    kind: Kind
    argument: str | None = None


DECLARED: Mapping[str, Route] = {
    "pgrecall.create_namespace": Route("namespace", "name"),
    # The namespace is asked about, or used for something else than these memories.
    "pgrecall.is_shown": Route("memory", "id"),
    "public.get_memories": Route("memories", "ids"),
    # The id is no memory's, and goes with its namespace to another shard.
    "public.undo_curation": Route("found", "id"),
    # The id is no memory's.
    "pgrecall.get_query_embedding": Route("question", "id"),
    "pgrecall.wait_query_embedding": Route("question", "id"),
    # Each shard knows the answer.
    "public.recall_embed": Route("any", "query"),
    "public.parse_timeframe": Route("any"),
    "pgrecall.contract": Route("any"),
    "pgrecall.question_part": Route("any"),
    "pgrecall.request_query_embedding": Route("any", "query"),
    "pgrecall.active_model": Route("any"),
    "pgrecall.embedding_dimension": Route("any"),
    "pgrecall.function_schema": Route("any"),
    "pgrecall.settings_list": Route("any"),
    # The answer is that of all shards.
    "public.recall_status": Route("status"),
    "pgrecall.worker_status": Route("union"),
    "pgrecall.index_status": Route("union"),
    "pgrecall.generation_progress": Route("union"),
    "pgrecall.failures": Route("union"),
    "pgrecall.health": Route("union"),
    "pgrecall.list_namespaces": Route("union"),
    "pgrecall.list_retention": Route("union"),
    "pgrecall.list_secrets": Route("union"),
    "pgrecall.retry_failures": Route("sum"),
    "pgrecall.last_memory_id": Route("max"),
    "pgrecall.analyze": Route("each"),
    "public.remember_many": Route("written"),
    "pgrecall.set_setting": Route("written"),
    "pgrecall_shard.recall_all": Route("written"),
}
"""The routes that the arguments of a function do not tell; `routing.route_of` derives the others."""

EVERYWHERE = {"pgrecall.list_learned", "pgrecall.reextract", "pgrecall.set_entity_rules"}
"""Functions of a namespace for which NULL means all namespaces; of others it means the session's own."""

_OWN = "the router has one of its own, in router.sql"
_MODELS = "each shard has its models and generations: activate_model() and `pgrecall reembed` work on a shard"
_CONCEPTS = (
    "`pgrecall graph` works on a shard: the id of a concept does not tell where its namespace has moved"
)
_LINES = "a line names its namespace, so that one call may be for several shards: import on a shard"
_EXPORT = "`pgrecall export` works on a shard, as does the import of what it writes"
_NAME = "its hash may be another shard's: rename on the shard, then run `pgrecall shard init`"
_SHARD = "it tells what an administrator does on the server of a shard"

NOT_ROUTED: Mapping[str, str] = {
    "pgrecall.bundle_hash": _OWN,
    "pgrecall.namespace_name": _OWN,
    "pgrecall.activate_model": _MODELS,
    "pgrecall.add_generation": _MODELS,
    "pgrecall.drop_generation": _MODELS,
    "pgrecall.switch_generation": _MODELS,
    "pgrecall.dense_overlap": _MODELS,
    "pgrecall.sample_texts": _MODELS,
    "pgrecall.judged_change": _MODELS,
    "pgrecall.embed_judged": _MODELS,
    "pgrecall.unembedded_judged": _MODELS,
    "pgrecall.sends_notifications": _MODELS,
    "pgrecall.show_concept": _CONCEPTS,
    "pgrecall.concept_neighbours": _CONCEPTS,
    "pgrecall.memories_of_concept": _CONCEPTS,
    "pgrecall.merge_concepts": _CONCEPTS,
    "pgrecall.split_concept": _CONCEPTS,
    "pgrecall.import_memories": _LINES,
    "pgrecall.import_records": _LINES,
    "pgrecall.link_imported_memories": _LINES,
    "pgrecall.import_rows": _LINES,
    "pgrecall.preview_import_rows": _LINES,
    "pgrecall.export_memories": _EXPORT,
    "pgrecall.export_records": _EXPORT,
    "pgrecall.rename_namespace": _NAME,
    "pgrecall.path_creators": _SHARD,
    "pgrecall.scrub_statements": _SHARD,
}
"""Functions that the client calls and a router does not have, with the reason."""

WRITTEN = [name for name, route in DECLARED.items() if route.kind == "written"]
"""Those whose outer function is in router.sql."""
