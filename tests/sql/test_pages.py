"""Pages: what is on them, their budget, and what a reader sees of them while memories change."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.facts import fact, told
from support.memories import call, refused, remember, rows, scalar, share
from support.roles import denied, role

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

pytestmark = pytest.mark.rollback

ALL = ["facts", "preferences", "open", "recent"]


def lines(
    conn: Connection[Any], name: str = "about-user", namespace: str | None = None
) -> list[tuple[str, str]]:
    """Return section and text of each line of a page."""
    [row] = rows(conn, "pgrecall.page", name, namespace)
    return [(line["section"], line["text"]) for line in row[1]]


def texts(conn: Connection[Any], name: str = "about-user") -> list[str]:
    return [text for _, text in lines(conn, name)]


def stale(conn: Connection[Any], name: str = "about-user") -> bool:
    [row] = rows(conn, "pgrecall.page", name)
    return row[3] is not None


def refresh(conn: Connection[Any]) -> int:
    """Fill what is behind, however short a time it is; return how many pages were filled."""
    call(conn, "pgrecall.set_setting", "page_delay", "0 seconds")
    filled = 0
    while one := call(conn, "pgrecall.refresh_pages"):
        filled += one
    return filled


def filled(conn: Connection[Any]) -> dict[str, int]:
    """A namespace with a memory for each section, and both default pages."""
    made = {
        "fact": told(conn, "Ana lives in Oslo", fact("Ana", "lives in", "Oslo")),
        "preference": remember(conn, "I prefer tea to coffee", speaker="user"),
        "open": remember(conn, "The rent must be paid by Friday"),
        "recent": remember(conn, "We went to the sea"),
    }
    call(conn, "pgrecall.set_default_pages")
    return made


# --- What is on a page ---


def test_a_page_has_its_sections_in_order_and_names_the_memories(conn: Connection[Any]) -> None:
    made = filled(conn)
    assert lines(conn) == [
        ("facts", "Ana lives in Oslo"),
        ("preferences", "user: I prefer tea to coffee"),
        ("open", "The rent must be paid by Friday"),
        ("recent", "We went to the sea"),
    ]
    [row] = rows(conn, "pgrecall.page", "about-user")
    assert [line["memory_ids"] for line in row[1]] == [[one] for one in made.values()]


def test_the_recent_page_has_the_newest_first(conn: Connection[Any]) -> None:
    filled(conn)
    remember(conn, "The sea was cold", occurred_at="2024-05-01")
    call(conn, "pgrecall.set_page", "recent", sections=["recent"])
    assert texts(conn, "recent")[-1] == "The sea was cold"
    assert len(texts(conn, "recent")) == 5


@pytest.mark.parametrize(
    ("category", "section"),
    [
        ("decision", "facts"),
        ("preference", "preferences"),
        ("todo", "open"),
        ("other", "recent"),
        (None, "recent"),
    ],
)
def test_a_category_says_where_a_memory_belongs(
    conn: Connection[Any], category: str | None, section: str
) -> None:
    remember(conn, "The blue one", category=category)
    call(conn, "pgrecall.set_page", "about-user")
    assert lines(conn) == [(section, "The blue one")]


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("Ana likes to swim", "preferences"),
        ("My favourite colour is green", "preferences"),
        ("Ich mag keine Oliven", "preferences"),
        ("Je préfère le thé", "preferences"),
        ("She looks like her mother", "recent"),
        ("Remind me to call Bo", "open"),
        ("Der Antrag ist bis Freitag fällig", "open"),
        ("The mustard is in the cupboard", "recent"),
    ],
)
def test_a_text_says_where_a_memory_belongs(conn: Connection[Any], text: str, section: str) -> None:
    remember(conn, text)
    call(conn, "pgrecall.set_page", "about-user")
    assert lines(conn) == [(section, text)]


def test_what_only_asks_and_what_was_said_before_is_left_out(conn: Connection[Any]) -> None:
    remember(conn, "Where did I leave the key?")
    remember(conn, "The key is in the drawer", session="a", position=1)
    remember(conn, "the key is in the drawer", session="b", position=1)
    call(conn, "pgrecall.set_page", "about-user")
    assert texts(conn) == ["the key is in the drawer"]


def test_what_is_to_come_is_open(conn: Connection[Any]) -> None:
    remember(conn, "Dinner with Bo", occurred_at="2199-01-01")
    call(conn, "pgrecall.set_page", "about-user")
    assert lines(conn) == [("open", "Dinner with Bo")]


def test_a_preference_is_found_however_old_it_is(conn: Connection[Any]) -> None:
    remember(conn, "Ana prefers window seats", occurred_at="2020-01-01")
    remember(conn, "Row 12", category="preference", occurred_at="2020-01-01")
    conn.execute(
        "SELECT remember_many((SELECT jsonb_agg(jsonb_build_object('content', 'entry ' || n, 'occurred_at', '2025-01-01'))"
        " FROM generate_series(1, 400) n))"
    )
    call(conn, "pgrecall.set_page", "about-user")
    assert {"Ana prefers window seats", "Row 12"} <= set(texts(conn))


def test_a_page_with_a_question_has_what_its_recall_finds(conn: Connection[Any]) -> None:
    filled(conn)
    remember(conn, "The beach house must get a new roof")
    remember(conn, "The beach house was built by Bo")
    call(conn, "pgrecall.set_page", "beach", "beach house")
    assert lines(conn, "beach") == [
        ("open", "The beach house must get a new roof"),
        ("recent", "The beach house was built by Bo"),
    ]


def test_a_fact_that_has_ended_is_none(conn: Connection[Any]) -> None:
    told(conn, "Ana lived in Rome", fact("Ana", "lives in", "Rome", valid_to="2024-01-01T00:00:00+00:00"))
    told(conn, "Bo works at Acme", fact("Bo", "works at", "Acme"))
    call(conn, "pgrecall.set_page", "about-user")
    assert lines(conn) == [("facts", "Bo works at Acme"), ("recent", "Ana lived in Rome")]


def test_a_fact_is_quoted_only_in_the_words_of_its_memory(conn: Connection[Any]) -> None:
    told(conn, "She lives there", fact("Ana", "lives in", "Oslo", statement="Ana lives in Oslo"))
    told(
        conn,
        "As I said, Bo plays chess. It rains.",
        fact("Bo", "plays", "chess", statement="Bo plays chess."),
    )
    call(conn, "pgrecall.set_page", "about-user")
    assert sorted(texts(conn)) == ["Bo plays chess.", "She lives there"]


# --- Its budget ---


def test_a_page_keeps_its_budget_in_characters(conn: Connection[Any]) -> None:
    for number in range(30):
        remember(conn, f"entry number {number:02}")
    call(conn, "pgrecall.set_page", "about-user", budget=100)
    assert len(texts(conn)) == 6  # 16 characters and a line end each
    assert sum(len(text) + 1 for text in texts(conn)) <= 100


def test_a_page_keeps_its_budget_in_tokens(conn: Connection[Any]) -> None:
    for number in range(30):
        remember(conn, f"記憶の番号 {number:02}")
    call(conn, "pgrecall.set_page", "about-user", budget=50, unit="tokens")
    assert 0 < sum((len(text.encode()) + 3) // 3 for text in texts(conn)) <= 50


def test_an_earlier_section_goes_first_and_leaves_half_for_the_others(conn: Connection[Any]) -> None:
    for number in range(20):
        remember(conn, f"Ana prefers no {number:02}")
        remember(conn, f"it happened on {number:02}")
    call(conn, "pgrecall.set_page", "about-user", budget=200)
    sections = [section for section, _ in lines(conn)]
    assert (sections.count("preferences"), sections.count("recent")) == (5, 6)
    call(conn, "pgrecall.set_page", "about-user", budget=200, sections=["recent", "preferences"])
    assert lines(conn)[0][0] == "recent"


def test_a_long_memory_is_cut(conn: Connection[Any]) -> None:
    remember(conn, "word " * 500)
    call(conn, "pgrecall.set_page", "about-user")
    [text] = texts(conn)
    assert len(text) <= 200
    assert text.endswith("…")


# --- What leaves it at once ---


CHANGES: dict[str, Callable[[Connection[Any], int], Any]] = {
    "forgotten": lambda conn, one: call(conn, "forget", one),
    "sensitive": lambda conn, one: conn.execute(
        "UPDATE pgrecall.memories SET is_sensitive = true WHERE id = %s", (one,)
    ),
    "superseded": lambda conn, one: call(conn, "supersede", one, "We stayed at home"),
    "edited": lambda conn, one: call(conn, "update_memory", one, content="We went to the hills"),
    "erased": lambda conn, one: rows(conn, "erase", one),
    "deleted": lambda conn, one: conn.execute("DELETE FROM pgrecall.memories WHERE id = %s", (one,)),
    "over": lambda conn, one: call(conn, "update_memory", one, valid_to="2024-01-01"),
}


@pytest.mark.parametrize("how", CHANGES)
def test_what_is_changed_leaves_its_pages_at_once(conn: Connection[Any], how: str) -> None:
    made = filled(conn)
    assert not stale(conn)
    CHANGES[how](conn, made["recent"])
    for name in ("about-user", "recent"):
        assert "We went to the sea" not in texts(conn, name)
        assert stale(conn, name)
    assert scalar(conn, "SELECT count(*) FROM pgrecall.page_lines WHERE text = 'We went to the sea'") == 0
    assert refresh(conn) == 2
    assert "We went to the sea" not in texts(conn)
    assert not stale(conn)


def test_a_page_follows_every_column_that_a_search_reads(conn: Connection[Any]) -> None:
    columns = """
        SELECT array_agg(a.attname::text) FROM pg_trigger t
        JOIN pg_attribute a ON a.attrelid = t.tgrelid AND a.attnum = ANY (t.tgattr::smallint[])
        WHERE t.tgrelid = 'pgrecall.memories'::regclass AND t.tgname = %s
    """
    derived = set(scalar(conn, columns, "memories_10_derive")) - {"content_hash", "search_vector"}
    followed = set(scalar(conn, columns, "memories_92_pages_update"))
    assert derived <= followed
    condition = scalar(
        conn,
        "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgname = 'memories_92_pages_update'",
    )
    for row in ("old", "new"):
        compared = set(re.findall(rf"\b{row}\.(\w+)", condition))
        # The scan for secrets changes these too, whatever of what it scans a statement names.
        assert followed - compared == {"metadata", "source"}
        assert compared <= followed


@pytest.mark.parametrize("change", [{"tags": ["allergy"]}, {"expanded_keywords": ["allergy"]}])
def test_a_page_with_a_question_follows_tags_and_keywords(
    conn: Connection[Any], change: dict[str, Any]
) -> None:
    number = remember(conn, "No peanuts for Priya")
    call(conn, "pgrecall.set_page", "asked", "allergy")
    refresh(conn)
    assert "No peanuts for Priya" not in texts(conn, "asked")
    call(conn, "update_memory", number, **change)
    assert stale(conn, "asked")
    refresh(conn)
    assert "No peanuts for Priya" in texts(conn, "asked")


def test_a_line_that_is_over_is_not_returned_though_nobody_fills_the_page(conn: Connection[Any]) -> None:
    made = filled(conn)
    call(conn, "update_memory", made["recent"], expires_at="2199-01-01")
    refresh(conn)
    assert "We went to the sea" in texts(conn)
    assert scalar(
        conn,
        "SELECT bool_and(valid_until = '2199-01-01') FROM pgrecall.page_lines WHERE memory_id = %s",
        made["recent"],
    )
    conn.execute("UPDATE pgrecall.page_lines SET valid_until = now() WHERE valid_until IS NOT NULL")
    assert "We went to the sea" not in texts(conn)
    assert stale(conn)
    assert refresh(conn) == 2


def test_a_receipt_counts_the_lines(conn: Connection[Any]) -> None:
    made = filled(conn)
    [receipt] = rows(conn, "erase", made["recent"])
    assert receipt[5]["page_lines"] == 2


def test_a_restored_memory_comes_back(conn: Connection[Any]) -> None:
    made = filled(conn)
    call(conn, "forget", made["recent"])
    refresh(conn)
    call(conn, "restore", made["recent"])
    assert stale(conn)
    refresh(conn)
    assert "We went to the sea" in texts(conn)


def test_a_memory_that_moves_to_another_namespace_leaves_the_page(conn: Connection[Any]) -> None:
    made = filled(conn)
    home = call(conn, "pgrecall.create_namespace", "other")
    call(conn, "pgrecall.set_page", "about-user", namespace="other")
    conn.execute("UPDATE pgrecall.memories SET namespace_id = %s WHERE id = %s", (home, made["recent"]))
    assert "We went to the sea" not in texts(conn)
    refresh(conn)
    assert lines(conn, namespace="other") == [("recent", "We went to the sea")]


def test_nothing_sensitive_is_on_a_page(conn: Connection[Any]) -> None:
    remember(conn, "Ana prefers a secret", is_sensitive=True)
    call(conn, "pgrecall.set_page", "about-user")
    call(conn, "pgrecall.set_page", "asked", "secret Ana")
    assert texts(conn) == texts(conn, "asked") == []


# --- How it is kept up to date ---


def test_a_new_memory_a_fact_and_the_end_of_a_fact_make_a_page_stale(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.set_page", "about-user")
    steps: list[Callable[[], Any]] = [
        lambda: remember(conn, "We went to the sea"),
        lambda: told(conn, "Ana lives in Oslo", fact("Ana", "lives in", "Oslo")),
        lambda: conn.execute("UPDATE pgrecall.relationships SET valid_to = now()"),
    ]
    for step in steps:
        assert not stale(conn)
        step()
        assert stale(conn)
        assert refresh(conn) == 1
    assert lines(conn) == [("recent", "Ana lives in Oslo"), ("recent", "We went to the sea")]


def test_an_embedding_makes_no_page_stale(conn: Connection[Any]) -> None:
    made = filled(conn)
    conn.execute(
        "UPDATE pgrecall.memories SET importance = 0.7, updated_at = now() WHERE id = %s", (made["fact"],)
    )
    assert not stale(conn)


def test_a_page_is_filled_after_the_delay_and_not_before(conn: Connection[Any]) -> None:
    filled(conn)
    remember(conn, "The sea was cold")
    assert call(conn, "pgrecall.refresh_pages") == 0
    conn.execute("UPDATE pgrecall.page_changes SET changed_at = changed_at - interval '1 minute'")
    assert call(conn, "pgrecall.refresh_pages") == 0  # it was filled just now
    conn.execute("UPDATE pgrecall.pages SET refreshed_at = refreshed_at - interval '1 minute'")
    assert call(conn, "pgrecall.refresh_pages") == 2
    assert call(conn, "pgrecall.refresh_pages") == 0
    assert "The sea was cold" in texts(conn)


def test_a_new_page_is_filled_once_more_after_a_minute_and_every_page_once_a_day(
    conn: Connection[Any],
) -> None:
    call(conn, "pgrecall.set_page", "about-user")
    conn.execute(
        "UPDATE pgrecall.pages SET made_at = made_at - interval '61 seconds', refreshed_at = refreshed_at - interval '61 seconds'"
    )
    # As a writer does that did not see the page.
    conn.execute("SET session_replication_role = replica")
    conn.execute(
        "INSERT INTO pgrecall.memories (namespace_id, content, language, content_hash, search_vector)"
        " VALUES (1, 'We went to the sea', 'english', '', '')"
    )
    conn.execute("RESET session_replication_role")
    assert not stale(conn)
    assert call(conn, "pgrecall.refresh_pages") == 1
    assert texts(conn) == ["We went to the sea"]
    assert call(conn, "pgrecall.refresh_pages") == 0
    conn.execute(
        "UPDATE pgrecall.pages SET made_at = '2024-01-01', refreshed_at = now() - interval '25 hours'"
    )
    assert call(conn, "pgrecall.refresh_pages") == 1
    assert call(conn, "pgrecall.refresh_pages") == 0


def test_a_namespace_without_pages_notes_nothing(conn: Connection[Any]) -> None:
    one = remember(conn, "We went to the sea")
    call(conn, "forget", one)
    assert scalar(conn, "SELECT count(*) FROM pgrecall.page_changes") == 0


def test_many_changes_are_one_note(conn: Connection[Any]) -> None:
    filled(conn)
    for number in range(5):
        call(conn, "forget", remember(conn, f"entry {number}"))
    assert scalar(conn, "SELECT count(*) FROM pgrecall.page_changes") == 1


def test_every_namespace_that_is_behind_has_its_turn(conn: Connection[Any]) -> None:
    for number in range(5):
        call(conn, "pgrecall.create_namespace", f"n{number}")
        call(conn, "pgrecall.set_page", "about-user", namespace=f"n{number}")
        remember(conn, f"entry {number}", namespace=f"n{number}")
    assert refresh(conn) == 5
    assert [lines(conn, namespace=f"n{n}") for n in range(5)] == [
        [("recent", f"entry {n}")] for n in range(5)
    ]


def test_health_tells_what_is_behind(conn: Connection[Any]) -> None:
    filled(conn)
    remember(conn, "The sea was cold")
    health = "SELECT status FROM pgrecall.health() WHERE check_name = 'pages'"
    assert scalar(conn, health) == "ok"
    conn.execute("UPDATE pgrecall.page_changes SET changed_at = changed_at - interval '1 hour'")
    assert scalar(conn, health) == "warn"
    for name in ("about-user", "recent"):
        call(conn, "pgrecall.drop_page", name)
    assert scalar(conn, health) == "ok"


# --- Making, listing, dropping ---


def test_default_pages_leave_what_is_there(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.set_page", "about-user", "Ana", 500)
    call(conn, "pgrecall.set_default_pages")
    listed = {row[0]: row[1:5] for row in rows(conn, "pgrecall.list_pages")}
    assert listed == {
        "about-user": ("Ana", ALL, 500, "characters"),
        "recent": (None, ["recent", "open"], 2000, "characters"),
    }


def test_another_question_withdraws_the_answer_to_the_first(conn: Connection[Any]) -> None:
    filled(conn)
    call(conn, "pgrecall.set_page", "about-user", "a boat")
    assert texts(conn) == []


def test_a_page_is_dropped_with_its_lines(conn: Connection[Any]) -> None:
    filled(conn)
    assert call(conn, "pgrecall.drop_page", "recent") is True
    assert call(conn, "pgrecall.drop_page", "recent") is False
    assert rows(conn, "pgrecall.page", "recent") == []
    assert scalar(conn, "SELECT count(*) FROM pgrecall.page_lines WHERE page = 'recent'") == 0


def test_a_page_of_no_namespace_has_no_row(conn: Connection[Any]) -> None:
    assert rows(conn, "pgrecall.page", "about-user", "nowhere") == []
    assert rows(conn, "pgrecall.list_pages", "nowhere") == []
    with refused(conn, "42704"):
        call(conn, "pgrecall.set_page", "about-user", namespace="nowhere")


@pytest.mark.parametrize(
    "options",
    [
        {"name": None},
        {"name": ""},
        {"name": "About User"},
        {"name": "x" * 101},
        {"question": "  "},
        {"budget": 49},
        {"budget": 100_001},
        {"budget": None},
        {"unit": "words"},
        {"unit": None},
        {"sections": []},
        {"sections": ["facts", "facts"]},
        {"sections": ["secrets"]},
        {"sections": [None]},
        {"sections": [["facts", "open"]]},
    ],
)
def test_what_no_page_can_be_is_refused(conn: Connection[Any], options: dict[str, Any]) -> None:
    with refused(conn, "22023"):
        call(conn, "pgrecall.set_page", **{"name": "about-user"} | options)


def test_a_namespace_has_at_most_32_pages(conn: Connection[Any]) -> None:
    for number in range(32):
        call(conn, "pgrecall.set_page", f"page-{number}")
    call(conn, "pgrecall.set_page", "page-1", "tea")
    with refused(conn, "54000"):
        call(conn, "pgrecall.set_page", "one-more")
    with refused(conn, "54000"):
        call(conn, "pgrecall.set_page", "page-1", "x" * 16_385)


def test_a_page_follows_its_namespace(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.create_namespace", "old")
    remember(conn, "We went to the sea", namespace="old")
    call(conn, "pgrecall.set_default_pages", "old")
    call(conn, "pgrecall.rename_namespace", "old", "new")
    assert lines(conn, namespace="new") == [("recent", "We went to the sea")]
    [receipt] = rows(conn, "erase_namespace", "new")
    assert receipt[-1]["pages"] == receipt[-1]["page_lines"] == 2
    tables = ("pages", "page_lines", "page_changes")
    assert [scalar(conn, f"SELECT count(*) FROM pgrecall.{table}") for table in tables] == [0, 0, 0]


def test_an_export_has_the_pages_and_the_import_fills_them(conn: Connection[Any]) -> None:
    filled(conn)
    call(conn, "pgrecall.set_page", "beach", "the sea", 500, "tokens", ["recent"])
    exported = [line for line in rows(conn, "pgrecall.export_records") if '"kind": "page"' in line]
    before = texts(conn, "beach")
    for name in ("about-user", "recent", "beach"):
        call(conn, "pgrecall.drop_page", name)
    query = "SELECT i.outcome FROM pgrecall.import_records(%s::jsonb) i"
    given = "[" + ",".join(exported) + "]"
    assert conn.execute(query, (given,)).fetchall() == [("stored",)] * 3
    assert conn.execute(query, (given,)).fetchall() == [("present",)] * 3
    assert texts(conn, "beach") == before == ["We went to the sea"]
    for wrong in ('"tokens", "extra": 1', "7"):
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            conn.execute(query, (given.replace('"tokens"', wrong),))
    assert {row[0] for row in conn.execute(query, (given.replace("500", "1e99"),))} == {"present", "differs"}
    call(conn, "pgrecall.drop_page", "beach")
    for old, new in (("500", "1e99"), ("500", "1"), ('"tokens"', '"words"'), ('["recent"]', '[["recent"]]')):
        assert old in given
        with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
            conn.execute(query, (given.replace(old, new),))
        assert "the sea" not in str(caught.value)


# --- In a briefing ---


def test_a_briefing_begins_with_the_page_and_does_not_repeat_it(conn: Connection[Any]) -> None:
    filled(conn)
    told = call(conn, "recall_briefing", "the sea").splitlines()
    assert [line.split(" ")[0] for line in told[2:6]] == ["<fact", "<preference", "<open", "<recent"]
    assert sum("We went to the sea" in line for line in told) == 1
    call(conn, "pgrecall.drop_page", "about-user")
    assert "<recent" not in call(conn, "recall_briefing", "the sea")


def test_a_briefing_with_a_filter_has_no_page(conn: Connection[Any]) -> None:
    filled(conn)
    assert "tea" not in call(conn, "recall_briefing", "the sea", speakers=["Bo"])


def test_the_page_takes_a_third_of_a_briefing_at_most(conn: Connection[Any]) -> None:
    for number in range(60):
        remember(conn, f"Ana prefers the colour {number}")
    remember(conn, "The harbour is closed")
    call(conn, "pgrecall.set_default_pages")
    told = call(conn, "recall_briefing", "harbour", max_chars=900)
    assert len(told) <= 900
    assert sum(len(line) + 1 for line in told.splitlines() if line.startswith("<preference")) <= 300
    assert "The harbour is closed" in told


# --- Who may ---


def test_a_reader_reads_and_a_writer_makes(conn: Connection[Any]) -> None:
    filled(conn)
    share(conn, access="read")
    with role(conn, "pgrecall_writer"):
        assert len(lines(conn)) == 4
        denied(conn, "SELECT pgrecall.set_page('about-user')", "SELECT pgrecall.drop_page('about-user')")
    share(conn)
    with role(conn, "pgrecall_writer"):
        call(conn, "pgrecall.set_page", "mine", "the sea")
        assert texts(conn, "mine") == ["We went to the sea"]
