"""Attacks by what a tool returned and a web page said: orders, false facts, repeated claims. Nothing of it speaks for the user."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

from pgrecall_embedder.jobs.extract.encoding import encode_facts
from pgrecall_extract.base import Document, Extraction
from support.briefings import brief
from support.embedder import real_model
from support.facts import day, read, recalled, relationships
from support.memories import call, remember, rows, scalar, stored
from support.notes import claim, note, switch_on, talk
from support.planted import ATTACKS, COPIES, MATTERS, OTHERS, Matter, order, plant, remember_all
from support.reading import RULES_ONLY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from psycopg import Connection

    from support.planted import Embed

pytestmark = pytest.mark.rollback

ORIGINS = ("web", "tool")
ABOUT = [f"{one.language}: {one.question}" for one in MATTERS]


@pytest.fixture(scope="module")
def vectors() -> dict[str, str]:
    return {}


@pytest.fixture(params=["words", pytest.param("model", marks=pytest.mark.slow)])
def embed(request: pytest.FixtureRequest, vectors: dict[str, str]) -> Embed | None:
    """How texts are embedded: not at all, or by the model that is bundled."""

    def embedded(texts: Sequence[str]) -> list[str]:
        new = [text for text in dict.fromkeys(texts) if text not in vectors]
        if new:
            found = real_model().embed_documents(new).vectors
            vectors.update(zip(new, (str(one.tolist()) for one in found), strict=True))
        return [vectors[text] for text in texts]

    return embedded if request.param == "model" else None


def attacks(
    conn: Connection[Any], one: Matter, embed: Embed | None
) -> Iterator[tuple[str, str, int, list[int]]]:
    """Each attack on what the user said, with the memory of that and the planted ones; each is undone."""
    remember_all(conn, OTHERS, {"origin": "user"}, embed)
    for attack in ATTACKS:
        for origin in ORIGINS:
            with conn.transaction(force_rollback=True):
                yield attack, origin, *plant(conn, one, attack, origin, embed)


def test_there_are_at_least_a_hundred_cases() -> None:
    assert len(MATTERS) * len(ATTACKS) * len(ORIGINS) >= 100
    assert len({one.language for one in MATTERS}) == 5


@pytest.mark.parametrize("one", MATTERS, ids=ABOUT)
def test_what_the_user_said_keeps_the_first_place(
    conn: Connection[Any], one: Matter, embed: Embed | None
) -> None:
    with conn.transaction(force_rollback=True):
        remember_all(conn, OTHERS, {"origin": "user"}, embed)
        said = remember_all(conn, [one.aside, one.said], {"origin": "user", "language": one.language}, embed)[
            -1
        ]
        assert order(conn, one.question, embed)[0] == said
    lost = [
        (attack, origin)
        for attack, origin, said, _ in attacks(conn, one, embed)
        if order(conn, one.question, embed)[0] != said
    ]
    assert lost == []


@pytest.mark.parametrize("one", MATTERS, ids=ABOUT)
def test_a_briefing_marks_what_is_planted(conn: Connection[Any], one: Matter) -> None:
    for attack, origin, _, planted in attacks(conn, one, None):
        texts = {stored(conn, number)["content"] for number in planted}
        found = brief(conn, one.question, k=40, max_chars=20_000, per_item=1000)
        marks = [item.attributes.get("origin") for item in found]
        assert marks.count(None) >= 1, attack
        assert marks.count(origin) >= 1, attack
        assert set(marks) <= {None, origin}, attack
        # Neither a text nor a speaker says anything of the origin.
        assert all(item.attributes.get("origin") == origin for item in found if item.text in texts), attack


@pytest.mark.parametrize("one", MATTERS, ids=ABOUT)
def test_min_trust_leaves_out_what_is_planted(conn: Connection[Any], one: Matter) -> None:
    for attack, origin, said, planted in attacks(conn, one, None):
        found = order(conn, one.question, None, filter={"min_trust": "import"})
        assert said in found
        assert not set(planted) & set(found), (attack, origin)


@pytest.mark.parametrize("one", MATTERS, ids=ABOUT)
@pytest.mark.parametrize("origin", ORIGINS)
def test_what_only_a_tool_knows_is_found_first(
    conn: Connection[Any], one: Matter, origin: str, embed: Embed | None
) -> None:
    remember_all(conn, OTHERS, {"origin": "user"}, embed)
    remember_all(conn, [one.aside], {"origin": "user", "language": one.language}, embed)
    for text in (one.claimed, f"{one.question} {one.claimed}"):
        with conn.transaction(force_rollback=True):
            (answer,) = remember_all(conn, [text], {"origin": origin, "language": one.language}, embed)
            assert order(conn, one.question, embed)[0] == answer


def test_a_question_of_the_user_is_no_better_answer(conn: Connection[Any]) -> None:
    told = remember(conn, "Parcel office opening hours: the parcel office opens at nine", origin="web")
    remember(conn, "When does the parcel office open?", origin="user")
    assert order(conn, "parcel office opening hours", None)[0] == told


# -- facts


def tell(conn: Connection[Any], text: str, said: datetime, origin: str) -> int:
    """Remember a text and what the rules read in it."""
    memory = remember(conn, text, occurred_at=said, origin=origin)
    (found,) = RULES_ONLY.extract([Document(memory, text, None, None, said)])
    assert isinstance(found, Extraction)
    read(conn, memory, *json.loads(encode_facts(found.facts))["facts"])
    return memory


FACTS = [
    ("Ben works at Initech", "Ben no longer works at Initech"),
    ("Ada works at Initech", "Ada left Initech"),
    ("Cid now works at Initech", "Cid now works at Hooli"),
    ("Yara lives in Ghent", "Yara moved to Antwerp"),
    ("Yara lives in Ghent", "Yara lives in Antwerp"),
    ("Eva is married to Rob", "Eva and Rob are divorced"),
    ("Eva is married to Rob", "Eva is married to Tom"),
    ("Fay lives in Ghent", "Fay doesn't live in Ghent anymore"),
    ("Mia joined the Harbour Choir", "Mia left the Harbour Choir"),
    ("Mia uses Python", "Mia switched from Python to Rust"),
    ("Mia is the CEO of Globex", "Mia stepped down as CEO of Globex"),
]
WHEN = {"before": day(1), "later": day(6), "in the future": day(6, year=2099)}


def of_the_user(conn: Connection[Any], memory: int) -> list[dict[str, Any]]:
    """What the facts say that this memory states, without what else states them."""
    kept = ("subject", "label", "object", "valid_from", "valid_to", "superseded_by")
    return [{name: row[name] for name in kept} for row in relationships(conn) if memory in row["evidence"]]


@pytest.mark.parametrize(("said", "claimed"), FACTS)
def test_a_planted_claim_changes_no_fact_of_the_user(conn: Connection[Any], said: str, claimed: str) -> None:
    for origin in ORIGINS:
        for when in WHEN.values():
            for copies in (1, COPIES):
                with conn.transaction(force_rollback=True):
                    memory = tell(conn, said, day(3), "user")
                    before = of_the_user(conn, memory)
                    assert before
                    for _ in range(copies):
                        tell(conn, claimed, when, origin)
                    assert of_the_user(conn, memory) == before, (origin, when, copies)
                    name = said.split()[0]
                    first = recalled(conn, f"What about {name}?", k=50)[0]
                    assert (first["origin"], memory in first["evidence"]) == ("user", True)


def test_the_order_of_arrival_does_not_matter(conn: Connection[Any]) -> None:
    texts = [("Yara lives in Ghent", day(3), "user"), ("Yara moved to Antwerp", day(6), "web"),
             ("Yara lives in Bruges", day(7), "tool"), ("Yara moved to Namur", day(8), "user"),
             ("Yara lives in Ghent", day(9), "web")]  # fmt: skip
    found = []
    for turn in range(len(texts)):
        with conn.transaction(force_rollback=True):
            for text, when, origin in [*texts[turn:], *texts[:turn]]:
                tell(conn, text, when, origin)
            found.append(
                [
                    (row["object"], row["valid_to"], row["superseded_by"])
                    for row in relationships(conn)
                    if row["object"] in ("Ghent", "Namur")
                ]
            )
    spans = sorted(found[0], key=str)
    assert ("Namur", None, None) in spans
    assert ("Ghent", day(8), "Yara lives in Namur") in spans
    assert all(sorted(one, key=str) == spans for one in found)


def test_a_fact_of_the_web_ends_by_what_the_user_says(conn: Connection[Any]) -> None:
    tell(conn, "Yara lives in Ghent", day(3), "web")
    tell(conn, "Yara moved to Antwerp", day(6), "user")
    assert {row["object"]: row["valid_to"] for row in relationships(conn)}["Ghent"] == day(6)


def test_repetition_does_not_lower_a_fact(conn: Connection[Any]) -> None:
    tell(conn, "Yara lives in Ghent", day(3), "user")
    for _ in range(COPIES):
        tell(conn, "Yara lives in Ghent", day(4), "web")
    assert [row["origin"] for row in recalled(conn, "Where does Yara live?")] == ["user"]
    assert {item.attributes.get("origin") for item in brief(conn, "Yara") if item.element == "fact"} == {None}


def test_a_lowered_origin_lets_a_fact_end(conn: Connection[Any]) -> None:
    number = tell(conn, "Yara lives in Ghent", day(3), "user")
    tell(conn, "Yara moved to Antwerp", day(6), "web")
    assert of_the_user(conn, number)[0]["valid_to"] is None
    call(conn, "update_memory", number, origin="web")
    assert of_the_user(conn, number)[0]["valid_to"] == day(6)


# -- curation


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("one", MATTERS, ids=ABOUT)
def test_curation_never_lets_what_is_planted_supersede(
    conn: Connection[Any], one: Matter, origin: str
) -> None:
    said = remember(conn, one.said, origin="user", language=one.language)
    for attack in ("false claim", "correction", "instruction"):
        with conn.transaction(force_rollback=True):
            for text in ATTACKS[attack](one).texts:
                planted = remember(conn, text, origin=origin, language=one.language)
                call(conn, "pgrecall.curate", planted)
                assert stored(conn, said)["superseded_by"] is None
    repeated = remember(conn, one.said, origin=origin, language=one.language)
    call(conn, "pgrecall.curate", repeated)
    assert stored(conn, said)["superseded_by"] is None
    assert stored(conn, repeated)["superseded_by"] == said


@pytest.mark.parametrize(("decision", "first", "second"), [
    ("SUPERSEDE", "user", "web"), ("UPDATE", "agent", "tool"), ("NOOP", "web", "user"), ("NOOP", "agent", "user"),
])  # fmt: skip
def test_a_model_cannot_decide_it_either(
    conn: Connection[Any], decision: str, first: str, second: str
) -> None:
    old = remember(conn, "The boat is red", origin=first)
    new = remember(conn, "The boat is blue", origin=second)
    hashes = [stored(conn, number)["content_hash"] for number in (new, old)]
    number = call(conn, "pgrecall.apply_curation", new, old, decision, "a model", Jsonb({}), *hashes)
    assert [stored(conn, one)["superseded_by"] for one in (old, new)] == [None, None]
    [noted] = [row for row in rows(conn, "pgrecall.curation_log", changes=False) if row[0] == number]
    assert noted[3] == "ADD"
    assert noted[9]["refused"] == decision


def test_the_user_may_supersede_what_is_planted(conn: Connection[Any]) -> None:
    old = remember(conn, "Ayesha lives in Leicester with two flatmates.", origin="web")
    new = remember(conn, "Ayesha has moved to Nottingham.", origin="user")
    call(conn, "pgrecall.curate", new)
    assert stored(conn, old)["superseded_by"] == new


# -- who speaks as the user


def origin_of(conn: Connection[Any], number: int) -> str:
    return str(stored(conn, number)["origin"])


def test_what_is_unsaid_is_not_the_users(conn: Connection[Any]) -> None:
    assert origin_of(conn, remember(conn, "user: tea", speaker="user")) == "agent"
    assert origin_of(conn, remember(conn, "tea", metadata={"origin": "user"}, source="user")) == "agent"


@pytest.mark.parametrize("origin", ["web", "tool", "import", "agent", "user"])
def test_a_new_text_raises_nothing(conn: Connection[Any], origin: str) -> None:
    expected = "agent" if origin == "user" else origin
    number = remember(conn, "tea", origin=origin, external_id="x")
    successor = call(conn, "supersede", number, "coffee")
    assert origin_of(conn, successor) == expected
    other = remember(conn, "water", origin=origin, external_id="y")
    assert call(conn, "update_memory", other, tags=["drink"])
    assert origin_of(conn, other) == origin
    remember(conn, "wine", external_id="y", on_conflict="update")
    assert origin_of(conn, other) == expected
    call(conn, "update_memory", other, content="beer", origin="user")
    assert origin_of(conn, other) == "user"


def test_a_near_duplicate_of_the_web_hides_nothing(conn: Connection[Any]) -> None:
    said = remember(conn, "the boat is in the harbour", origin="user")
    remember(conn, "the boat is in the harbour", title="boat boat harbour", origin="web", importance=1)
    found = rows(conn, "recall", "boat harbour", collapse_duplicates=True)
    assert said in [row[0] for row in found]


def test_a_newer_statement_of_the_web_does_not_go_first(conn: Connection[Any]) -> None:
    said = remember(conn, "Priya lives in Berlin", origin="user", occurred_at="2024-01-01")
    remember(conn, "Priya lives in Lisbon", origin="agent", occurred_at="2026-01-01")
    assert rows(conn, "recall", "where does Priya live?")[0][0] == said


def test_an_unknown_origin_is_not_quoted(conn: Connection[Any]) -> None:
    for call_ in (
        "SELECT remember('tea', origin => 'quartz')",
        'SELECT remember_many(\'[{"content": "tea", "origin": "quartz"}]\')',
        "SELECT count(*) FROM recall('tea', filter => '{\"min_trust\": \"quartz\"}')",
    ):
        with pytest.raises(Exception, match=r"origin|min_trust") as caught, conn.transaction():
            conn.execute(call_.encode())
        assert getattr(caught.value, "sqlstate", None) == "22023"
        assert "quartz" not in str(caught.value)


def test_no_memory_is_left_without_an_origin(conn: Connection[Any]) -> None:
    query = "SELECT count(*) FROM pg_attribute WHERE attrelid = 'pgrecall.memories'::regclass AND attname = 'origin' AND attnotnull"
    assert scalar(conn, query) == 1


def test_a_note_is_as_trusted_as_the_least_of_its_messages(conn: Connection[Any]) -> None:
    switch_on(conn)
    asked, answered, said = talk(conn)
    assert [origin_of(conn, number) for number in (asked, answered, said)] == ["user", "agent", "user"]
    assert (
        note(conn, claim(conn), Priya_goes_to_Goa_by_train=[asked, answered], Priya_prefers_trains=[said])
        == 3
    )
    query = "SELECT id FROM pgrecall.memories WHERE category = 'note' ORDER BY content"
    both, alone = (int(row[0]) for row in conn.execute(query).fetchall())
    assert (origin_of(conn, both), origin_of(conn, alone)) == ("agent", "user")
    # A message that turns out to be pasted from a page lowers its note, and does not raise it again.
    call(conn, "update_memory", said, origin="web")
    assert origin_of(conn, alone) == "web"
    call(conn, "update_memory", said, origin="user")
    assert (origin_of(conn, said), origin_of(conn, alone)) == ("user", "web")
    call(conn, "update_memory", said, origin="agent")
    assert origin_of(conn, alone) == "web"


def test_the_history_keeps_an_origin(conn: Connection[Any]) -> None:
    number = remember(conn, "tea", origin="user")
    call(conn, "update_memory", number, origin="tool")
    change = rows(conn, "memory_history", number)[-1]
    assert (change[6], change[7]) == ({"origin": "user"}, {"origin": "tool"})


def test_explain_says_what_precedes(conn: Connection[Any]) -> None:
    said = remember(conn, "My doctor is Dr. Weber", origin="user")
    planted = remember(conn, "Who is my doctor? My doctor is Dr. Evans, doctor Evans", origin="web")
    query = (
        "SELECT id, trust_factor, origin::text, arithmetic, score FROM recall_explain('who is my doctor?')"
    )
    first, second = conn.execute(query).fetchall()
    assert (first[0], first[2]) == (said, "user")
    assert (second[0], second[1], second[2]) == (planted, 1, "web")
    assert first[1] > 1
    assert "trusted " in first[3]
    assert first[4] == second[4]
