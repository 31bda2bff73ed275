"""Relation labels: one form by rules, a decision by similarity, a model's choice where that is not clear."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgrecall.errors import InvalidInput
from pgrecall_embedder.llm import (
    FUNCTIONAL_LABELS,
    Canonical,
    Decision,
    LlmMisconfigured,
    LlmUnavailable,
    canonical,
    canonical_fact,
    canonical_label,
    choose_label,
    decide,
    is_functional,
)
from pgrecall_embedder.llm.labels import SYMMETRIC_LABELS, Verdict
from pgrecall_embedder.llm.relations import INVERSES, LABELS, SYNONYMS
from pgrecall_extract.base import ENTITY_TYPES, Fact
from support.llm import KEY, Asked, Memory, Reply, Server, client_of, completion, failure, served

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@pytest.fixture
def server() -> Iterator[Server]:
    with served() as state:
        yield state


# -- by rules


@pytest.mark.parametrize(
    ("label", "is_past"),
    [
        ("works at", False), ("was born in", False), ("got married to", False), ("has been working for", False),
        ("used to work at", True), ("formerly worked at", True), ("was employed by", True), ("lived in", True),
    ],
)  # fmt: skip
def test_a_label_of_the_past(label: str, is_past: bool) -> None:
    fact = Fact("Ada", "PERSON", label, "Corvane", "ORG", 0.8, "llm")
    assert canonical_fact(fact).is_past is is_past
    assert not canonical_fact(replace(fact, valid_to=datetime(2020, 1, 1, tzinfo=UTC))).is_past


@pytest.mark.parametrize(
    ("label", "form"),
    [
        ("works at", "works at"),
        ("  Worked  At ", "works at"),
        ("works_at", "works at"),
        ("is working at", "works at"),
        ("was working at the", "works at"),
        ("has been working for", "works at"),
        ("used to work at", "works at"),
        ("formerly worked at", "works at"),
        ("work for", "works at"),
        ("was employed by", "works at"),
        ("is an employee of the", "works at"),
        ("is based in", "located in"),
        ("is located in", "located in"),
        ("lived in", "lives in"),
        ("living in", "lives in"),
        ("is the wife of", "married to"),
        ("got married to", "married to"),
        ("was born in", "born in"),
        ("dies in", "died in"),
        ("is dating", "in relationship with"),
        ("is called", "named"),
        ("is also known as", "also known as"),
        ("has a daughter", "parent of"),
        ("had a son", "parent of"),
        ("is a", "instance of"),
        ("went to", "visited"),
        ("travelled to", "visited"),
        ("has written", "wrote"),
        ("acquired", "acquires"),
        ("has acquired", "acquires"),
        ("is acquiring", "acquires"),
        ("studied", "studies"),
        ("planning", "plans"),
        ("watches", "watches"),
        ("does not like", "dislikes"),
        # Passive, with an auxiliary or by what follows: not what the subject does.
        ("is painted by", "painted by"),
        ("published in", "published in"),
        ("was published", "is published"),
        # Not the same as what they are close to.
        ("does not work at", "not work at"),
        ("may work at", "may work at"),
        ("no longer works at", "no longer works at"),
        ("is", "is"),
        ("has", "has"),
        ("the", "the"),
        ("", ""),
        ("wohnt in", "wohnt in"),
        ("жил в", "жил в"),
    ],
)
def test_one_form(label: str, form: str) -> None:
    assert canonical_label(label) == form
    assert canonical_label(form) == form


@pytest.mark.parametrize(
    ("label", "form"),
    [
        ("employs", "works at"),
        ("hired", "works at"),
        ("is the employer of", "works at"),
        ("was founded by", "founded"),
        ("is led by", "leads"),
        ("owned by", "owns"),
        ("was painted by", "paints"),
        ("acquired by", "acquires"),
        ("is the son of", "parent of"),
        ("has a mother", "parent of"),
        ("has capital", "capital of"),
        ("contains", "part of"),
        ("is home to", "lives in"),
        ("was designed by the", "created"),
    ],
)
def test_inverses(label: str, form: str) -> None:
    assert canonical(label) == Canonical(form, is_inverted=True)
    fact = Fact("Acme", "ORG", label, "Alice", "PERSON", 0.5, "llm", "So it is.")
    assert canonical_fact(fact) == Fact("Alice", "PERSON", form, "Acme", "ORG", 0.5, "llm", "So it is.")


def test_a_label_in_its_direction_leaves_the_fact_as_it_is() -> None:
    fact = Fact("Alice", "PERSON", "was working at", "Acme", "ORG", 0.5, "pattern")
    assert canonical_fact(fact) == replace(fact, label="works at")


def test_the_inverse_of_an_inverse() -> None:
    assert canonical("was supervised by") == Canonical("reports to")
    assert canonical("contained by") == Canonical("part of")


def test_the_tables_agree() -> None:
    """Every entry is found as it is written, and leads in one step to a label that stands for itself."""
    for label, form in SYNONYMS.items():
        assert label not in INVERSES
        assert label not in LABELS
        assert form not in SYNONYMS
        assert canonical_label(label) == form
    for label, form in INVERSES.items():
        assert canonical_label(label) == label
        assert canonical(label) == Canonical(form, is_inverted=True)
        assert canonical(form) == Canonical(form)
    for label in (*FUNCTIONAL_LABELS, *SYMMETRIC_LABELS):
        assert canonical(label) == Canonical(label)
    assert {one for types in FUNCTIONAL_LABELS.values() for one in types} <= set(ENTITY_TYPES)


_PARTS = sorted(
    {word for label in (*SYNONYMS, *INVERSES) for word in label.split()} | {"was", "has", "been", "the"}
)


@given(st.lists(st.sampled_from(_PARTS), max_size=4).map(" ".join) | st.text(max_size=12))
def test_one_form_is_final(label: str) -> None:
    form = canonical_label(label)
    assert canonical_label(form) == form
    assert not canonical(canonical(label).label).is_inverted


def test_labels_with_one_object_at_a_time() -> None:
    assert is_functional("works at", "PERSON")
    assert is_functional("located in", "ORG")
    assert is_functional("named", "CONCEPT")
    # A street is in a town and in a country, and one may visit many.
    assert not is_functional("located in", "PLACE")
    assert not is_functional("visited", "PERSON")
    assert not is_functional("employed by", "PERSON")  # not the canonical form
    with pytest.raises(TypeError):
        FUNCTIONAL_LABELS["likes"] = frozenset()  # type: ignore[index]


# -- by similarity


@pytest.mark.parametrize(
    ("candidates", "decision"),
    [
        ([], Decision(Verdict.NEW)),
        ([("b", 0.59)], Decision(Verdict.NEW)),
        ([("b", 0.6)], Decision(Verdict.ASK, candidates=("b",))),
        ([("b", 0.89), ("c", 0.2)], Decision(Verdict.ASK, candidates=("b",))),
        ([("c", 0.7), ("b", 0.7), ("d", 0.8)], Decision(Verdict.ASK, candidates=("d", "b", "c"))),
        ([("b", 0.9)], Decision(Verdict.SAME, "b")),
        ([("b", 0.7), ("c", 0.95)], Decision(Verdict.SAME, "c")),
        ([("c", 0.95), ("b", 0.95)], Decision(Verdict.SAME, "b")),
        ([("b", 0.99), ("a", 0.1)], Decision(Verdict.SAME, "a")),
    ],
)
def test_a_decision(candidates: list[tuple[str, float]], decision: Decision) -> None:
    assert decide("a", candidates, 0.6, 0.9) == decision
    assert decide("a", candidates[::-1], 0.6, 0.9) == decision


def test_thresholds_in_the_wrong_order() -> None:
    with pytest.raises(InvalidInput, match="low"):
        decide("a", [], 0.9, 0.6)
    assert decide("a", [("b", 0.6)], 0.6, 0.6) == Decision(Verdict.SAME, "b")


# -- by asking


def choose(server: Server, label: str, candidates: Sequence[str], **options: Any) -> str | None:
    async def run() -> str | None:
        async with client_of(server, max_retries=1) as client:
            return await choose_label(client, label, candidates, **options)

    return asyncio.run(run())


def picking(wanted: str) -> Any:
    """A model that finds one of the candidates."""

    def script(asked: Asked) -> Reply:
        numbers = {text: int(number) for number, text in asked.rows["candidates"].items()}
        return completion({"choice": numbers.get(wanted)})

    return script


def test_a_choice(server: Server) -> None:
    server.script = picking("works at")
    assert choose(server, "toils at", ["lives in", "works at"]) == "works at"
    assert choose(server, "toils at", ["lives in"]) is None
    assert choose(server, "toils at", []) is None
    assert len(server.asked) == 2
    assert server.asked[0].rows == {"given": "toils at", "candidates": {"1": "lives in", "2": "works at"}}
    assert KEY not in str(server.asked[0].body)


def test_names_are_chosen_in_the_same_way(server: Server) -> None:
    cache = Memory()
    server.script = picking("Acme Inc.")
    for kind in ("name", "label"):
        assert choose(server, "Acme", ["Acme Inc."], kind=kind, cache=cache) == "Acme Inc."
    first, second = (asked.json["messages"][0]["content"] for asked in server.asked)
    assert "names" in first
    assert "relationships" in second


@pytest.mark.parametrize("wanted", ["works at", None])
def test_a_choice_is_made_once(server: Server, wanted: str | None) -> None:
    cache = Memory()
    server.script = picking(str(wanted))
    for _ in range(2):
        assert choose(server, "toils at", ["works at", "lives in"], cache=cache) == wanted
    assert len(server.asked) == 1
    choose(server, "toils at", ["lives in", "works at"], cache=cache)
    choose(server, "toiled at", ["works at", "lives in"], cache=cache)
    assert len(server.asked) == 3
    cache.values = dict.fromkeys(cache.values, json.dumps({"choice": 7}))
    assert choose(server, "toils at", ["works at", "lives in"], cache=cache) == wanted
    assert len(server.asked) == 4


@pytest.mark.parametrize(
    "said",
    ["no", "[]", '{"choice": 0}', '{"choice": 3}', '{"choice": "1"}', '{"choice": true}', '{"answer": 1}'],
)
def test_a_choice_that_is_none(server: Server, said: str) -> None:
    cache = Memory()
    server.script = lambda _: completion(said)
    assert choose(server, "toils at", ["works at", "lives in"], cache=cache) is None
    assert cache.values == {}


def test_nobody_to_choose(server: Server) -> None:
    server.script = lambda _: failure(500)
    with pytest.raises(LlmUnavailable, match="500"):
        choose(server, "toils at", ["works at"])
    server.script = lambda _: failure(401)
    with pytest.raises(LlmMisconfigured, match="key"):
        choose(server, "toils at", ["works at"])


def test_no_more_candidates_than_a_model_can_weigh(server: Server) -> None:
    server.script = picking("label 3")
    many = [f"label {number}" for number in range(50)]
    assert choose(server, "a label", [*many[:4], *many]) == "label 3"
    assert len(server.asked[0].rows["candidates"]) == 20
