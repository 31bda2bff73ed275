"""A retriever and a vector store for LangChain (`pip install 'pgrecall[langchain]'`)."""

from .retriever import PgrecallRetriever
from .store import PgrecallVectorStore

__all__ = ["PgrecallRetriever", "PgrecallVectorStore"]
