"""What the client counts for Prometheus."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from pgrecall import AsyncClient, Client
from pgrecall.metrics import ClientMetrics
from pgrecall.query.legs import LEGS
from support.legs import WITHOUT_VECTOR

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = "xyzzy-canary-4711"


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def counted(registry: CollectorRegistry) -> Callable[..., float | None]:
    def value(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(name, labels)

    return value


def test_recalls_are_counted(
    dsn: str, registry: CollectorRegistry, counted: Callable[..., float | None]
) -> None:
    with Client(dsn, metrics=ClientMetrics(registry)) as memory:
        assert counted("pgrecall_query_embeddings_total", source="cache") == 0
        memory.remember("green tea", tags=["Ana"])
        memory.remember("prefers mountains", tags=["Ana"])
        found = [memory.recall("tea", embed=False), memory.recall("Ana", embed=False, timeframe="this year")]
        memory.recall("tea", vector=[0.5] * 384, strategy="vector")
        found.append(memory.recall("tea"))
        memory.recall("nothing like it", embed=False)
        memory.timeline("tea", embed=False)
    words, all_legs = "+".join(WITHOUT_VECTOR), "+".join(LEGS)
    assert counted("pgrecall_recalls_total", strategy="hybrid", legs=words) == 2
    assert counted("pgrecall_recalls_total", strategy="hybrid", legs=all_legs) == 1
    assert counted("pgrecall_recalls_total", strategy="unknown", legs=words) == 1
    assert counted("pgrecall_recall_seconds_count", strategy="hybrid") == 3
    seconds = counted("pgrecall_recall_seconds_sum", strategy="hybrid")
    assert seconds is not None
    assert seconds > 0
    assert counted("pgrecall_temporal_filters_total") == 1
    by_graph = [one.id for result in found for one in result if one.graph_rank is not None]
    assert counted("pgrecall_entity_matches_total") == len(by_graph) > 0
    sources = {
        source: counted("pgrecall_query_embeddings_total", source=source)
        for source in ("local", "given", "none", "daemon", "cache")
    }
    assert sources == {"local": 1, "given": 1, "none": 4, "daemon": 0, "cache": 0}


def test_tells_nothing_of_a_query(dsn: str, registry: CollectorRegistry) -> None:
    async def ask() -> int:
        async with AsyncClient(dsn, metrics=ClientMetrics(registry)) as memory:
            await memory.remember(f"the {SECRET}", tags=[SECRET])
            return len(await memory.recall(SECRET, embed=False))

    assert asyncio.run(ask()) == 1
    exported = generate_latest(registry).decode()
    assert "pgrecall_recalls_total" in exported
    assert SECRET not in exported


def test_without_the_library_it_says_so() -> None:
    program = """
import sys
sys.modules["prometheus_client"] = None
from pgrecall import PgrecallError
from pgrecall.metrics import ClientMetrics
try:
    ClientMetrics()
except PgrecallError as error:
    print(error.message, error.hint)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "prometheus_client is not installed" in done.stdout
    assert "pip install" in done.stdout
