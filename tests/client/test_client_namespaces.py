"""Several namespaces at once through both clients."""

from __future__ import annotations

import asyncio

import pytest

from pgrecall import AsyncClient, Client
from pgrecall.errors import InvalidInput, UnknownNamespace

BOTH = ["me", "team"]


@pytest.fixture
def filled(dsn: str) -> dict[str, int]:
    """A memory of each namespace, by its name."""
    with Client(dsn) as client:
        return {
            name: client.remember(f"the boat of {name}", namespace=name, create_namespace=True)
            for name in ("me", "team", "other")
        }


def test_every_reading_call_takes_them(dsn: str, filled: dict[str, int]) -> None:
    expected = {filled[name] for name in BOTH}
    with Client(dsn, namespace="other") as client:
        result = client.recall("boat", namespaces=BOTH, embed=False)
        assert {(one.id, one.namespace_name) for one in result} == {(filled[name], name) for name in BOTH}
        weighed = client.recall("boat", namespaces=BOTH, namespace_weights={"me": 0.1}, embed=False)
        assert [one.namespace_name for one in weighed] == ["team", "me"]
        assert {one.id for one in client.explain("boat", namespaces=iter(BOTH), embed=False)} == expected
        assert {one.id for one in client.timeline("boat", namespaces=BOTH, embed=False)} == expected
        assert client.briefing("boat", namespaces=BOTH, embed=False, timeout=60).count("<memory") == 2
        assert {one.id for one in client.list(namespaces=BOTH)} == expected
        assert client.count(namespaces=BOTH) == 2
        assert not client.recall_facts("boat", namespaces=BOTH, embed=False)
        # Without them the client's own is read.
        assert [one.id for one in client.recall("boat", embed=False)] == [filled["other"]]
        assert client.recall("boat", namespaces=[], embed=False).memories == ()
        with pytest.raises(InvalidInput):
            client.recall("boat", namespaces=BOTH, namespace="me", embed=False)
        with pytest.raises(InvalidInput):
            client.recall("boat", namespaces="me", embed=False)
        with pytest.raises(TypeError):
            client.forget_many(namespaces=BOTH, tags_any=["x"])  # type: ignore[call-arg]


def test_an_unknown_one_among_them(dsn: str, filled: dict[str, int]) -> None:
    with Client(dsn) as client:
        found = client.recall("boat", namespaces=["me", "nowhere"], embed=False)
        assert [one.id for one in found] == [filled["me"]]
        nothing = client.recall("boat", namespaces=["nowhere"], embed=False)
        assert "there is no namespace 'nowhere'" in (nothing.notice or "")
    with Client(dsn, strict=True) as strict:
        for call in (strict.list, strict.count):
            with pytest.raises(UnknownNamespace):
                call(namespaces=["nowhere"])
        with pytest.raises(UnknownNamespace):
            strict.recall("boat", namespaces=["nowhere"], embed=False)


def test_asynchronously(dsn: str, filled: dict[str, int]) -> None:
    async def ask() -> set[int]:
        async with AsyncClient(dsn) as client:
            return {one.id for one in await client.recall("boat", namespaces=BOTH, embed=False)}

    assert asyncio.run(ask()) == {filled[name] for name in BOTH}
