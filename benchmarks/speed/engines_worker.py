"""Search engines inside one process, in a Python of their own.

    python engines_worker.py FOLDER

Reads texts.json (a list) and vectors.npy (float32, one row a text) from FOLDER, makes the indexes, says which
engines there are, then answers one JSON line with another until its input ends. Run by `engines`; nothing of
pgrecall is imported here.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hnswlib
import lancedb
import numpy as np
import pyarrow as pa
import tantivy
from lancedb.index import HnswSq

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Engine = Callable[[str, list[float], int], list[int]]

DEPTH = 50
RRF_K = 60


def lance(folder: Path, texts: list[str], vectors: NDArray[np.float32]) -> Engine:
    """LanceDB's hybrid query, fused by its own reranker (reciprocal rank)."""
    array = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])
    data = pa.table({"id": pa.array(range(len(texts))), "text": texts, "vector": array})
    table = lancedb.connect(folder / "lance").create_table("memories", data)
    table.create_fts_index("text")
    table.create_index("vector", config=HnswSq(distance_type="cosine"))

    def search(text: str, vector: list[float], k: int) -> list[int]:
        found = table.search(query_type="hybrid").vector(vector).text(text).limit(k).to_arrow()
        return list(found["id"].to_pylist())

    return search


def specialised(folder: Path, texts: list[str], vectors: NDArray[np.float32]) -> Engine:
    """tantivy and hnswlib, 50 each, fused by reciprocal rank here: the floor of specialised engines."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", stored=True, tokenizer_name="en_stem")
    builder.add_integer_field("id", stored=True)
    (folder / "tantivy").mkdir()
    index = tantivy.Index(builder.build(), path=str(folder / "tantivy"))
    writer = index.writer()
    for place, text in enumerate(texts):
        writer.add_document(tantivy.Document(text=text, id=place))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    graph = hnswlib.Index("cosine", vectors.shape[1])
    graph.init_index(len(vectors), ef_construction=64, M=16)
    graph.add_items(vectors)
    graph.set_ef(100)

    def search(text: str, vector: list[float], k: int) -> list[int]:
        words = index.parse_query(" ".join(re.findall(r"\w+", text)), ["text"])
        by_words = [searcher.doc(address)["id"][0] for _, address in searcher.search(words, DEPTH).hits]
        by_vector = graph.knn_query(np.array([vector], np.float32), DEPTH)[0][0].tolist()
        scores: dict[int, float] = {}
        for found in (by_words, by_vector):
            for rank, place in enumerate(found, 1):
                scores[place] = scores.get(place, 0.0) + 1 / (RRF_K + rank)
        best = sorted(scores, key=lambda place: (-scores[place], place))[:k]
        # recall returns texts, too.
        return [place for place in best if texts[place]]

    return search


def main(folder: Path) -> None:
    """Make the indexes, then answer questions."""
    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    vectors = np.load(folder / "vectors.npy")
    engines = {
        "lancedb": lance(folder, texts, vectors),
        "tantivy+hnswlib": specialised(folder, texts, vectors),
    }
    _say({"engines": list(engines)})
    for line in sys.stdin:
        asked = json.loads(line)
        _say({"found": engines[asked["engine"]](asked["text"], asked["vector"], asked["k"])})


def _say(answer: dict[str, Any]) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
