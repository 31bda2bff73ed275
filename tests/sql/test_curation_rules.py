"""Which memories curation by rules takes for the same, refined, no longer true; and which it leaves alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from support.curation import decided, decision, embed_as, noted, pair
from support.memories import call, refused, remember, remember_many, rows, scalar, stored

if TYPE_CHECKING:
    from psycopg import Connection

import pytest

pytestmark = pytest.mark.rollback

SAME = {
    "punctuation and case": (
        "The spare key hangs behind the fuse box.",
        "the spare key hangs behind the fuse box!",
    ),
    "less of it": (
        "Obinna has three beds: one with beans and one fallow.",
        "Obinna has three beds, one fallow.",
    ),
    "contracted": ("I'm learning Spanish.", "I am learning Spanish."),
    "the end of it": (
        "Ana's flat is on the third floor, near the park.",
        "Ana's flat is on the third floor.",
    ),
    "another script": ("会议在三楼举行。", "会议在三楼举行"),
}
REFINED = {
    "a reason": (
        "The staging cluster was rebuilt.",
        "The staging cluster was rebuilt after the disk had filled up.",
    ),
    "a name": ("Tom has a dog.", "Tom has a dog named Rex."),
    "two more": ("Tom has a dog.", "Tom has a dog and two cats."),
    "as what": ("Ana works at Acme.", "Ana works at Acme as a nurse."),
    "another language": (
        "La abuela de Mateo vive en Galicia.",
        "La abuela de Mateo vive en Betanzos, Galicia.",
    ),
    "a form of the same word": (
        "The bakery delivers to Elm Road.",
        "The bakery's deliveries to Elm Road go out at 6:45.",
    ),
}
OVER = {
    "a negation": ("The side gate is locked at night.", "The side gate isn't locked at night."),
    "a negation of the past": ("The gate was locked.", "The gate isn't locked."),
    "a negation in another language": ("Frau Albers mag Tee.", "Frau Albers mag keinen Tee."),
    "an end": (
        "Jonas works as a paramedic for the Red Cross.",
        "Jonas no longer works for the Red Cross; he drives.",
    ),
    "a move": ("Ayesha lives in Leicester with two flatmates.", "Ayesha has moved to Nottingham."),
    "another holder": (
        "Svetlana is the on-call lead for the pipeline.",
        "On-call lead for the pipeline: Dario.",
    ),
    "another count": ("The choir has 42 members.", "The choir has 37 members."),
    "an upgrade": (
        "The scanners in the hall run Android 11.",
        "The scanners in the hall were upgraded to Android 13.",
    ),
    "a new name": (
        "The code name of the cluster is Heron.",
        "The code name of the cluster is now Kingfisher.",
    ),
}
APART = {
    "somebody's sister": ("Noor lives in Leeds.", "Noor's sister lives in Leeds with her dog."),
    "whose sister": ("Noor's sister lives in Leeds.", "Noor lives in Leeds."),
    "another server": ("The server runs Debian 12.", "The staging server runs Debian 12."),
    "one server of several": ("The staging server runs Debian 12.", "The server runs Debian 12."),
    "a room": ("The server is locked.", "The server room is locked at night."),
    "who owes whom": ("Paolo owes Giulia 50 euros.", "Giulia owes Paolo 50 euros."),
    "another ticket": ("Ticket 311 is open.", "Ticket 313 is open."),
    "another room": ("Room 12 has 4 windows.", "Room 14 has 4 windows."),
    "another project": ("Project Marlin uses PostgreSQL 15.", "Project Marten uses PostgreSQL 16."),
    "another taste": ("Emeka enjoys watching cricket.", "Emeka now enjoys watching snooker."),
    "another year": ("The 2023 camp was at Balaton.", "The 2024 camp was on Krk."),
    "another occasion": ("The appointment is on 3 June.", "The appointment is on 10 June."),
    "another end": ("Noor lives in York.", "Noor no longer lives in Leeds."),
    "another purchase": ("Maria bought 3 chairs.", "Maria bought 4 chairs."),
    "not the same thing": ("Priya likes tea.", "Priya does not like coffee."),
    "a condition": ("If it rains, the match is cancelled.", "The match is cancelled."),
    "a restriction": ("Only Lena can open the safe.", "Lena can open the safe."),
    "another role": ("Priya is the lead for Marlin.", "Priya is the lead for Marten."),
    "a name of several words": (
        "The kitchen light is broken.",
        "The kitchen light in the cellar flat is broken.",
    ),
    "nothing in common": ("Bathroom fan rattles.", "Hendrik's grandfather built organs."),
    "another language": ("Der Mieter ist ausgezogen.", "Das Fenster wurde repariert."),
    "a denial at the end of a clause": (
        "東京に住んでいて、コーヒーが好き。",
        "東京に住んでいて、コーヒーが好きでない。",
    ),
    # What is put to a word makes another thing of it.
    "an allergy to it": ("Tom has a dog.", "Tom has a dog allergy."),
    "a part of it": ("Ana owns a boat", "Ana owns a boat house in Lund"),
    "another of the name": ("Tom lives in New York.", "Tom lives in New York Mills."),
    "tired of something": ("Tom is sick.", "Tom is sick of meetings."),
    "of something else": ("Ana met the president.", "Ana met the president of the chess club."),
    "by marriage": ("Ana has a son.", "Ana has a son in law."),
    "a wish": ("Tom works at Acme.", "Tom wants to work at Acme."),
    "a wish that came true": ("Tom wants to work at Acme.", "Tom works at Acme."),
    "on some days": ("Tom is vegan.", "Tom is vegan on Mondays."),
    # The same words in another order, or with other little words, forms or signs.
    "the other way round": ("I prefer trains to planes.", "I prefer planes to trains."),
    "who bit whom": ("The dog bit the man.", "The man bit the dog."),
    "which is better": ("Cats are better than dogs.", "Dogs are better than cats."),
    "numbers the other way round": ("Move lunch from 3 to 4.", "Move lunch from 4 to 3."),
    "who is not": ("Tom is not ill but Ana is.", "Tom is ill but Ana is not."),
    "past": ("Tom likes tea.", "Tom liked tea."),
    "past of to be": ("Tom is the boss.", "Tom was the boss."),
    "present again": ("Tom was at Acme.", "Tom is at Acme."),
    "done": ("Tom should call Ana.", "Tom called Ana."),
    "in and from": ("Flight to Rome Monday", "Flight from Rome Monday"),
    "before and after": ("Tom arrives before lunch.", "Tom arrives after lunch."),
    "his and her": ("Her car is red.", "His car is red."),
    "all and few": ("All cats like milk.", "Few cats like milk."),
    "morning and evening": ("My flight is at 9 am", "My flight is at 9 pm"),
    "a currency": ("Pay 5€ for it", "Pay 5$ for it"),
    "below zero": ("Temperature is -5", "Temperature is 5"),
    "less and more": ("a < b is true", "a > b is true"),
    "a sharp": ("C# is fun", "C is fun"),
    "no denial of it": ("My car is red.", "Your car is not red."),
    # What asks says nothing.
    "an answer": ("Does Tom like tea?", "Tom does like tea."),
    "asked": ("Tom likes tea.", "Tom likes tea?"),
    "answered": ("Tom likes tea?", "Tom likes tea."),
    "more at the end of a clause": ("我住在北京,我喜欢喝绿茶", "我住在北京,我喜欢喝绿茶和咖啡"),
    "another time at the end of a clause": (
        "会议时间是周五下午,地点在三楼",
        "会议时间是周五下午三点半,地点在三楼",
    ),
}
EXPECTED = {"NOOP": SAME, "UPDATE": REFINED, "SUPERSEDE": OVER, "ADD": APART}


def test_pairs(conn: Connection[Any]) -> None:
    for expected, pairs in EXPECTED.items():
        made = {}
        for number, (kind, (old, new)) in enumerate(pairs.items()):
            first, second = pair(conn, old, new, namespace=f"{expected}{number}", create_namespace=True)
            found = decided(conn, second)
            made[kind] = found["decision"]
            if expected != "ADD":
                assert found["other_id"] == first, kind
            assert decision(conn, first) == "ADD", "an older memory is not compared with newer ones"
        assert made == dict.fromkeys(pairs, expected)


def test_evidence_has_no_word_of_a_memory(conn: Connection[Any]) -> None:
    _, new = pair(conn)
    evidence = decided(conn, new)["evidence"]
    assert evidence["moves"] is True
    assert all(isinstance(value, bool | int | float) for value in evidence.values())


def test_a_low_cosine_speaks_against_it(conn: Connection[Any]) -> None:
    old, new = pair(conn)
    embed_as(conn, old, 1.0)
    embed_as(conn, new, 0.9, 0.1)
    assert decision(conn, new) == "SUPERSEDE"
    embed_as(conn, new, 0.1, 1.0)
    assert decision(conn, new) == "ADD"


def test_no_cosine_decides_by_itself(conn: Connection[Any]) -> None:
    old, new = pair(conn, "Project Marlin uses PostgreSQL 15.", "Project Marten uses PostgreSQL 16.")
    for memory in (old, new):
        embed_as(conn, memory, 1.0)
    found = decided(conn, new)
    assert (found["decision"], found["other_id"], found["evidence"]["cosine"]) == ("ADD", old, 1)


def test_a_paraphrase_needs_most_of_its_words(conn: Connection[Any]) -> None:
    old, new = pair(
        conn,
        "Lint in the build fails when stale lock files remain, overnight.",
        "Lint in the build fails when stale lock files remain (nightly).",
    )
    assert decision(conn, new) == "ADD"
    for memory in (old, new):
        embed_as(conn, memory, 1.0)
    assert decision(conn, new) == "NOOP"


def test_the_same_words_of_another_occasion(conn: Connection[Any]) -> None:
    """Another speaker, turn, validity, namespace, date, or the day that "tomorrow" is."""
    occasions: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"speaker": "Noor"}, {"speaker": "Lena"}),
        ({"session": "s", "position": 1}, {"session": "s", "position": 2}),
        ({"valid_to": "2024-01-01"}, {"valid_from": "2025-01-01"}),
        ({"namespace": "one"}, {"namespace": "two"}),
        ({"content": "The gate opens on 3 June 2024."}, {"content": "The gate opens on 3 June 2025."}),
        (
            {"occurred_at": "2024-06-03", "content": "We meet at the gate tomorrow."},
            {"occurred_at": "2024-06-09", "content": "We meet at the gate tomorrow."},
        ),
    ]
    for number, occasion in enumerate(occasions):
        home = {"content": "The gate is open.", "namespace": f"occasion {number}"}
        ids = remember_many(conn, [home | one for one in occasion], create_namespace=True)
        assert decision(conn, ids[1]) == "ADD", occasion
        _, same = pair(
            conn, "The gate is open.", "The gate is open.", namespace=f"same {number}", create_namespace=True
        )
        assert decision(conn, same) == "NOOP"


SCOPES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"metadata": {"user_id": "priya"}}, {"metadata": {"user_id": "bob"}}),
    ({"tags": ["alpha"]}, {"tags": ["beta"]}),
    ({"category": "work"}, {"category": "home"}),
    ({"metadata": {"user_id": "priya", "n": 1}}, {"metadata": {"user_id": "priya", "m": 2}}),
]


@pytest.mark.parametrize(("first", "second"), SCOPES)
def test_what_a_filter_tells_apart_stays(
    conn: Connection[Any], first: dict[str, Any], second: dict[str, Any]
) -> None:
    """The same sentence, and one that ends it, whoever decides."""
    for old, new, decider in (
        ("I prefer trains to planes", "I prefer trains to planes", "NOOP"),
        ("Ayesha lives in Leicester with two flatmates.", "Ayesha has moved to Nottingham.", "SUPERSEDE"),
    ):
        [one, other] = remember_many(conn, [{"content": old, **first}, {"content": new, **second}])
        assert decision(conn, other) == "ADD"
        hashes = [
            scalar(conn, "SELECT content_hash FROM pgrecall.memories WHERE id = %s", number)
            for number in (other, one)
        ]
        number = call(conn, "pgrecall.apply_curation", other, one, decider, "a-model", Jsonb({}), *hashes)
        assert noted(conn, number)["decision"] == "ADD"
        assert noted(conn, number)["evidence"]["refused"] == decider
        # Whoever leaves takes nothing of the other along.
        rows(conn, "erase", one)
        assert scalar(conn, "SELECT deleted_at IS NULL FROM pgrecall.memories WHERE id = %s", other)
        rows(conn, "erase", other)


def test_the_one_that_more_filters_find_stays(conn: Connection[Any]) -> None:
    said = "The gate is open."
    [plain, tagged] = remember_many(conn, [{"content": said}, {"content": said, "tags": ["gate"]}])
    assert (decided(conn, tagged)["decision"], decided(conn, tagged)["other_id"]) == ("UPDATE", plain)
    [full, bare] = remember_many(
        conn,
        [{"content": said, "metadata": {"a": 1, "b": 2}}, {"content": said, "metadata": {"a": 1}}],
        namespace="other",
        create_namespace=True,
    )
    assert (decided(conn, bare)["decision"], decided(conn, bare)["other_id"]) == ("NOOP", full)


def test_what_was_imported_from_earlier_supersedes_nothing(conn: Connection[Any]) -> None:
    remember(conn, "The choir has 37 members.", created_at="2025-05-01")
    earlier = remember(conn, "The choir has 42 members.", created_at="2019-05-01")
    assert decision(conn, earlier) == "ADD"
    later = remember(conn, "The choir has 40 members.", created_at="2025-06-01")
    assert decision(conn, later) == "SUPERSEDE"


def test_what_happened_earlier_supersedes_nothing(conn: Connection[Any]) -> None:
    old = remember(conn, "The side gate is locked at night.", occurred_at="2024-05-01")
    new = remember(conn, "The side gate isn't locked at night.", occurred_at="2024-01-01")
    assert decision(conn, new) == "ADD"
    conn.execute("UPDATE pgrecall.memories SET occurred_at = '2023-01-01' WHERE id = %s", [old])
    assert decision(conn, new) == "SUPERSEDE"


def test_what_is_out_of_the_question(conn: Connection[Any]) -> None:
    old, new = pair(conn)
    for change in ("is_sensitive = true", "deleted_at = now()", f"superseded_by = {new}"):
        for memory in (old, new):
            with conn.transaction(force_rollback=True):
                if change.endswith(str(memory)):
                    continue
                conn.execute(f"UPDATE pgrecall.memories SET {change} WHERE id = %s".encode(), [memory])
                found = conn.execute("SELECT decision FROM pgrecall.decide_curation(%s)", [new]).fetchall()
                assert found == ([("ADD",)] if memory == old else []), change
                assert call(conn, "_pgrecall.classify_pair", {}) == "ADD"


def test_long_texts_are_compared_as_wholes(conn: Connection[Any]) -> None:
    text = "The gate is locked. " + "Nothing else is. " * 200
    _, same = pair(conn, text, text.upper())
    assert decision(conn, same) == "NOOP"
    _, other = pair(conn, text + "a", text + "b", namespace="other", create_namespace=True)
    assert decision(conn, other) == "ADD"


def test_a_short_text_is_not_lost_in_a_long_one(conn: Connection[Any]) -> None:
    long = "Theo has pens. " + " ".join(
        f"On page {number} somebody collects stamps{number}." for number in range(20)
    )
    _, new = pair(conn, long, "Theo collects pens.")
    assert decision(conn, new) == "ADD"


def test_a_concept_of_another_name_is_another_subject(conn: Connection[Any]) -> None:
    """Titles are what memories are about, once they are read."""
    old, new = pair(conn, "The gate is locked.", "The gate is locked.")
    assert decision(conn, new) == "NOOP"
    for memory, name in ((old, "north"), (new, "south")):
        conn.execute(
            """
            WITH made AS (
                INSERT INTO pgrecall.concepts (namespace_id, name, key)
                SELECT m.namespace_id, %(name)s, %(name)s FROM pgrecall.memories m WHERE m.id = %(memory)s
                RETURNING id, namespace_id, key
            ), named AS (
                INSERT INTO pgrecall.concept_aliases (namespace_id, name, alias, concept_id)
                SELECT m.namespace_id, m.key, m.key, m.id FROM made m
                RETURNING namespace_id, id, concept_id
            )
            INSERT INTO pgrecall.mentions (namespace_id, concept_id, memory_id, alias_id, source, is_about)
            SELECT n.namespace_id, n.concept_id, %(memory)s, n.id, 'title', true FROM named n
            """,
            {"name": name, "memory": memory},
        )
    found = decided(conn, new)
    assert (found["decision"], found["evidence"]["is_other_subject"]) == ("ADD", True)


def test_evidence_and_decider_are_checked_before_they_are_stored(conn: Connection[Any]) -> None:
    """A constraint would print the row into the server's log."""
    ids = [remember(conn, content) for content in ("one matter", "another one", "a third")]
    hashes = {number: stored(conn, number)["content_hash"] for number in ids}

    def add(new: int, decider: str | None, evidence: object) -> Any:
        given = (new, ids[0], "ADD", decider, evidence, hashes[new], hashes[ids[0]])
        return call(conn, "pgrecall.apply_curation", *given)

    for evidence in (Jsonb([1]), Jsonb("x"), Jsonb({"x": "y" * 1_000_000})):
        with refused(conn, "22023"):
            add(ids[1], "a-model", evidence)
    for decider in (None, " ", "é" * 513):
        with refused(conn, "22023"):
            add(ids[1], decider, Jsonb({}))
    for new, none in zip(ids[1:], (None, Jsonb(None)), strict=True):
        assert noted(conn, add(new, "é" * 512, none))["evidence"] == {}
