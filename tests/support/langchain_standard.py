"""LangChain's standard tests of a vector store, on pgrecall's. tests/slow/test_langchain_standard.py runs them."""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from langchain_tests.integration_tests.vectorstores import VectorStoreIntegrationTests

from pgrecall import Client
from pgrecall.contrib.langchain import PgrecallVectorStore
from support.embedder import Recorder, drain

if TYPE_CHECKING:
    from collections.abc import Iterator


class EmbeddedStore(PgrecallVectorStore):
    """A store whose documents the daemon has embedded when they are added."""

    def add_texts(self, *arguments: Any, **options: Any) -> list[str]:
        ids = super().add_texts(*arguments, **options)
        drain(os.environ["STANDARD_DSN"], Recorder())
        return ids


class TestPgrecallVectorStore(VectorStoreIntegrationTests):  # type: ignore[misc]  # it is not installed
    @pytest.fixture
    def vectorstore(self) -> Iterator[EmbeddedStore]:
        with Client(os.environ["STANDARD_DSN"]) as client:
            namespace = f"standard-{uuid.uuid4()}"
            client.admin.create_namespace(namespace)
            yield EmbeddedStore(client, namespace=namespace)
