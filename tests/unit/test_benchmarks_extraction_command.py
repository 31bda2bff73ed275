"""The command over the labelled sets, with a reader in the extraction's place whose answers are known."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.cli import main
from benchmarks.quality.extraction.command import SYNTHETIC, measure_speed
from benchmarks.quality.extraction.labels import LabelledText, halves, load_entities, load_times
from benchmarks.quality.extraction.run import SYSTEMS, extracted_names
from benchmarks.quality.resources import Unavailable
from pgrecall_extract.base import Extraction, Mention, TemporalReference

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pgrecall_extract.base import Document


@dataclass(frozen=True)
class Rules:
    type: str
    keywords: tuple[str, ...]
    patterns: tuple[str, ...]


@dataclass(frozen=True)
class Switches:
    spacy: bool


class KeywordReader:
    """Finds speakers and configured words, and the anchor's year in every text; nothing else."""

    def __init__(self, switches: Switches) -> None:
        self.switches = switches

    def extract(
        self, documents: Sequence[Document], rules: Mapping[int, tuple[Rules, ...]]
    ) -> list[Extraction | None]:
        return [self._extract(document, rules.get(document.namespace_id, ())) for document in documents]

    def _extract(self, document: Document, rules: tuple[Rules, ...]) -> Extraction | None:
        if document.content == "unreadable":
            return None
        words = [(word, one.type) for one in rules for word in one.keywords if word in document.content] + [
            (document.speaker, "PERSON")
        ] * (document.speaker is not None)
        year = document.anchor.replace(month=1, day=1, hour=0, minute=0)
        return Extraction(
            document.memory_id,
            tuple(Mention(str(name), type, None, None, 1.0, "keyword") for name, type in words),
            (TemporalReference(0, 1, year, year.replace(year=year.year + 1), "year", 1.0, "pattern"),),
        )


@pytest.fixture
def keyword_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a reader in the extraction's place whose answers are known."""
    extractor: Any = ModuleType("extractor")
    extractor.Extractor, extractor.ExtractorOptions = KeywordReader, Switches
    gazetteer: Any = ModuleType("gazetteer")
    gazetteer.EntityRules = Rules
    monkeypatch.setitem(sys.modules, "pgrecall_extract.extractor", extractor)
    monkeypatch.setitem(sys.modules, "pgrecall_extract.entities.gazetteer", gazetteer)


@pytest.mark.usefixtures("keyword_reader")
def test_configured_words_are_those_of_the_text_alone() -> None:
    texts = [
        LabelledText("a", "work", "Kestrel and Lark", keywords={"PROJECT": ("Kestrel",), "ORG": ("Lark",)}),
        LabelledText("b", "work", "Kestrel and Lark", speaker="Bo"),
    ]
    assert extracted_names("patterns", texts) == [
        {("Kestrel", "PROJECT"), ("Lark", "ORG")},
        {("Bo", "PERSON")},
    ]


@pytest.mark.usefixtures("keyword_reader")
def test_a_text_that_cannot_be_read_stops_the_run() -> None:
    with pytest.raises(RuntimeError, match="at 1"):
        extracted_names("patterns", [LabelledText("a", "d", "good"), LabelledText("b", "d", "unreadable")])


@pytest.mark.usefixtures("keyword_reader")
def test_a_whole_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, timed = load_entities(), load_times()
    monkeypatch.setattr("benchmarks.quality.extraction.run.find_spec", lambda _: None)
    path = tmp_path / "extraction.json"
    assert main(["extraction", "--json", str(path)]) == 0
    result = json.loads(path.read_text(encoding="utf-8"))
    assert (result["kind"], result["format"], result["seed"]) == ("extraction", 1, 42)
    assert {"git", "machine", "packages", "measured_at"} <= set(result)
    assert result["labels"]["entities.jsonl"]["texts"] == 150
    patterns, with_spacy = SYSTEMS
    assert set(result["names"]) == {patterns}
    assert result["not_run"] == {with_spacy: "spaCy is not installed"}
    names = result["names"][patterns]["all"]
    speakers = sum(text.speaker is not None for text in texts)
    assert names["by_type"]["PERSON"]["found"] == speakers
    assert names["by_type"]["PERSON"]["right"] == speakers - 2  # the assistant and the user are no names
    assert names["by_type"]["PROJECT"]["right"] == names["by_type"]["PROJECT"]["found"] > 5
    assert names["empty_texts"]["with_something_found"] == 2
    assert result["times"]["all"]["overall"]["found"] == len(timed)
    # "this year", and nothing else, is the anchor's year.
    assert result["times"]["all"]["overall"]["right"] == 1
    half = result["times"]["reporting_half"]["overall"]
    assert half["found"] == len(timed) - len(timed) // 2
    assert "names by patterns" in capsys.readouterr().out

    assert main(["extraction", "--mistakes"]) == 0
    printed = capsys.readouterr().out
    tuning, reporting = halves([text.id for text in texts], 42)
    assert any(id in printed for id in tuning)
    assert not any(id in printed for id in reporting)


def test_without_the_extraction_nothing_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pgrecall_extract.extractor", None)
    assert main(["extraction"]) == 2
    assert "error: pgrecall_extract.extractor is not installed" in capsys.readouterr().err


# Speed


@pytest.mark.slow
def test_speed_is_measured_on_made_up_memories_or_on_a_file(tmp_path: Path) -> None:
    made_up = measure_speed(SYNTHETIC, 20, 42)
    assert made_up.memories == 20
    assert made_up.rules_rate > 0
    assert (made_up.ratio is None) == (made_up.bare_rate is None)

    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"content": "Ada met Ben."}\n{"content": "Ben left."}\n{"content": "So did Ada."}\n')
    assert measure_speed(corpus, 2, 42).memories == 2
    corpus.write_text('{"content": "Ada met Ben."\n')
    for unreadable in (corpus, tmp_path / "none.jsonl"):
        with pytest.raises(Unavailable, match="cannot be read") as error:
            measure_speed(unreadable, 2, 42)
        assert "Ada" not in str(error.value)
