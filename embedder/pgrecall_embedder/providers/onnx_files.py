"""The files of an ONNX model: where they are, and what they say about its use.

The layout is that of sentence-transformers: `modules.json` names what follows the transformer, the graph is
`onnx/model.onnx` or `model.onnx`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

from pgrecall.errors import EmbeddingUnavailable
from pgrecall.query.embedding_models import checked_name, names_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["GRAPH", "ModelFiles", "Pooling", "exported_folder", "find", "read"]

Pooling = Literal["cls", "mean"]

GRAPH = Path("onnx/model.onnx")
_GRAPHS = (GRAPH, Path("model.onnx"))
# Large graphs have their weights in files beside them.
_WANTED = [*(f"{path}*" for path in _GRAPHS), "*.json"]
_TRANSFORMER, _POOLING, _NORMALIZE = "Transformer", "Pooling", "Normalize"
_LEGACY_POOLING = "pooling_mode_"
_LEGACY_NAMES: Mapping[str, Pooling] = {"cls_token": "cls", "mean_tokens": "mean"}
# What a tokenizer without a limit of its own is given; its files then say 10 to the power of 30.
_NO_LIMIT = 1_000_000
_DEFAULT_LONGEST = 512


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model on disk.

    Attributes:
        graph: The transformer.
        tokenizer: The tokenizer of the tokenizers library.
        longest: How many tokens of a text are read, those around it included.
        padding_id: The token that fills up shorter texts.
        lowercase: True if the text is put into lower case first, whatever the tokenizer does.
        pooling: How the vectors of the tokens become one.
        pools_prompt: False if the prompt's tokens do not count in that.
    """

    graph: Path
    tokenizer: Path
    longest: int
    padding_id: int
    lowercase: bool
    pooling: Pooling
    pools_prompt: bool


def exported_folder(model: str, *, int8: bool = False) -> Path:
    """Return where an exported model is kept unless a folder is given: below the user's cache.

    Args:
        model: Its name, or the folder it was exported from.
        int8: True if its weights are quantised.
    """
    import platformdirs

    name = model.strip("/").replace("/", "--")
    cache = platformdirs.user_cache_path("pgrecall", appauthor=False)
    return cache / "onnx" / (f"{name}-int8" if int8 else name)


def find(model: str) -> Path:
    """Return the folder of a model.

    Args:
        model: The path of a folder, the name of an exported model, or one of the hub, whose files are then
            downloaded.

    Raises:
        EmbeddingUnavailable: There is no such folder, and the hub does not give the files.
    """
    for folder in (*([Path(model)] if names_folder(model) else []), exported_folder(model)):
        if folder.is_dir():
            return folder
    checked_name(model)  # a relative path is taken for a name: say so
    unavailable = EmbeddingUnavailable(
        f"model {model} cannot be loaded",
        hint="Check its name, the network, and whether HF_HUB_OFFLINE is set; or export it with "
        "`python -m pgrecall_embedder.export_onnx MODEL`.",
    )
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.utils.tqdm import disable_progress_bars
    except ImportError as error:
        raise unavailable from error
    disable_progress_bars()
    try:
        return Path(snapshot_download(model, allow_patterns=_WANTED))
    except (OSError, ValueError, RuntimeError) as error:
        raise unavailable from error


def read(folder: Path, model: str) -> ModelFiles:
    """Read what the files of a model say.

    Args:
        folder: Where they are.
        model: Its name, for errors.

    Raises:
        EmbeddingUnavailable: A file is missing or cannot be read, or the model needs what is not done here.
    """
    graph = next((folder / path for path in _GRAPHS if (folder / path).is_file()), None)
    tokenizer = folder / "tokenizer.json"
    if graph is None or not tokenizer.is_file():
        raise _unusable(model, f"has no {GRAPH if graph is None else tokenizer.name}")
    try:
        modules = _modules(folder, model)
        transformer = folder / modules[_TRANSFORMER]
        config = _json(folder / "config.json")
        sentence = _json(transformer / "sentence_bert_config.json")
        limits = [
            sentence.get("max_seq_length"),
            _json(folder / "tokenizer_config.json").get("model_max_length"),
            config.get("max_position_embeddings"),
        ]
        pooling = _json(folder / modules[_POOLING] / "config.json") if _POOLING in modules else {}
        return ModelFiles(
            graph=graph,
            tokenizer=tokenizer,
            longest=min(filter(_is_limit, limits), default=_DEFAULT_LONGEST),
            padding_id=int(config.get("pad_token_id") or 0),
            lowercase=bool(sentence.get("do_lower_case", False)),
            pooling=_pooling(pooling, model),
            pools_prompt=bool(pooling.get("include_prompt", True)),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise _unusable(model, "has settings that cannot be read") from error


def _modules(folder: Path, model: str) -> dict[str, str]:
    """Return the folder of each module by the last part of its type."""
    path = folder / "modules.json"
    if not path.is_file():
        return {_TRANSFORMER: ""}
    listed = json.loads(path.read_text(encoding="utf-8"))
    modules = {str(module["type"]).rpartition(".")[2]: str(module["path"]) for module in listed}
    # Normalising at the end changes nothing: every vector gets a length of 1 here.
    foreign = sorted(modules.keys() - {_TRANSFORMER, _POOLING, _NORMALIZE})
    if foreign:
        raise _unusable(model, f"has modules besides the transformer: {', '.join(foreign)}")
    return modules


def _pooling(settings: Mapping[str, Any], model: str) -> Pooling:
    """Return how a model pools; the mean where it does not say, as sentence-transformers does."""
    mode = settings.get("pooling_mode")
    if mode is None:
        chosen = [name for name, value in settings.items() if name.startswith(_LEGACY_POOLING) and value]
        names = [name.removeprefix(_LEGACY_POOLING) for name in chosen]
        mode = [_LEGACY_NAMES.get(name, name) for name in names] or "mean"
    modes = [mode] if isinstance(mode, str) else mode
    if modes == ["mean"]:
        return "mean"
    if modes == ["cls"]:
        return "cls"
    raise _unusable(model, f"pools by {', '.join(map(str, modes))}")


def _is_limit(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and 0 < value < _NO_LIMIT


def _json(path: Path) -> dict[str, Any]:
    """Read a file of settings; one that is missing says nothing."""
    if not path.is_file():
        return {}
    settings = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(settings, dict):
        raise TypeError(f"{path.name} is not an object")
    return settings


def _unusable(model: str, why: str) -> EmbeddingUnavailable:
    return EmbeddingUnavailable(
        f"model {model} {why}",
        hint="Export it with `python -m pgrecall_embedder.export_onnx MODEL`, or use provider "
        "sentence-transformers.",
    )
