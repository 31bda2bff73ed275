"""langchain-postgres in a Python of its own: it wants another version of pgvector than pgrecall.

    python langchain_worker.py URL LANGUAGE DIMENSION

Makes the table, says so, then answers one JSON line with another until its input ends. Run by `LangChain`;
nothing of pgrecall is imported here.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_postgres import Column, PGEngine, PGVectorStore
from langchain_postgres.v2.hybrid_search_config import HybridSearchConfig, reciprocal_rank_fusion

_DEPTH = 50


class _NoModel(Embeddings):  # type: ignore[misc]
    """The vectors come with the questions."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise NotImplementedError

    def embed_query(self, text: str) -> list[float]:
        raise NotImplementedError


def main(url: str, language: str, dimension: int) -> None:
    """Make the table, then answer questions."""
    engine = PGEngine.from_connection_string(url=url)
    hybrid = HybridSearchConfig(
        tsv_column="content_tsv",
        tsv_lang=f"pg_catalog.{language}",
        fusion_function=reciprocal_rank_fusion,
        primary_top_k=_DEPTH,
        secondary_top_k=_DEPTH,
    )
    engine.init_vectorstore_table(
        "langchain_documents",
        dimension,
        id_column=Column("id", "TEXT", nullable=False),
        metadata_columns=[Column("scope", "TEXT")],
        store_metadata=False,
        hybrid_search_config=hybrid,
    )
    store = PGVectorStore.create_sync(
        engine,
        _NoModel(),
        "langchain_documents",
        id_column="id",
        metadata_columns=["scope"],
        metadata_json_column=None,
        hybrid_search_config=hybrid,
    )
    _say({"ready": True})
    for line in sys.stdin:
        asked = json.loads(line)
        found = store.similarity_search_with_score_by_vector(
            asked["vector"], k=asked["k"], filter={"scope": asked["scope"]}, fts_query=asked["text"]
        )
        _say({"ids": [document.id for document, _ in found]})


def _say(answer: dict[str, Any]) -> None:
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
