"""recall() reads the time that a question names: which phrases, which memories it raises, and that none is excluded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall.query.legs import BOOSTS, LEGS
from support.memories import remember
from support.question_times import DIARY, GERMAN, GERMAN_QUESTIONS, LOG, LOG_QUESTIONS, QUESTIONS

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

ASKED = datetime(2026, 11, 18, 12, tzinfo=UTC)
"""A Wednesday."""
ON = '{"question_time": 0.3}'


def period(conn: Connection[Any], query: str, zone: str = "UTC") -> str | None:
    """The period that a query names, as days or moments of UTC, if the prefilter lets it pass."""
    conn.execute("SELECT set_config('TimeZone', %s, true)", [zone])
    row = conn.execute(
        "SELECT p.period FROM _pgrecall.question_period(%s, %s) p (period) WHERE ' ' || lower(%s) LIKE ANY (_pgrecall.question_time_hints())",
        (query, ASKED, query),
    ).fetchone()
    if row is None or row[0] is None:
        return None
    ends = [None if end is None else end.astimezone(UTC) for end in (row[0].lower, row[0].upper)]
    return " ".join("" if end is None else f"{end:%Y-%m-%d %H:%M}".removesuffix(" 00:00") for end in ends)


def found(conn: Connection[Any], query: str, k: int = 3, settings: str = ON, **options: object) -> list[str]:
    names = "".join(f", {name} => %({name})s" for name in options)
    return [
        row[0]
        for row in conn.execute(
            (
                "SELECT external_id FROM recall(%(query)s, k => %(k)s, settings => %(settings)s, "
                f"reference_time => %(asked)s{names})"
            ).encode(),
            {"query": query, "k": k, "settings": settings, "asked": ASKED, **options},
        )
    ]


def keep(conn: Connection[Any], entries: dict[str, str], **fields: object) -> None:
    for day, text in entries.items():
        remember(conn, text, occurred_at=f"{day} 10:00+00", external_id=day, **fields)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what happened last weekend?", "2026-11-14 2026-11-16"),
        ("What did we note about the parser last week?", "2026-11-09 2026-11-16"),
        ("anything on Saturday?", "2026-11-14 2026-11-15"),
        ("what did I do Saturday?", "2026-11-14 2026-11-15"),
        ("what was in October?", "2026-10-01 2026-11-01"),
        ("two days ago", "2026-11-16 2026-11-17"),
        ("what was said on 14 September?", "2026-09-14 2026-09-15"),
        ("what was said on September 14th, 2025?", "2025-09-14 2025-09-15"),
        ("the plans of 2026-09-14", "2026-09-14 2026-09-15"),
        ("the week before last", "2026-11-02 2026-11-09"),
        ("what did I cook over the weekend", "2026-11-14 2026-11-16"),
        ("news since yesterday", "2026-11-17 "),
        ("the call yesterday morning", "2026-11-17 06:00 2026-11-17 12:00"),
        ("who came last Christmas?", "2025-12-25 2025-12-26"),
        ("meetings next week", "2026-11-23 2026-11-30"),
        ("what did I eat today?", "2026-11-18 2026-11-19"),
        ("compare 3 October and 5 October", "2026-10-03 2026-10-06"),
        # other languages
        ("Was habe ich gestern gemacht?", "2026-11-17 2026-11-18"),
        ("Was war letzte Woche los?", "2026-11-09 2026-11-16"),
        ("Wen traf ich vor zwei Tagen?", "2026-11-16 2026-11-17"),
        ("Was war am 14. September?", "2026-09-14 2026-09-15"),
        ("Was geschah im Oktober?", "2026-10-01 2026-11-01"),
        ("¿Qué pasó ayer?", "2026-11-17 2026-11-18"),
        ("¿Qué hice la semana pasada?", "2026-11-09 2026-11-16"),
        ("el fin de semana pasado", "2026-11-14 2026-11-16"),
        ("hace dos días", "2026-11-16 2026-11-17"),
        ("qu'avons-nous fait hier ?", "2026-11-17 2026-11-18"),
        ("la semaine dernière", "2026-11-09 2026-11-16"),
        ("il y a deux jours", "2026-11-16 2026-11-17"),
        ("что было вчера", "2026-11-17 2026-11-18"),
        ("на прошлой неделе", "2026-11-09 2026-11-16"),
        ("昨天做了什么", "2026-11-17 2026-11-18"),
        ("上周做了什么", "2026-11-09 2026-11-16"),
    ],
)
def test_a_time_in_a_question(conn: Connection[Any], query: str, expected: str) -> None:
    assert period(conn, query) == expected


@pytest.mark.parametrize(
    "query",
    [
        "who fought in the second world war?", "can May come?", "when may I call?", "march to the tune", "the march of time",
        "a minute of silence", "this time it works", "what now?", "in the first sprint", "Black Friday deals",
        "is Good Friday a holiday", "who was on Saturday Night Live?", "on Saturdays", "the last of the Mohicans",
        "next to the house", "a second opinion", "the fall of Rome", "spring framework", "which firms are listed today?",
        "Was ist hier los?", "August Macke", "before Monday", "until 2025", "the year 3000 problem", "", "day", "🦆",
        "port 2024", "the last day of the dinosaurs",
    ],
)  # fmt: skip
def test_no_time_in_a_question(conn: Connection[Any], query: str) -> None:
    assert period(conn, query) is None


@pytest.mark.parametrize(
    "message",
    [
        "I tried the new exercise today, and my back felt shaky. Should I stop doing it?",
        "We talked last night. He thinks the plan is too cautious! Can we split it?",
        "Hi. My son was ill this week...\nWhat was the name of the syrup?",
        "Ich war gestern beim Zahnarzt. Wie heißt die Salbe?",
        "昨天我去了医院。那种药叫什么？",
        "Yesterday I put the heating on. Who pays for it?",
        "Last week Ann was with us. Did she like me?",
        "Today the boiler gave up. Whom do I call?",
    ],
)
def test_what_somebody_tells_before_a_question_is_no_time_of_it(conn: Connection[Any], message: str) -> None:
    assert period(conn, message) is None


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("Hi, it is me again. What did we do yesterday?", "what did we do yesterday?"),
        ("What happened last week? I forgot.", "what happened last week?"),
        ("Was war am 16. Oktober mit Dr. Weiss?", "Was war am 16. Oktober?"),
        ("Tell me what happened last week. Be brief.", "what happened last week"),
        ("On 14 September at St. Anne's, what did Prof. Moss say?", "on 14 September"),
        ("他怎么样？上周发生了什么？", "上周发生了什么？"),
        ('She asked: "what did we do last weekend?"', "what did we do last weekend?"),
    ],
)
def test_the_time_of_the_question_in_a_message(conn: Connection[Any], message: str, asked: str) -> None:
    assert period(conn, message) == period(conn, asked) is not None


def test_days_are_those_of_the_session(conn: Connection[Any]) -> None:
    assert period(conn, "yesterday", "America/Los_Angeles") == "2026-11-17 08:00 2026-11-18 08:00"
    assert period(conn, "yesterday", "Asia/Tokyo") == "2026-11-16 15:00 2026-11-17 15:00"


@pytest.mark.parametrize(
    ("entries", "questions", "language", "least"),
    [
        (DIARY, QUESTIONS, "english", 19),
        (LOG, LOG_QUESTIONS, "english", 14),
        (GERMAN, GERMAN_QUESTIONS, "german", 5),
    ],
    ids=["diary", "log", "German"],
)
def test_entries_of_that_time_come_first(
    conn: Connection[Any],
    entries: dict[str, str],
    questions: dict[str, tuple[str, ...]],
    language: str,
    least: int,
) -> None:
    keep(conn, entries, language=language)
    conn.execute("SELECT set_config('TimeZone', 'UTC', true)")

    def answered(settings: str) -> int:
        return sum(
            bool({*found(conn, question, settings=settings)} & {*wanted})
            for question, wanted in questions.items()
        )

    assert answered(ON) >= least
    assert answered('{"question_time": 0}') < len(questions) / 2


def test_what_mentions_the_time_is_raised(conn: Connection[Any]) -> None:
    keep(conn, {"2026-11-01": "Tea with Ann.", "2026-11-02": "Tea with Ben on 14 September 2026."})
    assert found(conn, "tea on 14 September?", settings='{"question_time": 0.5}')[0] == "2026-11-02"
    assert found(conn, "what happened on 14 September?", k=1) == ["2026-11-02"]


@pytest.mark.parametrize(
    ("mentioned", "share"),
    [
        ("14 September 2026", 1),
        ("14 September 2026 at 10:00", 1),
        ("September 2026", 1 / 30),
        ("2026", 1 / 365),
    ],
)
def test_a_longer_time_that_is_mentioned_counts_less(
    conn: Connection[Any], mentioned: str, share: float
) -> None:
    keep(conn, {"2025-11-01": f"Tea with Ann in {mentioned}.", "2025-11-02": "Tea with Ben."})
    conn.execute("SELECT set_config('TimeZone', 'UTC', true)")
    query = (
        "SELECT time_part, top - (relevance - time_part) "
        "FROM recall_explain('violins and zebras on 14 September 2026', settings => %s, reference_time => %s, "
        "ids => ARRAY(SELECT id FROM pgrecall.memories))"
    )
    settings = '{"question_time": 0.3, "lexical_coverage": 2}'
    parts = sorted(conn.execute(query, [settings, ASKED]).fetchall())
    assert [part for part, _ in parts] == pytest.approx([0, 0.3 * share * parts[1][1]])
    assert parts[1][1] > 0


def test_of_a_longer_period_all_that_it_holds_counts(conn: Connection[Any]) -> None:
    keep(conn, {"2025-11-01": "Ann will move on 3 May 2026.", "2025-11-02": "Ben will move in 2027."})
    assert found(conn, "what happens in 2026?", k=1) == ["2025-11-01"]


def test_nothing_is_excluded(conn: Connection[Any]) -> None:
    keep(conn, DIARY)
    without = {*found(conn, "cello and goose last week", k=100, settings='{"question_time": 0}')}
    assert {"2026-11-11", "2025-12-25"} <= without <= {*found(conn, "cello and goose last week", k=100)}


def test_filters_hold(conn: Connection[Any]) -> None:
    keep(conn, DIARY, tags=["diary"])
    remember(
        conn, "Secret of Saturday", occurred_at="2026-11-14 11:00+00", external_id="secret", is_sensitive=True
    )
    remember(conn, "Elsewhere", occurred_at="2026-11-14 11:00+00", namespace="there", create_namespace=True)
    assert found(conn, "what did I do last weekend?", k=9, include_sensitive=False)[:2] == [
        "2026-11-15",
        "2026-11-14",
    ]
    assert found(conn, "what did I do last weekend?", k=9, tags_any=["other"]) == []
    assert "2026-11-14" not in found(conn, "what did I do last weekend?", k=9, since="2026-11-15 00:00+00")
    # A timeframe of the caller's counts; the question is not read besides.
    assert found(conn, "nothing yesterday", k=9, timeframe="[2026-10-01 00:00+00,2026-11-01 00:00+00)") == []


def test_a_long_period_brings_the_newest(conn: Connection[Any]) -> None:
    keep(conn, DIARY)
    assert {*found(conn, "since 2024")} <= {*list(DIARY)[:6]}
    assert len(found(conn, "since 2024", k=100)) == len(DIARY)


def test_it_is_explained(conn: Connection[Any]) -> None:
    keep(conn, DIARY)
    conn.execute("SELECT set_config('TimeZone', 'UTC', true)")
    parts = " + ".join(f"{name}_part" for name in (*LEGS, *BOOSTS))
    rows = conn.execute(
        f"SELECT relevance, {parts}, time_part, top, arithmetic, question_period "
        "FROM recall_explain('the cello last week', reference_time => %s, k => 3, settings => %s)".encode(),
        [ASKED, ON],
    ).fetchall()
    assert rows
    for relevance, total, part, top, arithmetic, named in rows:
        assert relevance == pytest.approx(total)
        assert part == pytest.approx(0.3 * (top - (relevance - part)))
        assert "time 0." in arithmetic
        assert named.upper - named.lower == timedelta(days=7)
    row = conn.execute("SELECT time_part, question_period FROM recall_explain('cello', k => 1)").fetchone()
    assert row == (0, None)
