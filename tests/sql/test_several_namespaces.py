"""Recall, explain, timeline, briefing, lists and facts over several namespaces at once."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row

from support.extraction import extract, fact, mention
from support.memories import call, remember, remember_many, rows, scalar
from support.ranking import NORTH, at

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback
ALL = ["me", "team", "project"]


@pytest.fixture(autouse=True)
def _spaces(conn: Connection[Any]) -> None:
    for name in ALL:
        call(conn, "pgrecall.create_namespace", name)


def recalled(
    conn: Connection[Any], query: str, function: str = "recall", **options: Any
) -> list[dict[str, Any]]:
    names = ", ".join(f"{name} => %({name})s" for name in options)
    with conn.cursor(row_factory=dict_row) as cursor:
        statement = f"SELECT * FROM {function}(%(asked)s{', ' if names else ''}{names})"
        return cursor.execute(statement.encode(), {"asked": query, **options}).fetchall()


def notices(conn: Connection[Any]) -> list[str]:
    told: list[str] = []
    conn.add_notice_handler(lambda one: told.append(one.message_primary or ""))
    return told


def test_each_row_tells_its_namespace(conn: Connection[Any]) -> None:
    mine = remember(conn, "the boat needs a new keel", namespace="me")
    ours = remember(conn, "the team meets at the boat house", namespace="team")
    remember(conn, "the boat of nobody")
    found = recalled(conn, "the boat", namespaces=ALL)
    assert {(row["id"], row["namespace_name"]) for row in found} == {(mine, "me"), (ours, "team")}
    assert [row["namespace_name"] for row in recalled(conn, "boat", namespace="team")] == ["team"]
    assert [row["namespace_name"] for row in recalled(conn, "boat")] == ["default"]


def test_names_count_once_and_in_any_order(conn: Connection[Any]) -> None:
    remember(conn, "the boat needs a new keel", namespace="me")
    remember(conn, "the team meets at the boat house", namespace="team")
    asked = (ALL, ALL[::-1], ["me", "team", "me"], [["me"], ["team"]])
    lists = [recalled(conn, "boat", namespaces=names) for names in asked]
    assert len(lists[0]) == 2
    assert {tuple((row["id"], row["score"]) for row in one) for one in lists} == {
        tuple((row["id"], row["score"]) for row in lists[0])
    }


def test_none_is_none_and_one_is_one(conn: Connection[Any]) -> None:
    remember(conn, "a boat")
    remember(conn, "my boat", namespace="me")
    assert recalled(conn, "boat", namespaces=[]) == []
    assert call(conn, "recall_briefing", "boat", namespaces=[]) == ""
    assert rows(conn, "list_memories", namespaces=[]) == []
    assert call(conn, "count_memories", namespaces=[]) == 0
    alone, one_of_one = recalled(conn, "boat", namespace="me"), recalled(conn, "boat", namespaces=["me"])
    assert alone == one_of_one


@pytest.mark.parametrize(
    ("options", "state"),
    [
        ({"namespace": "me", "namespaces": ["team"]}, "22023"),
        ({"namespaces": ["me", None]}, "22023"),
        ({"namespaces": [f"n{place}" for place in range(101)]}, "54000"),
        ({"namespaces": ["me"], "namespace_weights": '{"team": 0.5}'}, "22023"),
        ({"namespaces": ["me"], "namespace_weights": '{"me": 2}'}, "22023"),
        ({"namespaces": ["me"], "namespace_weights": '{"me": -0.1}'}, "22023"),
        ({"namespaces": ["me"], "namespace_weights": '{"me": "1"}'}, "22023"),
        ({"namespaces": ["me"], "namespace_weights": "[1]"}, "22023"),
        ({"namespace": "me", "namespace_weights": '{"me": 1}'}, "22023"),
        ({"settings": '{"namespaces": "{me}"}'}, "22023"),
    ],
)
@pytest.mark.parametrize("function", ["recall", "recall_explain"])
def test_what_is_refused(conn: Connection[Any], options: dict[str, Any], state: str, function: str) -> None:
    with pytest.raises(psycopg.Error) as refusal, conn.transaction():
        recalled(conn, "boat", function, **options)
    assert refusal.value.sqlstate == state
    assert refusal.value.diag.message_hint


def test_a_namespace_that_is_not_there_is_left_out_with_a_notice(conn: Connection[Any]) -> None:
    told = notices(conn)
    mine = remember(conn, "the boat", namespace="me")
    assert [row["id"] for row in recalled(conn, "boat", namespaces=["nowhere", "me"])] == [mine]
    assert told == ['there is no namespace "nowhere" for this role']
    assert recalled(conn, "boat", namespaces=["nowhere"]) == []


def test_a_default_set_is_a_setting(conn: Connection[Any]) -> None:
    mine = remember(conn, "my boat", namespace="me")
    ours = remember(conn, "our boat", namespace="team")
    other = remember(conn, "a boat")

    def ids(**options: Any) -> set[int]:
        return {row["id"] for row in recalled(conn, "boat", **options)}

    assert ids() == {other}
    call(conn, "pgrecall.set_setting", "namespaces", "{me,team}")
    assert ids() == {mine, ours}
    assert ids(namespace="default") == {other}
    assert {row["id"] for row in recalled(conn, "boat", "recall_timeline")} == {mine, ours}
    assert call(conn, "count_memories") == 2
    conn.execute("SET LOCAL pgrecall.namespaces = '{team}'")
    assert ids() == {ours}
    assert (
        remember(conn, "stored in the default namespace")
        in rows(conn, "recall", "stored", namespace="default", k=1)[0]
    )


@pytest.mark.parametrize(
    "bad",
    ["team", '{team,"}', "{team", "{team}}", "{team,}", "{{me},{team}}", "{me,NULL}", "{null}", '{"me"team}'],
)
def test_what_is_no_list_of_namespaces_is_refused_wherever_it_is_set(conn: Connection[Any], bad: str) -> None:
    """Stored, it would fail every recall, and end whoever renames or erases a namespace."""
    with pytest.raises(psycopg.Error) as stored, conn.transaction():
        call(conn, "pgrecall.set_setting", "namespaces", bad)
    conn.execute("SELECT set_config('pgrecall.namespaces', %s, true)", (bad,))
    with pytest.raises(psycopg.Error) as asked, conn.transaction():
        recalled(conn, "boat")
    for refusal in (stored, asked):
        assert refusal.value.sqlstate == "22023"
        assert refusal.value.diag.message_primary == f'pgrecall.namespaces cannot be "{bad}"'
        assert "{me,team}" in (refusal.value.diag.message_hint or "")
    found = scalar(conn, "SELECT detail FROM pgrecall.health() WHERE check_name = 'settings'")
    assert found == "pgrecall.namespaces is out of range"


def test_a_namespace_is_renamed_beside_a_list_that_an_older_version_stored(conn: Connection[Any]) -> None:
    conn.execute("ALTER TABLE pgrecall.settings DISABLE TRIGGER check_stored_setting")
    conn.execute("INSERT INTO pgrecall.settings (name, value) VALUES ('namespaces', '{me}}')")
    conn.execute("ALTER TABLE pgrecall.settings ENABLE TRIGGER check_stored_setting")
    call(conn, "pgrecall.rename_namespace", "me", "mine")
    call(conn, "pgrecall.set_setting", "namespaces", "{mine}")
    assert recalled(conn, "boat") == []


def test_weights_multiply_the_scores(conn: Connection[Any]) -> None:
    mine = remember(conn, "the boat needs a keel", namespace="me")
    ours = remember(conn, "the boat needs a sail", namespace="team")
    plain = {row["id"]: row["score"] for row in recalled(conn, "boat needs", namespaces=["me", "team"])}
    weighed = recalled(conn, "boat needs", namespaces=["me", "team"], namespace_weights='{"me": 0.5}')
    assert [row["id"] for row in weighed] == [ours, mine]
    assert weighed[1]["score"] == pytest.approx(plain[mine] / 2)
    explained = recalled(
        conn, "boat needs", "recall_explain", namespaces=ALL, namespace_weights='{"me": 0.5}'
    )
    assert [(row["id"], row["score"], row["namespace_weight"]) for row in explained] == [
        (row["id"], row["score"], weight) for row, weight in zip(weighed, (1, 0.5), strict=True)
    ]
    assert explained[1]["arithmetic"].startswith("(")
    assert "namespace 0.5 = " in explained[1]["arithmetic"]


# -- that scores compare


TOPICS = (
    [
        "boat",
        "keel",
        "sail",
        "harbour",
        "crane",
        "rope",
        "tide",
        "anchor",
        "storm",
        "captain",
        "deck",
        "mast",
    ],
    [
        "meeting",
        "budget",
        "report",
        "deadline",
        "plan",
        "office",
        "client",
        "invoice",
        "team",
        "desk",
        "memo",
        "boss",
    ],
    ["garden", "rose", "rain", "seed", "soil", "fence", "tulip", "spade", "shed", "lawn", "hedge", "pond"],
)
SHARED = [
    "friday",
    "house",
    "night",
    "winter",
    "phone",
    "road",
    "deposit",
    "list",
    "train",
    "cup",
    "tea",
    "milk",
]


@pytest.fixture
def queries(conn: Connection[Any]) -> list[str]:
    """Queries over the same 600 memories in one namespace, and by topic in three."""
    chance = random.Random(4)
    call(conn, "pgrecall.create_namespace", "whole")
    items = [
        {
            "content": " ".join(chance.choices(TOPICS[place // 10 % 3] + SHARED, k=chance.randint(4, 12))),
            "external_id": str(place), "session": f"s{place // 10}", "position": place % 10,
        }
        for place in range(600)
    ]  # fmt: skip
    remember_many(conn, items, namespace="whole")
    for part, name in enumerate(ALL):
        remember_many(
            conn, [item for place, item in enumerate(items) if place // 10 % 3 == part], namespace=name
        )
    # A memory, without some of its words.
    held = [str(item["content"]).split() for item in chance.sample(items, 60)]
    return [" ".join(chance.sample(words, min(len(words), 4))) for words in held]


def test_the_union_ranks_as_the_whole(conn: Connection[Any], queries: list[str]) -> None:
    """Nearly: statistics of words differ between the parts. Merging what each gives by itself loses more."""
    together = apart = 0
    for query in queries:
        whole = [row["external_id"] for row in recalled(conn, query, namespace="whole")]
        union = [row["external_id"] for row in recalled(conn, query, namespaces=ALL)]
        each = [row for name in ALL for row in recalled(conn, query, namespace=name)]
        merged = [row["external_id"] for row in sorted(each, key=lambda row: -row["score"])[:10]]
        together += len(set(whole) & set(union))
        apart += len(set(whole) & set(merged))
    assert together >= 0.7 * 10 * len(queries)
    assert together > 1.15 * apart


def test_a_namespace_without_the_answer_does_not_come_first(conn: Connection[Any]) -> None:
    """Its best memory is the best of its namespace, and measured against the best of all."""
    answer = remember(conn, "the deposit for the beach house is due on Friday", namespace="team")
    for place in range(30):
        remember(conn, f"the house of neighbour {place} has a garden", namespace="me")
    found = recalled(conn, "deposit for the beach house", namespaces=["me", "team"], k=3)
    assert found[0]["id"] == answer
    assert found[0]["score"] > 1.5 * found[1]["score"]


def test_vectors_of_several_namespaces_compare(conn: Connection[Any]) -> None:
    expected = []
    for place, cosine in enumerate((0.9, 0.8, 0.7, 0.6, 0.5, 0.4)):
        expected.append(remember(conn, f"text {place}", namespace=ALL[place % 3]))
        conn.execute("UPDATE pgrecall.memories SET embedding = %s WHERE id = %s", (at(cosine), expected[-1]))
    found = recalled(conn, "", query_vec=NORTH, namespaces=ALL)
    assert [row["id"] for row in found] == expected


@pytest.mark.parametrize("sort_by", ["importance", "recency"])
def test_other_orders(conn: Connection[Any], sort_by: str) -> None:
    expected = [
        remember(
            conn,
            f"boat {place}",
            namespace=ALL[place % 3],
            importance=1 - place / 10,
            occurred_at=f"2026-01-{20 - place:02d}",
        )
        for place in range(9)
    ]
    found = recalled(conn, "boat", namespaces=ALL, sort_by=sort_by)
    assert [row["id"] for row in found] == expected


def test_rank_fusion_interleaves(conn: Connection[Any]) -> None:
    for name in ALL:
        remember_many(conn, [{"content": f"boat {name} {place}"} for place in range(5)], namespace=name)
    found = recalled(conn, "boat", namespaces=ALL, fusion="rrf", k=6)
    assert (
        {row["namespace_name"] for row in found[:3]}
        == {row["namespace_name"] for row in found[3:]}
        == set(ALL)
    )


# -- filters and the other functions


def test_filters_apply_in_each(conn: Connection[Any]) -> None:
    kept = [remember(conn, f"boat in {name}", namespace=name, tags=["red"]) for name in ALL]
    for name in ALL:
        remember(conn, f"boat in {name}", namespace=name, tags=["blue"])
    assert sorted(row["id"] for row in recalled(conn, "boat", namespaces=ALL, tags_any=["red"])) == kept
    assert (
        sorted(row["id"] for row in recalled(conn, "boat", namespaces=ALL, filter='{"tags_any": ["red"]}'))
        == kept
    )
    assert call(conn, "count_memories", namespaces=ALL, tags_any=["red"]) == 3


def test_a_timeframe_finds_what_mentions_it_in_each(conn: Connection[Any]) -> None:
    said = [
        remember(
            conn, f"the boat race of {name} is on 3 March 2026", namespace=name, occurred_at="2025-01-01"
        )
        for name in ALL
    ]
    remember(conn, "the boat race was dull", namespace="me", occurred_at="2025-01-01")
    options: dict[str, Any] = {"timeframe": "[2026-03-01,2026-03-31)", "namespaces": ALL}
    assert sorted(row["id"] for row in recalled(conn, "boat race", **options)) == said
    assert sorted(row["id"] for row in recalled(conn, "boat race", "recall_explain", **options)) == said
    assert sorted(rows(conn, "list_memories", **options), key=lambda row: row[0])[0][0] == said[0]
    assert call(conn, "recall_briefing", "boat race", **options).count("<memory") == 3


def test_as_of(conn: Connection[Any]) -> None:
    old = remember(conn, "the boat is red", namespace="team", created_at="2026-01-01")
    call(conn, "supersede", old, "the boat is blue")
    past = recalled(conn, "the boat", namespaces=ALL, as_of="2026-02-01")
    assert [row["id"] for row in past] == [old]


def test_explain_is_recall_with_reasons(conn: Connection[Any]) -> None:
    for name in ALL:
        remember_many(
            conn, [{"content": f"boat {'keel ' * place}{name}"} for place in range(5)], namespace=name
        )
    elsewhere = remember(conn, "boat of the default namespace")
    plain = [
        (row["id"], row["score"], row["namespace_name"])
        for row in recalled(conn, "boat keel", namespaces=ALL, k=4)
    ]
    explained = recalled(conn, "boat keel", "recall_explain", namespaces=ALL, k=4)
    assert [(row["id"], row["score"], row["namespace_name"]) for row in explained] == plain
    ids = [*rows_of(conn, "me"), elsewhere, 10**12]
    reasons = {
        row["id"]: row for row in recalled(conn, "boat keel", "recall_explain", namespaces=ALL, k=4, ids=ids)
    }
    assert set(reasons) == set(ids)
    assert reasons[elsewhere]["reason"] == "in another namespace"
    assert reasons[10**12]["reason"] == "no such memory"
    outside = [row for row in reasons.values() if row["namespace_name"] == "me" and row["place"] is None]
    assert outside
    assert all(row["reason"].startswith("below the cut: place ") for row in outside)


def rows_of(conn: Connection[Any], name: str) -> list[int]:
    return [row[0] for row in rows(conn, "list_memories", namespace=name)]


def test_a_timeline_of_several(conn: Connection[Any]) -> None:
    for place in range(6):
        remember(
            conn,
            f"boat {place}",
            namespace=ALL[place % 2],
            session="one",
            occurred_at=f"2026-01-0{place + 1}",
        )
    found = recalled(conn, "boat", "recall_timeline", namespaces=ALL)
    assert [row["namespace_name"] for row in found] == ["me", "team"] * 3
    assert all(row["is_new_session"] for row in found)


def test_pages_of_a_list(conn: Connection[Any]) -> None:
    for place in range(25):
        remember(conn, f"boat {place}", namespace=ALL[place % 3], occurred_at=f"2026-01-{place // 2 + 1:02d}")
    for oldest_first in (False, True):
        seen: list[int] = []
        while page := rows(
            conn, "list_memories", namespaces=ALL, max_results=4, oldest_first=oldest_first,
            **({"after_id": seen[-1]} if seen else {}),
        ):  # fmt: skip
            seen += [row[0] for row in page]
        every = scalar(
            conn,
            "SELECT array_agg(id ORDER BY occurred_at, id) FROM pgrecall.memories WHERE content LIKE 'boat%%'",
        )
        assert seen == (every if oldest_first else every[::-1])


def test_facts_of_several(conn: Connection[Any]) -> None:
    for name, town in (("me", "Kochi"), ("team", "Lisbon")):
        number = remember(conn, f"Priya lives in {town}", namespace=name)
        said = {"mentions": [mention("Priya"), mention(town)], "facts": [fact("Priya", "lives in", town)]}
        extract(conn, {number: said})
    found = recalled(conn, "Where does Priya live?", "recall_facts", namespaces=["me", "team"])
    assert {(row["object"], row["namespace_name"]) for row in found} == {("Kochi", "me"), ("Lisbon", "team")}
    text = call(conn, "recall_briefing", "Where does Priya live?", namespaces=["me", "team"])
    assert text.count("<fact") == 2
