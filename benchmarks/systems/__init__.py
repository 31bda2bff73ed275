"""Retrieval systems by name."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from typing import TYPE_CHECKING

from benchmarks.systems.base import CannotRun, System
from benchmarks.systems.bm25_exhaustive import Bm25Exhaustive
from benchmarks.systems.bm25s_system import Bm25s
from benchmarks.systems.dense_exact import DenseExact
from benchmarks.systems.documents import PythonFused, Supabase, TsRank
from benchmarks.systems.langchain_system import LangChain
from benchmarks.systems.pgrecall_systems import DenseLeg, GraphLeg, LexicalLeg, Recall, UnknownSetting
from benchmarks.systems.sqlite_fts5 import SqliteFts5

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.quality.resources import Resources

__all__ = [
    "BUILTIN",
    "CannotRun",
    "System",
    "UnknownSetting",
    "UnknownSystem",
    "make",
    "resolve",
    "split_names",
]

BUILTIN: Mapping[str, type[System]] = {
    "recall": Recall,
    "lexical": LexicalLeg,
    "dense": DenseLeg,
    "graph": GraphLeg,
    "sqlite-fts5": SqliteFts5,
    "ts-rank": TsRank,
    "bm25s": Bm25s,
    "bm25-exhaustive": Bm25Exhaustive,
    "dense-exact": DenseExact,
    "python-fused": PythonFused,
    "supabase": Supabase,
    "langchain": LangChain,
}


class UnknownSystem(ValueError):  # noqa: N818
    """There is no system of that name."""


def split_names(text: str) -> list[str]:
    """Split `lexical,recall:rrf_k=10,graph_weight=0`: an OPTION=VALUE goes with the system before it."""
    names: list[str] = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        if "=" in part and ":" not in part.split("=")[0] and names:
            names[-1] += f",{part}"
        else:
            names.append(part)
    return list(dict.fromkeys(names))


def resolve(name: str) -> tuple[type[System], dict[str, str]]:
    """Find a system without making it.

    Args:
        name: A built-in name, `recall:OPTION=VALUE,…`, or `module:Class`.

    Returns:
        Its class, and the options that `recall` is to have.

    Raises:
        UnknownSystem: There is none of that name.
        UnknownSetting: An option is not written OPTION=VALUE.
    """
    head, colon, rest = name.partition(":")
    if head == "recall" and colon:
        return Recall, _options(rest)
    found = BUILTIN.get(name)
    if found is None and colon:
        found = _imported(head, rest)
    if found is None:
        raise UnknownSystem(
            f"there is no system {name!r}; there are: {', '.join(BUILTIN)}, recall:OPTION=VALUE,…, "
            "module:Class"
        )
    return found, {}


def make(name: str, resources: Resources) -> System:
    """Make a system of a name that `resolve` knows; a class that takes an argument gets the resources."""
    found, options = resolve(name)
    if options:
        return Recall(resources, options)
    factory: Callable[..., System] = found
    return factory(resources) if inspect.signature(factory).parameters else factory()


def _options(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    if any(not equals or not option.strip() for option, equals, _ in pairs):
        raise UnknownSetting(f"options are written OPTION=VALUE,…: {text!r}")
    return {option.strip(): value.strip() for option, _, value in pairs}


def _imported(module: str, name: str) -> type[System]:
    here = os.getcwd()  # noqa: PTH109 - sys.path holds strings
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise UnknownSystem(f"{module}:{name} cannot be loaded: {error}") from error
    if not (hasattr(found, "index") and hasattr(found, "retrieve")):
        raise UnknownSystem(f"{module}:{name} has no index and retrieve")
    return found  # type: ignore[no-any-return]
