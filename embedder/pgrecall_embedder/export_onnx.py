"""Export a sentence-transformers model to ONNX: `python -m pgrecall_embedder.export_onnx MODEL [FOLDER]`.

Exporting needs torch, running the exported model does not.
"""

from __future__ import annotations

import argparse
import logging
import shutil
import sys
import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pgrecall.errors import EmbeddingUnavailable, InvalidInput, PgrecallError
from pgrecall.installing import install_command
from pgrecall.query.embedding import no_progress_bars

from .providers.local import model_source
from .providers.onnx import forbid_telemetry
from .providers.onnx_files import GRAPH, exported_folder, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sentence_transformers import SentenceTransformer

__all__ = ["export"]

_WEIGHTS = ("*.safetensors", "*.safetensors.index.json", "*.bin")


def export(model: str, folder: Path | None = None, *, int8: bool = False) -> Path:
    """Write a model as a folder that provider onnx reads.

    The folder appears only when it is complete.

    Args:
        model: The model; the default one comes from its own package, any other is a folder or a hub name.
        folder: Where to write; it must not hold anything yet. None takes a folder of the user's cache, where
            the provider finds the model by its name (with int8, by the folder).
        int8: True quantises the weights to 8 bits: a quarter of the size and faster, but the vectors differ
            somewhat, also with what else is in a batch.

    Returns:
        The folder.

    Raises:
        EmbeddingUnavailable: A library or the model is not there, or provider onnx could not run it.
        InvalidInput: The folder is in use.
    """
    target = exported_folder(model, int8=int8) if folder is None else folder
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidInput(f"{target} holds something already", hint="Remove it, or choose another folder.")
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        _write(model, scratch, int8=int8)
        read(scratch, model)
        scratch.chmod(0o755)
        scratch.replace(target)
    except BaseException:
        shutil.rmtree(scratch)
        raise
    return target


def _write(model: str, folder: Path, *, int8: bool) -> None:
    forbid_telemetry()
    try:
        import onnxscript  # noqa: F401 - torch wants it, and says so only when it is at work
        from onnxruntime.quantization import QuantType, quantize_dynamic
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise EmbeddingUnavailable(
            "the libraries that export models are not installed",
            hint=f"Run: {install_command('embedder', 'onnx-export')}.",
        ) from error
    with _quiet():
        try:
            # Attention written out in single operations is the form that ONNX Runtime optimises.
            loaded = SentenceTransformer(
                model_source(model), device="cpu", model_kwargs={"attn_implementation": "eager"}
            )
        except (OSError, ValueError, RuntimeError) as error:
            raise EmbeddingUnavailable(
                f"model {model} cannot be loaded",
                hint="Check its name, the network, and whether HF_HUB_OFFLINE is set.",
            ) from error
        loaded.save(str(folder), create_model_card=False)
        for pattern in _WEIGHTS:
            for path in folder.glob(pattern):
                path.unlink()
        graph = folder / GRAPH
        graph.parent.mkdir()
        if not int8:
            _trace(loaded, graph)
            return
        with tempfile.TemporaryDirectory(prefix="pgrecall-export-") as scratch:
            whole = Path(scratch) / graph.name
            _trace(loaded, whole)
            # Seven bits: with eight, processors without VNNI instructions overflow.
            quantize_dynamic(
                whole,
                graph,
                op_types_to_quantize=["MatMul", "Gather"],
                per_channel=True,
                reduce_range=True,
                weight_type=QuantType.QInt8,
            )


@contextmanager
def _quiet() -> Iterator[None]:
    """Hold back bars and warnings: what the libraries say while they convert is nothing to act on."""
    disabled = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with no_progress_bars(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)


def _trace(model: SentenceTransformer, graph: Path) -> None:
    """Write a model's transformer as a graph that turns tokens into a vector each."""
    import torch

    class TokenVectors(torch.nn.Module):
        """The transformer with the inputs and the output that the graph is to have."""

        def __init__(self) -> None:
            super().__init__()
            self.transformer = model[0].auto_model

        def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
            """Return the last layer."""
            states: torch.Tensor = self.transformer(
                input_ids=input_ids, attention_mask=attention_mask
            ).last_hidden_state
            return states

    # Two texts of unequal length, so that no size is taken for a constant.
    example = model.tokenizer(["a walk", "a walk by the sea"], padding=True, return_tensors="pt")
    sizes = {0: torch.export.Dim("texts"), 1: torch.export.Dim("tokens", max=model.max_seq_length)}
    torch.onnx.export(
        TokenVectors().eval(),
        (example["input_ids"], example["attention_mask"]),
        graph,
        input_names=["input_ids", "attention_mask"],
        output_names=["last_hidden_state"],
        dynamic_shapes=(sizes, sizes),
        dynamo=True,
        # Weights in a file beside it: a graph ends at 2 GB.
        external_data=True,
        verbose=False,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Export a model; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m pgrecall_embedder.export_onnx", description="Export a model for provider onnx."
    )
    parser.add_argument("model", metavar="MODEL", help="a hub name, or a folder")
    parser.add_argument(
        "folder", metavar="FOLDER", nargs="?", type=Path, help="where to write (default: the user's cache)"
    )
    parser.add_argument("--int8", action="store_true", help="quantise the weights to 8 bits")
    options = parser.parse_args(arguments)
    try:
        folder = export(options.model, options.folder, int8=options.int8)
    except PgrecallError as error:
        print(f"{error}\nHINT: {error.hint}", file=sys.stderr)
        return 1
    print(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
