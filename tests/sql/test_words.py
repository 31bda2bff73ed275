"""The words of memories: accents, other scripts, identifiers, and whatever else people type."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.memories import call, remember, rows
from support.wording import FORMS, LANGUAGES, SIGNS, TEXT, form, matches, silent, words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

pytestmark = pytest.mark.rollback

LONGEST_QUERY = 16_384
LONGEST_CONTENT = 262_144


@pytest.fixture(scope="module")
def words_conn(new_database: Callable[..., str], template: str) -> Iterator[Connection[Any]]:
    """A connection for tests that store nothing; a NOTICE on it is an error."""
    with silent(new_database(template)) as connection:
        yield connection


def recalled(conn: Connection[Any], query: str) -> list[str]:
    return [row[3] for row in rows(conn, "recall", query)]


# --- Accents ---


@pytest.mark.parametrize(
    ("language", "accented", "plain"),
    [
        ("german", "Die Straßenbahn nach Österreich fährt früh", "Strassenbahn Osterreich fahrt fruh"),
        ("spanish", "Mañana comió canciones en la habitación", "manana comio canciones habitacion"),
        ("french", "Une élève préférée a développé l’idée", "eleve preferee developpe idee"),
        ("simple", "Zażółć gęślą jaźń w Łodzi", "zazolc gesla jazn lodzi"),
        ("english", "A résumé from São Paulo, naïve", "resume sao paulo naive"),
        ("danish", "Æbler og rødgrød på Ærø", "aebler rodgrod aero"),
        ("simple", "STRAẞE Ǿrsted ǽ", "strasse orsted ae"),
        ("english", "Η Αθήνα και ο Πειραιάς", "Αθηνα ΠΕΙΡΑΙΑΣ"),
        ("greek", "Τα κλειδιά είναι στην Αθήνα", "κλειδια Αθηνα"),
        ("simple", "Ἀθῆναι τῆς Ἑλλάδος", "αθηναι ελλαδος"),
        ("english", "Ёлка стоит у окна, за́мок закрыт", "елка замок закрыт"),
        ("russian", "Ёлка стоит у окна, счёт оплачен", "елка счет"),
        ("english", "عمّان ثم الإسكندرية مع مُحَمَّد", "عمان الاسكندرية محمد"),
        ("arabic", "وصل مُحَمَّد إلى الإسكندرية", "محمد الاسكندرية"),
        ("simple", "کتاب علی روی میز است", "كتاب علي روي ميز"),
        ("english", "יְרוּשָׁלַיִם שֶׁל זָהָב", "ירושלים זהב"),
        ("english", "फ़ाइल मूँगफली गाड़ी हिन्दी सम्बन्ध", "फाइल मूंगफली गाडी हिंदी संबंध"),
        ("hindi", "बाज़ार में गाड़ी", "बाजार गाडी"),
    ],
)  # fmt: skip
def test_accents_do_not_count(conn: Connection[Any], language: str, accented: str, plain: str) -> None:
    for text, other in ((accented, plain), (plain, accented)):
        for word in other.replace("’", " ").replace(",", " ").split():
            assert matches(conn, f"{text} {word.lower()}", "match_all_words", word, language) in {True, None}
    for word in plain.split():
        assert matches(conn, accented, "match_all_words", word, language), word
    assert matches(conn, plain, "match_any_word", accented, language)
    remember(conn, accented, language=language)
    conn.execute("UPDATE pgrecall.namespaces SET language = %s", (language,))
    assert recalled(conn, plain) == [accented]
    conn.execute("UPDATE pgrecall.memories SET content = %s", (plain,))
    assert recalled(conn, accented) == [plain]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("заказ №1234 отправлен", "1234"),
        ("квартира №7", "квартира 7"),
        ("№№5, 6", "5"),
        ("habitación nº12", "habitación 12"),
        ("Zimmer Nº12", "Zimmer 12"),
        ("Acme™ and Globex℠", "Acme Globex"),
        ("iPhone™15", "iPhone 15"),
    ],
)
def test_a_sign_for_a_word_is_none_with_its_neighbour(conn: Connection[Any], text: str, plain: str) -> None:
    remember(conn, text)
    for word in plain.split():
        assert matches(conn, text, "match_all_words", word), word
    assert [recalled(conn, query) for query in (plain, text)] == [[text], [text]]


@pytest.mark.parametrize(
    "number",
    ["٤٧١٢", "۴۷۱۲", "४७१२", "৪৭১২", "੪੭੧੨", "૪૭૧૨", "୪୭୧୨", "௪௭௧௨", "౪౭౧౨", "೪೭೧೨", "൪൭൧൨", "๔๗๑๒", "໔໗໑໒", "༤༧༡༢", "၄၇၁၂", "៤៧១២", "４７１２"],
)  # fmt: skip
def test_digits_of_any_script_are_the_same_number(conn: Connection[Any], number: str) -> None:
    remember(conn, "4711")
    stored = [remember(conn, f"x {number}"), remember(conn, "y 4712"), remember(conn, f"z-{number}")]
    for asked in (number, "4712", f"z-{number}", "z-4712", f"room {number}"):
        assert {row[0] for row in rows(conn, "recall", asked)} >= set(stored), asked
    # Another number than the one asked for speaks against a memory, whatever its digits.
    other = remember(conn, "room ١٢")
    query = "SELECT id, confidence FROM recall(%s, k => 20)"
    confidence: dict[int, float] = dict(conn.execute(query, (f"room {number[:2]}",)).fetchall())
    assert confidence[other] < 0.5


def test_stems_keep_what_accents_tell(words_conn: Connection[Any]) -> None:
    for language, one, other in (
        ("french", "développée", "développer"),
        ("portuguese", "informação", "informações"),
        ("spanish", "comió", "comer"),
        ("turkish", "gözlükler", "gözlük"),
    ):
        assert matches(words_conn, one, "match_any_word", other, language), one
    assert words(words_conn, "comió", "spanish") == {"com": [1], "comi": [1]}


def test_stop_words_with_accents_are_asked_for_by_nobody(words_conn: Connection[Any]) -> None:
    assert form(words_conn, "query_terms", "ein Haus für Björn", "german") == ["bjorn", "haus"]
    assert form(words_conn, "match_all_words", "ein Haus für Björn", "german") == "'bjorn' & 'haus'"
    assert form(words_conn, "match_websearch", "Haus für Björn", "german") == "'haus' & 'bjorn'"
    assert [form(words_conn, name, "für", "german") for name in FORMS] == [[], *[None] * 5]
    # A phrase is word for word.
    assert matches(words_conn, "ein Haus für Björn", "match_phrase", "Haus fur Bjorn", "german")
    assert not matches(words_conn, "ein Haus von Björn", "match_phrase", "Haus für Björn", "german")


def test_russian_keeps_its_letters(words_conn: Connection[Any]) -> None:
    assert words(words_conn, "мой новый ёжик, ёлки и края", "russian") == words(
        words_conn, "мой новый ежик, елки и края", "russian"
    )
    for one, other in (("чайника", "чайник"), ("зелёной", "зеленая"), ("Москвой", "москва")):
        assert matches(words_conn, one, "match_all_words", other, "russian"), one
    assert "й" in next(iter(words(words_conn, "йод", "russian")))
    assert not matches(words_conn, "край", "match_all_words", "краи", "simple")
    # й in two characters is the same letter.
    assert words(words_conn, "и\u0306од") == words(words_conn, "йод")


def test_other_spellings_of_the_same_text(words_conn: Connection[Any]) -> None:
    for one, other in (
        ("Ｐｏｓｔｇｒｅｓ １７", "Postgres 17"),
        ("ﬁnance oﬃce", "finance office"),
        ("co\u2011founder", "co-founder"),
        ("Donau\u00addampf", "Donaudampf"),
        ("Priya’s “new” car — red…", 'Priya\'s "new" car - red'),
        ("cafe\u0301", "café"),
        ("zero\u200bwidth", "zerowidth"),
        # Apostrophes that Unicode counts among the letters: Ukrainian, Breton, Uzbek, Hawaiian, transliterated Arabic.
        ("сім\u02bcя і п\u02bcять", "сім'я і п’ять"),
        ("c\u02bchoar", "c'hoar"),
        ("o\u02bbzbek", "o'zbek"),
        ("Hawai\u02bbi", "Hawai'i"),
        ("Qur\u02bean", "Qur'an"),
    ):
        assert words(words_conn, one, "english") == words(words_conn, other, "english"), one


# --- Chinese, Japanese, Korean ---


@pytest.mark.parametrize(
    ("text", "found", "absent"),
    [
        ("我们昨天在北京大学见了王老师，她养了一只猫。", ["北京", "大学", "王老师", "昨天", "猫", "老师养"], ["天北", "京大学在", "狗"]),
        ("昨日は東京タワーに行って、コーヒーを飲んだ。", ["東京", "タワー", "コーヒー", "飲んだ", "東京タワー"], ["京東", "ワー東"]),
        ("어제 서울에서 친구를 만나 한국어를 공부했다.", ["서울", "친구", "한국어", "공부", "만나"], ["부산", "국한"]),
        ("用Python写的ＡＢＣ脚本", ["python", "脚本", "abc", "写的"], ["本脚"]),
    ],
)  # fmt: skip
def test_words_inside_a_sentence_are_found(
    conn: Connection[Any], text: str, found: list[str], absent: list[str]
) -> None:
    remember(conn, text, language="simple")
    remember(conn, "something else altogether")
    for word in found:
        assert recalled(conn, word) == [text], word
    for word in absent:
        assert not matches(conn, text, "match_all_words", word), word


def test_pairs_are_in_order_and_single_characters_after_the_text(words_conn: Connection[Any]) -> None:
    assert words(words_conn, "東京都 a 猫") == {
        "東京": [1], "京都": [2], "a": [3], "猫": [4], "東": [5], "京": [6], "都": [7]
    }  # fmt: skip
    # A single kana is no word, one between other signs is.
    assert set(words(words_conn, "タワー")) == {"タワ", "ワー"}
    assert words(words_conn, "の") == {"の": [1]}
    assert form(words_conn, "match_phrase", "東京都", "simple") == "'東京' <-> '京都'"
    assert form(words_conn, "match_phrase", "東京", "simple") is None


# --- Identifiers ---

IDENTIFIERS: list[tuple[str, list[str]]] = [
    ("snake_case_name", ["snake_case_name", "snakecasename", "snakeCaseName", "SNAKE_CASE_NAME", "snake", "case", "name"]),
    ("getUserName", ["getUserName", "getusername", "get_user_name", "user", "name"]),
    ("HTTPServerError", ["HTTPServerError", "http", "server", "error", "http_server_error"]),
    ("/usr/local/lib/foo-bar.py", ["/usr/local/lib/foo-bar.py", "usr", "local", "foo-bar.py", "foo", "bar", "py", "lib/foo-bar.py"]),
    (r"C:\Users\priya\notes.txt", [r"C:\Users\priya\notes.txt", "notes.txt", "priya", r"Users\priya", "notes"]),
    ("17.2", ["17.2", "17"]),
    ("v1.2.3", ["v1.2.3", "1.2.3", "1.2"]),
    ("python3.11", ["python3.11", "3.11", "python3"]),
    ("https://docs.example.com/guide/index.html?page=2#top", ["docs.example.com", "example.com", "example", "guide", "index.html", "https://docs.example.com/guide/index.html?page=2#top"]),
    ("priya.shah@example.org", ["priya.shah@example.org", "priya", "shah", "example.org", "example"]),
    ("PROJ-1234", ["PROJ-1234", "proj-1234", "PROJ1234", "1234", "proj"]),
    ("e-mail", ["e-mail", "email", "mail"]),
    ("COVID-19", ["COVID-19", "covid19", "covid"]),
    ("and/or", ["and/or", "or"]),
    ("2024-05-17", ["2024-05-17", "2024", "05", "20240517"]),
    ("1,234,567", ["1,234,567", "1234567"]),
    ("std::vector<int>", ["std::vector", "vector<int>", "vector", "int"]),
    ("AT&T", ["AT&T", "att"]),
    ("C++", ["C++", "c", "cplusplus"]),
    ("C#", ["C#", "c", "csharp"]),
    ("node.js", ["node.js", "nodejs", "node", "js"]),
    ("-5", ["5", "-5"]),
    ("__init__", ["__init__", "init"]),
]  # fmt: skip


@pytest.mark.parametrize(("identifier", "queries"), IDENTIFIERS, ids=[name for name, _ in IDENTIFIERS])
def test_identifiers_are_found_whole_and_by_part(
    words_conn: Connection[Any], identifier: str, queries: list[str]
) -> None:
    for text in (identifier, f"we saw {identifier} again", f"({identifier}), they said"):
        for query in queries:
            assert matches(words_conn, text, "match_any_word", query), query
            assert matches(words_conn, query, "match_any_word", text), query
        assert matches(words_conn, text, "match_all_words", identifier)
        assert matches(words_conn, text, "match_websearch", identifier.lstrip("-"))
        assert matches(words_conn, text, "match_prefix", identifier)


@pytest.mark.parametrize("language", ["english", "simple"])
def test_an_exact_identifier_comes_first(conn: Connection[Any], language: str) -> None:
    for identifier, parts in (
        ("load_user_name", "load name user user load name"),
        ("parseHttpHeader", "header http parse parse header"),
        ("src/app/main.py", "main app src py src main"),
        ("17.2", "2 17 and 17 or 2"),
        ("PROJ-1234", "1234 proj and proj 1234"),
        ("docs.example.com", "com example docs docs com"),
    ):
        conn.execute("TRUNCATE pgrecall.memories CASCADE")
        remember(conn, f"{parts} were all here", language=language)
        remember(
            conn, f"it was {identifier} in the end, after a long day of looking for it", language=language
        )
        found = recalled(conn, f"what about {identifier}?")
        assert len(found) == 2
        assert identifier in found[0]


def test_text_between_angle_brackets_is_read(words_conn: Connection[Any]) -> None:
    assert set(words(words_conn, "if a <b and c> d <!-- note --> then &lt;x&gt;")) >= {
        "a",
        "b",
        "and",
        "c",
        "d",
        "x",
    }


def test_pronouns_are_words_of_english_memories(words_conn: Connection[Any]) -> None:
    assert words(words_conn, "I told you my name", "english") == {
        "i0": [1], "told": [2], "you0": [3], "my0": [4], "name": [5]
    }  # fmt: skip
    assert form(words_conn, "query_terms", "What's YOUR or my dog's name?", "english") == [
        "dog",
        "my0",
        "name",
    ]
    # They are nothing that a memory has to have, nor a reason to be found by ts_rank.
    for name in ("match_all_words", "match_any_word", "match_websearch", "match_prefix"):
        assert "0" not in form(words_conn, name, "What is my name", "english")


# --- Anything ---


@settings(max_examples=300)
@given(text=TEXT | SIGNS, language=st.sampled_from(LANGUAGES))
@example(text="\u0345\u0301' \\ '' :* ", language="spanish")
@example(text="é'\u0301-\\é", language="turkish")
@example(text="\ufdfa\ufdfb", language="simple")
@example(text="IUC", language="turkish")
@example(text="I០", language="english")
def test_a_text_finds_itself(words_conn: Connection[Any], text: str, language: str) -> None:
    for name in ("match_all_words", "match_any_word", "match_prefix", "match_phrase"):
        assert matches(words_conn, text, name, text, language) in {True, None}, name
    terms = form(words_conn, "query_terms", text, language)
    assert set(terms) <= set(words(words_conn, text, language))


@settings(max_examples=200)
@given(
    text=st.text(st.characters(max_codepoint=127, exclude_characters="\0"), max_size=80),
    language=st.sampled_from(LANGUAGES),
)
@example(text="I was there, you said. (5) It's 10 o'clock: \"go\"!", language="english")
def test_the_short_way_leads_to_the_same_words(words_conn: Connection[Any], text: str, language: str) -> None:
    query = "SELECT _pgrecall.analyze_text(%s::regconfig, %s) = _pgrecall.analyze_unicode(%s::regconfig, %s)"
    assert words_conn.execute(query, (language, text, language, text)).fetchone() == (True,)


def _han(size: int) -> str:
    """Han characters, no two of them adjacent twice."""
    pairs = (chr(0x4E00 + i) + chr(0x4E00 + j) for i, j in itertools.combinations(range(430), 2))
    return "".join(itertools.islice(pairs, size // 6))


LONG: dict[str, Callable[[int], str]] = {
    "a word": lambda size: "x" * size,
    "accents": lambda size: "é" * (size // 2),
    "one character": lambda size: "漢" * (size // 3),
    "pairs": _han,
    "compatibility": lambda size: "\ufdfa" * (size // 3),
    "words": lambda size: "".join(f"w{place} " for place in range(size))[:size],
    "camel": lambda size: "".join(f"aB{place}Cd" for place in range(size))[:size],
    "joined": lambda size: "".join(f"a{place}-" for place in range(size))[:size],
    "quotes": lambda size: "\"-'\\ " * (size // 5),
    "negations": lambda size: "-a or " * (size // 6),
}


@pytest.mark.parametrize("kind", LONG)
def test_long_texts(words_conn: Connection[Any], kind: str) -> None:
    for language in ("english", "spanish"):
        words(words_conn, LONG[kind](LONGEST_CONTENT), language)
        for name in FORMS:
            form(words_conn, name, LONG[kind](LONGEST_QUERY // 2), language, "simple")


def test_data_is_left_out_and_nothing_around_it(words_conn: Connection[Any]) -> None:
    blob = "QUJD" * 1000
    assert words(words_conn, f"the key is {blob} and no other") == words(
        words_conn, "the key is   and no other"
    )


def test_words_of_a_sensitive_memory_stay_in_its_row(conn: Connection[Any]) -> None:
    number = remember(conn, "Mañana: snake_case 東京", is_sensitive=True, language="simple")
    assert [row[0] for row in rows(conn, "recall", "manana")] == [number]
    assert [row[0] for row in rows(conn, "recall", "snakecase")] == [number]
    assert [row[0] for row in rows(conn, "recall", "京")] == [number]


def test_every_field_is_read_alike(conn: Connection[Any]) -> None:
    number = remember(
        conn, "content_word", title="titleWord", tags=["tag-word"], expanded_keywords=["Mañana"], category="東京",
        language="simple",
    )  # fmt: skip
    for query in ("contentword", "title", "tagword", "manana", "京"):
        assert [row[0] for row in rows(conn, "recall", query)] == [number], query
    weights = "SELECT array_agg(DISTINCT w) FROM pgrecall.memories, unnest(search_vector) l, unnest(l.weights) w WHERE l.lexeme = %s"
    for lexeme, weight in (
        ("contentword", "A"),
        ("titleword", "A"),
        ("manana", "B"),
        ("tagword", "C"),
        ("東京", "D"),
    ):
        assert conn.execute(weights, (lexeme,)).fetchone() == ([weight],)


def test_namespace_of_another_language(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.create_namespace", "casa", "spanish")
    remember(conn, "Comieron en la habitación", namespace="casa")
    assert len(rows(conn, "recall", "¿quién comió?", namespace="casa")) == 1
