"""How fast memories are read: regular expressions alone, bare spaCy, and ours with spaCy.

The rates are memories a second of process time on one thread, so that other work on the machine matters
little. Loading a model is not counted.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pgrecall_extract.base import Document
from pgrecall_extract.entities.spacy_names import DEFAULT_SPACY_MODEL, spacy_installed
from pgrecall_extract.extractor import Extractor, ExtractorOptions, Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

__all__ = ["ExtractionSpeed", "measure", "read_documents", "report"]

_ROUNDS = 3
_NOT_FOR_NAMES = ["tagger", "parser", "attribute_ruler", "lemmatizer", "senter"]


@dataclass(frozen=True, slots=True)
class ExtractionSpeed:
    """Memories a second of process time, the best of the rounds.

    Attributes:
        memories: How many were read.
        rules_rate: Everything but spaCy.
        bare_rate: `nlp.pipe` with nothing but the recogniser; None without spaCy.
        full_rate: Everything with spaCy; None without spaCy.
        ratio: full_rate / bare_rate; None without spaCy.
    """

    memories: int
    rules_rate: float
    bare_rate: float | None
    full_rate: float | None
    ratio: float | None


def read_documents(path: Path, limit: int | None = None) -> list[Document]:
    """Read documents from JSONL with a `content` a line, and any of `title` and `speaker`.

    Args:
        path: The file.
        limit: Only that many; None: all.
    """
    anchor = datetime(2024, 1, 1, tzinfo=UTC)
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for number, line in enumerate(lines) if limit is None or number < limit]
    return [
        Document(number, row["content"], row.get("title"), row.get("speaker"), anchor)
        for number, row in enumerate(rows)
    ]


def measure(
    documents: Sequence[Document], model: str = DEFAULT_SPACY_MODEL, rounds: int = _ROUNDS
) -> ExtractionSpeed:
    """Measure the rates on some documents.

    Args:
        documents: The memories.
        model: spaCy's model; a package or a folder.
        rounds: How often each way is run, in turns; the best counts.

    Raises:
        RuntimeError: A document could not be read.
    """
    ways: dict[str, Callable[[], object]] = {"rules": _reading(ExtractorOptions(spacy=False), documents)}
    if spacy_installed(model):
        ways["bare"] = _bare(model, [document.content for document in documents])
        ways["full"] = _reading(ExtractorOptions(spacy=True, spacy_model=model), documents)
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, run in ways.items():
            begin = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - begin)
    rates = {name: len(documents) / seconds for name, seconds in best.items()}
    bare, full = rates.get("bare"), rates.get("full")
    return ExtractionSpeed(
        memories=len(documents),
        rules_rate=rates["rules"],
        bare_rate=bare,
        full_rate=full,
        ratio=full / bare if full is not None and bare is not None else None,
    )


def report(speed: ExtractionSpeed) -> str:
    """Return the figures as lines to print."""
    lines = [f"{speed.memories} memories", f"rules alone: {speed.rules_rate:.0f} a second"]
    if speed.bare_rate is not None and speed.full_rate is not None and speed.ratio is not None:
        lines.append(f"bare nlp.pipe: {speed.bare_rate:.1f} a second")
        lines.append(f"everything with spaCy: {speed.full_rate:.1f} a second, {speed.ratio:.1%} of bare")
    return "\n".join(lines)


def _reading(options: ExtractorOptions, documents: Sequence[Document]) -> Callable[[], object]:
    extractor = Extractor(options)

    def run() -> None:
        if any(isinstance(outcome, Failure) for outcome in extractor.extract(documents)):
            raise RuntimeError("a document could not be read")

    return run


def _bare(model: str, texts: Sequence[str]) -> Callable[[], object]:
    import importlib
    from pathlib import Path

    import spacy

    nlp: Any = (
        spacy.load(Path(model), exclude=_NOT_FOR_NAMES)
        if Path(model).is_dir()
        else importlib.import_module(model).load(exclude=_NOT_FOR_NAMES)
    )
    return lambda: [document.ents for document in nlp.pipe(texts)]
