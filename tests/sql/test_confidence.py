"""The confidence that recall returns with every memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.memories import remember, scalar

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

ASKED = "which submarine is yellow?"


def _confidences(conn: Connection[Any], query: str = ASKED, **settings: Any) -> list[float | None]:
    given = "".join(f", {name} => %({name})s" for name in settings)
    statement = f"SELECT confidence FROM recall(%(query)s{given})"
    return [one for (one,) in conn.execute(statement.encode(), {"query": query, **settings})]


def _fill(conn: Connection[Any]) -> int:
    for number in range(12):
        remember(conn, f"a submarine of the year {1950 + number}")
    return remember(conn, "the yellow submarine, which is yellow")


def test_it_falls_when_the_answer_goes(conn: Connection[Any]) -> None:
    answer = _fill(conn)
    known, *others = _confidences(conn)
    assert known is not None
    assert all(one is not None and 0 < one < known < 1 for one in others)
    conn.execute("SELECT forget(%s)", (answer,))
    unknown = _confidences(conn)[0]
    assert unknown is not None
    assert unknown < known / 2


def test_it_does_not_depend_on_what_is_returned(conn: Connection[Any]) -> None:
    _fill(conn)
    first = _confidences(conn)[0]
    assert _confidences(conn, k=1) == [first]
    assert _confidences(conn, k=50)[0] == first
    assert _confidences(conn, min_score=0.3)[0] == first


def test_importance_and_age_leave_it_alone(conn: Connection[Any]) -> None:
    answer = _fill(conn)
    first = _confidences(conn)[0]
    conn.execute("UPDATE pgrecall.memories SET importance = 0.1 WHERE id = %s", (answer,))
    conn.execute("SET pgrecall.importance_weight = 1")
    assert first in _confidences(conn)


def test_fusion_by_ranks_has_none(conn: Connection[Any]) -> None:
    _fill(conn)
    assert set(_confidences(conn, fusion="rrf")) == {None}


def test_a_memory_alone_and_a_query_of_stop_words(conn: Connection[Any]) -> None:
    remember(conn, "the yellow submarine")
    assert scalar(conn, "SELECT count(*) FROM recall('is it the')") >= 0
    (alone,) = _confidences(conn)
    assert alone is not None
    assert 0 < alone < 1


def _first(conn: Connection[Any], query: str) -> float:
    found = _confidences(conn, query)[0]
    assert found is not None
    return found


def test_a_pronoun_is_no_evidence(conn: Connection[Any]) -> None:
    for content in ("My bicycle has a flat tyre", "We meet the landlord on Tuesday", "Rye bread is sold out"):
        remember(conn, content)
    for query in ("where is my wagon?", "my dog", "when do we move?"):
        assert all(one is not None and one < 0.1 for one in _confidences(conn, query)), query
    assert _first(conn, "where is my bicycle?") > 0.5


def test_another_version_is_counter_evidence(conn: Connection[Any]) -> None:
    remember(conn, "The production database runs PostgreSQL 17.2")
    remember(conn, "The parser needs Python 3.12 or newer")
    remember(conn, "We meet the landlord on Tuesday")
    for right, wrong in (("PostgreSQL 17.2", "PostgreSQL 16.4"), ("python 3.12", "python 3.9")):
        assert _first(conn, right) > 0.5, right
        assert _first(conn, wrong) < 0.5, wrong


@pytest.mark.parametrize(
    ("query", "memory", "is_found"),
    [
        ("postgresql 16.4", "it runs 16.4.1", True),
        ("postgresql 16.4", "it runs 116.4", False),
        ("postgresql 16.4", "it runs v16.4", True),
        ("v3.9 of python", "python 3.9", True),
    ],
)
def test_what_is_the_same_version(conn: Connection[Any], query: str, memory: str, is_found: bool) -> None:
    assert scalar(conn, "SELECT %s ~* _pgrecall.version_pattern(%s)", memory, query) is is_found


def test_years_and_plain_numbers_are_no_versions(conn: Connection[Any]) -> None:
    for query in ("what happened in 2024?", "room 12", "nothing"):
        assert scalar(conn, "SELECT _pgrecall.version_pattern(%s)", query) is None


def test_min_confidence_leaves_out_what_is_below(conn: Connection[Any]) -> None:
    _fill(conn)
    every = _confidences(conn)
    known = every[0]
    assert known is not None
    kept = _confidences(conn, settings='{"min_confidence": 0.5}')
    assert kept == [one for one in every if one is not None and one >= 0.5] == [known]
    conn.execute("SET pgrecall.min_confidence = 1")
    assert _confidences(conn) == []
    assert _confidences(conn, fusion="rrf") != []


def test_no_word_is_no_share_where_nothing_measures_it(conn: Connection[Any]) -> None:
    """Without lexical_coverage the best score counts in full: where no memory has a word, there is none."""
    settings = '{"lexical_coverage": 0}'
    remember(conn, "the yellow submarine", session="elsewhere")
    bicycle = remember(conn, "a bicycle in the shed", session="here")
    query = "yellow submarine"
    row = conn.execute(
        "SELECT lexical_part, relevance, confidence FROM recall_explain(%s, ids => %s, sessions => '{here}', settings => %s)",
        (query, [bicycle], settings),
    ).fetchone()
    assert row is not None
    assert row[:2] == (0, 0)
    assert row[2] < 0.05
    vector = str([1.0] * 384)
    conn.execute("UPDATE pgrecall.memories SET embedding = %s", (vector,))
    found = conn.execute(
        "SELECT lexical_part, is_candidate FROM recall_explain(%s, %s, sessions => '{here}', settings => %s)",
        (query, vector, settings),
    ).fetchall()
    assert found == [(0, True)]


def test_a_question_of_pronouns_alone_has_no_lead_by_them(conn: Connection[Any]) -> None:
    remember(conn, "My bicycle has a flat tyre")
    remember(conn, "We meet the landlord on Tuesday")
    [confidence] = _confidences(conn, "my", k=1)
    assert confidence is not None
    assert confidence < 0.05


@pytest.mark.parametrize(
    ("memory", "same", "other"),
    [
        ("Hal's number is +44 161 496 0148", "0161 4960148", "+44 161 496 0149"),
        ("Ida's number is 0161 4960149", "+44 161 496 0149", "+44 161 496 0148"),
        ("the dentist is on 12 March at 10:30", "dentist on 12.03.", "dentist on 14 March"),
        ("der Zahnarzt ist am 12. März", "Zahnarzt am 12.3.", "Zahnarzt am 14. März"),
        ("invoice 4471 is paid", "invoice 4471", "invoice 4472"),
        ("the order number is 88-2317", "order number 88-2317", "order number 88-9999"),
        ("flight LH4711 leaves at noon", "flight LH4711", "flight LH4712"),
        ("Hans owes us 40 euros", "who owes us €40?", "who owes us 60 euros?"),
        ("the chair weighs 2.5 kg", "what weighs 2500 g?", "what weighs 750 g?"),
        ("room 12 has a projector for 20 people", "room 12 projector", "room 14 projector"),
        ("iOS 17 breaks the widget", "iOS 17 widget", "iOS 18 widget"),
        ("libvips 8.15 leaks memory", "libvips v8 memory leak", "libvips v9 memory leak"),
        (
            "we use python3.12 everywhere",
            "do we use python3.12 everywhere?",
            "do we use python3.11 everywhere?",
        ),
        ("会议室12有投影仪", "会议室12", "会议室14"),
    ],
)
def test_another_value_is_counter_evidence(conn: Connection[Any], memory: str, same: str, other: str) -> None:
    remember(conn, memory)
    for number in range(8):
        remember(conn, f"a submarine of the year {1950 + number}")
    right, wrong = (max(filter(None, _confidences(conn, query)), default=0.0) for query in (same, other))
    assert wrong < 0.5
    assert right > wrong


@pytest.mark.parametrize(
    ("query", "memory"),
    [
        ("who owes us more than 30 euros?", "Hans owes us 40 euros"),
        ("what happened before 14 March?", "the dentist came on 12 March"),
        ("what happened between 10 and 20 March?", "the dentist came on 12 March"),
        ("what did we buy in 2024?", "in 2023 we bought a boat, and in May a car"),
        ("room 14 projector", "room 14 has a projector for 20 people"),
        ("what did the dentist say on 14 March?", "the dentist said that 2 teeth are bad"),
        ("invoice 4471", "the invoices: " + ", ".join(str(number) for number in range(5000, 6000))),
        ("invoice 4471", "invoices 4470 and 4471 are paid"),
        ("+44 161 496 0149", "Ida 0161 4960149, flat 12"),
        (
            "I have run 5 km today and would like to know what you think of my plan for the rest of this week",
            "the plan is to run 12 km on Sunday",
        ),
    ],
)
def test_what_is_no_counter_evidence(conn: Connection[Any], query: str, memory: str) -> None:
    number = remember(conn, memory)
    contradicted = "(confidence_parts ->> 'contradiction')::float"
    row = conn.execute(
        f"SELECT {contradicted} FROM recall_explain(%s, ids => %s) WHERE id = %s".encode(),
        (query, [number], number),
    ).fetchone()
    assert row == (0,)


def test_the_day_on_which_it_happened_may_be_meant(conn: Connection[Any]) -> None:
    remember(conn, "Ana flies to Rome on 20 March", occurred_at="2025-03-14T09:00:00Z")
    remember(conn, "Bert flies to Oslo on 20 March", occurred_at="2025-03-13T09:00:00Z")
    rows = conn.execute("SELECT content, confidence FROM recall('who flies on 14 March?')").fetchall()
    by_name = {content.split()[0]: confidence for content, confidence in rows}
    assert by_name["Ana"] > 3 * by_name["Bert"]


# Four memories in scripts without spaces and in Korean; the answer of the first question is the second, nobody answers the others.
UNSPACED = {
    "chinese": (
        ("普里娅对花生过敏", "备用钥匙在蓝色花盆下面", "汤姆周五拉大提琴", "我住在榆树路14号"),
        "备用钥匙在哪里？",
        ("无线密码是什么？", "WiFi密码是什么？", "谁修了屋顶？", "我的生日是什么时候？"),
    ),
    "japanese": (
        (
            "プリヤはピーナッツアレルギーです",
            "予備の鍵は青い鉢の下にあります",
            "トムは金曜日にチェロを弾きます",
            "私は楡通りに住んでいます",
        ),
        "予備の鍵はどこですか？",
        ("WiFiのパスワードは何ですか？", "誕生日はいつですか？", "誰が屋根を直しましたか？"),
    ),
    "korean": (
        (
            "프리야는 땅콩 알레르기가 있다",
            "예비 열쇠는 파란 화분 밑에 있다",
            "톰은 금요일마다 첼로를 연주한다",
            "나는 느릅나무로에 산다",
        ),
        "예비 열쇠가 어디 있어?",
        ("와이파이 비밀번호가 뭐야?", "누가 지붕을 고쳤어?", "내 생일이 언제야?"),
    ),
    "thai": (
        ("พรียาแพ้ถั่วลิสง", "กุญแจสำรองอยู่ใต้กระถางสีฟ้า", "ทอมเล่นเชลโลทุกวันศุกร์", "ฉันอยู่ถนนเอล์ม"),
        "กุญแจสำรองอยู่ที่ไหน",
        ("รหัสไวไฟคืออะไร", "ใครซ่อมหลังคา", "วันเกิดของฉันเมื่อไหร่"),
    ),
}


@pytest.mark.parametrize("script", UNSPACED)
def test_scripts_without_spaces_have_one_too(conn: Connection[Any], script: str) -> None:
    contents, answered, unanswered = UNSPACED[script]
    answer = [remember(conn, content) for content in contents][1]
    assert conn.execute("SELECT id FROM recall(%s, k => 1)", (answered,)).fetchone() == (answer,)
    known, *others = [one or 0.0 for one in _confidences(conn, answered)]
    assert known > 0.5 > max(others, default=0.0)
    for question in unanswered:
        assert max((one or 0.0 for one in _confidences(conn, question)), default=0.0) < 0.2, question
    explained = conn.execute(
        "SELECT confidence, confidence_parts FROM recall_explain(%s, k => 1)", (answered,)
    ).fetchone()
    assert explained is not None
    assert explained[0] == known
    assert explained[1]["share"] > 0.5
    assert explained[1]["lead"] > 2
