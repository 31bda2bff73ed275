"""remember(): one memory with every option, its defaults, and what is refused."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from itertools import islice, product
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.memories import (
    call,
    concepts,
    contents,
    embed,
    refused,
    remember,
    rows,
    scalar,
    share,
    stored,
    waits,
)

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

LIMIT = 262_144
NOON = datetime(2024, 5, 17, 12, tzinfo=UTC)


def test_every_option_is_stored(conn: Connection[Any]) -> None:
    options: dict[str, Any] = {
        "title": "Moving",
        "category": "decision",
        "tags": ["Oslo", "home"],
        "expanded_keywords": ["relocation"],
        "importance": 0.75,
        "metadata": {"a": [1, None], "b": {"c": "d"}},
        "source": "chat",
        "session": "s-1",
        "speaker": "Priya",
        "position": 3,
        "language": "norwegian",
        "is_sensitive": True,
        "occurred_at": NOON,
        "created_at": NOON + timedelta(microseconds=1),
        "valid_from": NOON,
        "valid_to": NOON + timedelta(days=1),
        "external_id": "x/1",
        "namespace": "priya",
    }
    found = stored(
        conn, remember(conn, "Priya moves to Oslo.", create_namespace=True, on_conflict="keep", **options)
    )
    assert found["content"] == "Priya moves to Oslo."
    assert {name: found[name] for name in options} == options


def test_defaults(conn: Connection[Any]) -> None:
    now = scalar(conn, "SELECT now()")
    found = stored(conn, remember(conn, "just this"))
    empty = (
        "title category source session speaker position occurred_at valid_from valid_to external_id deleted_at "
        "superseded_by embedding"
    )
    assert {name for name in empty.split() if found[name] is not None} == set()
    assert (found["tags"], found["expanded_keywords"], found["metadata"]) == ([], [], {})
    assert (found["importance"], found["is_sensitive"], found["language"]) == (0.5, False, "english")
    assert found["namespace"] == "default"
    assert found["created_at"] == found["updated_at"]
    assert timedelta(0) <= found["created_at"] - now < timedelta(minutes=1)


def test_null_means_not_given(conn: Connection[Any]) -> None:
    nothing = dict.fromkeys(
        (
            "title",
            "tags",
            "expanded_keywords",
            "importance",
            "metadata",
            "language",
            "is_sensitive",
            "created_at",
        )
    )
    found = stored(conn, remember(conn, "x", **nothing))
    assert (found["tags"], found["expanded_keywords"], found["metadata"]) == ([], [], {})
    assert (found["importance"], found["is_sensitive"], found["language"]) == (0.5, False, "english")


def test_empty_texts_are_none(conn: Connection[Any]) -> None:
    names = ("title", "category", "source", "session", "speaker", "external_id")
    found = stored(conn, remember(conn, "x", **dict.fromkeys(names, "")))
    assert {found[name] for name in names} == {None}


def test_ids_grow(conn: Connection[Any]) -> None:
    ids = [remember(conn, f"memory {number}") for number in range(5)]
    assert ids == sorted(set(ids))


def test_times_at_the_ends_of_the_calendar(conn: Connection[Any]) -> None:
    """tests/migrations/test_bounds.py tries those beyond."""
    query = "SELECT remember('x', occurred_at => '9999-12-31Z', valid_from => '0001-01-02Z', created_at => '0001-01-02Z')"
    number = scalar(conn, query)
    query = "SELECT occurred_at = '9999-12-31Z', valid_from = '0001-01-02Z', created_at = '0001-01-02Z' FROM pgrecall.memories"
    assert conn.execute(query + " WHERE id = %s", (number,)).fetchone() == (True, True, True)


def test_blank_content_is_refused(conn: Connection[Any]) -> None:
    for blank in (
        *(
            None,
            "",
            " \n\t\r ",
            "\u00a0\u3000",
            "\u2003\u205f",
            "\u200b\u200b",
            "\ufeff",
            "\u2060\u00ad\u200d",
        ),
        *("\ufe0f", "\U000e0100\U000e0041", "\x01\x7f\x9f", "\u202e\u200f", "\u3164\u2800", " \u200b\n"),
    ):
        with refused(conn, "22023"):
            call(conn, "remember", blank)
    for shown in ("\u200bx", "\u2764\ufe0f", ".", "\u0301", "\U0001f600", "\u0e33", "\u1100"):
        call(conn, "remember", shown)


def test_the_message_names_the_ends_of_the_calendar(conn: Connection[Any]) -> None:
    for name in ("created_at", "occurred_at", "valid_from", "valid_to", "expires_at"):
        for beyond in ("0001-01-01T00:00:00Z", "9999-12-31T00:00:01Z"):
            says = f"{name} is not a time from 0001-01-02 to 9999-12-31 UTC"
            with pytest.raises(psycopg.errors.InvalidParameterValue, match=says):
                remember(conn, "x", **{name: beyond})


def test_content_up_to_the_limit(conn: Connection[Any]) -> None:
    assert len(stored(conn, remember(conn, "é" * (LIMIT // 2)))["content"]) == LIMIT // 2
    for size in (LIMIT + 1, 2**20):
        with refused(conn, "54000"):
            remember(conn, "x" * size)
    with refused(conn, "54000"):
        remember(conn, "é" * (LIMIT // 2) + "x")


def words(size: int, skip: int = 0) -> str:
    """Hyphenated words without end: each is indexed in its parts, many whole as well, none twice."""
    letters = [*ascii_lowercase, *(chr(place) for place in range(0x3B1, 0x3C9))]
    pieces = ("".join(piece) for piece in islice(product(letters, repeat=3), skip, None))
    text = " ".join(f"{piece}-{next(pieces)}" for piece in islice(pieces, size // 8))
    return text.encode()[:size].decode(errors="ignore")


@pytest.mark.parametrize("language", ["english", "simple"])
def test_as_many_words_as_fit_are_indexed(conn: Connection[Any], language: str) -> None:
    content = words(LIMIT)
    number = remember(
        conn,
        content,
        title=words(4096, 90_000),
        category=words(1024, 93_000),
        tags=[words(1000, 94_000 + 500 * place) for place in range(11)],
        expanded_keywords=[words(1000, 100_000 + 500 * place) for place in range(11)],
        language=language,
    )
    found = scalar(conn, "SELECT length(search_vector) FROM pgrecall.memories WHERE id = %s", number)
    assert found > 60_000


def test_a_word_too_long_to_index_is_stored(conn: Connection[Any]) -> None:
    assert stored(conn, remember(conn, "x" * 100_000 + " short"))["words"] == "'short':1A"


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"importance": -0.01}, "22023"),
    ({"importance": 1.01}, "22023"),
    ({"importance": float("nan")}, "22023"),
    ({"importance": 1e-300}, "22023"),
    ({"importance": 7e-46}, "22023"),
    ({"importance": float("inf")}, "22023"),
    ({"language": "klingon"}, "42704"),
    ({"language": "nowhere.english"}, "42704"),
    ({"language": ""}, "42704"),
    ({"language": "13246"}, "42704"),
    ({"namespace": "nowhere"}, "42704"),
    ({"namespace": ""}, "42704"),
    ({"namespace": " ", "create_namespace": True}, "22023"),
    ({"namespace": "n" * 201, "create_namespace": True}, "22023"),
    ({"metadata": Jsonb([])}, "22023"),
    ({"tags": [None]}, "22023"),
    ({"tags": [["a", "b"], ["c", "d"]]}, "22023"),
    ({"tags": ["x"] * 257}, "54000"),
    ({"tags": ["x" * 1025]}, "54000"),
    ({"expanded_keywords": ["x" * 1000] * 13}, "54000"),
    ({"title": "x" * 4097}, "54000"),
    ({"external_id": "x" * 1025}, "54000"),
    ({"speaker": "x" * 1025}, "54000"),
    ({"valid_from": NOON, "valid_to": NOON - timedelta(seconds=1)}, "22023"),
    ({"on_conflict": "replace"}, "22023"),
    ({"on_conflict": None}, "22023"),
]


def test_bad_options_are_refused(conn: Connection[Any]) -> None:
    for options, sqlstate in REFUSED:
        with refused(conn, sqlstate):
            remember(conn, "x", **options)


def test_labels_up_to_their_limits(conn: Connection[Any]) -> None:
    # Texts that do not compress: what an index entry can hold is counted after compression.
    noise = "".join(hashlib.sha256(str(place).encode()).hexdigest() for place in range(16))
    options = {"tags": [noise], "external_id": noise, "category": noise, "session": noise}
    found = stored(conn, remember(conn, "x", title=noise * 4, **options))
    assert {name: found[name] for name in options} == options


def test_nul_is_refused(conn: Connection[Any]) -> None:
    before = contents(conn)
    # The type jsonb refuses it before any function of ours is called, so there is no hint of ours.
    with pytest.raises(psycopg.errors.UntranslatableCharacter):
        conn.execute("""SELECT remember('x', metadata => '{"a": "b\\u0000"}')""")
    with pytest.raises(psycopg.DataError):
        remember(conn, "a\x00b")
    assert contents(conn) == before


def test_language_can_name_its_schema(conn: Connection[Any]) -> None:
    assert "'hund':1A" in stored(conn, remember(conn, "Hunde", language="pg_catalog.german"))["words"]
    conn.execute('CREATE TEXT SEARCH CONFIGURATION public."My Words" (COPY = simple)')
    assert stored(conn, remember(conn, "Hunde", language='public."My Words"'))["words"] == "'hunde':1A"
    with refused(conn, "42704"):
        remember(conn, "Hunde", language="public.My Words")


def test_search_vector_weighs_the_fields(conn: Connection[Any]) -> None:
    number = remember(
        conn, "gamma", title="alpha", expanded_keywords=["beta", "two words"], tags=["delta"], category="epsilon",
        language="simple",
    )  # fmt: skip
    assert stored(conn, number)["words"].split() == [
        "'alpha':1A", "'beta':3B", "'delta':6C", "'epsilon':7", "'gamma':2A", "'two':4B", "'words':5B"
    ]  # fmt: skip


def _hash(text: str, recipe: str = "title, content") -> bytes:
    return hashlib.sha256(f"{recipe}\n{text}".encode()).digest()


def test_content_hash_covers_the_embedded_text(conn: Connection[Any]) -> None:
    number = remember(conn, "content", title="title", tags=["tag"], expanded_keywords=["one", "two"])
    assert stored(conn, number)["content_hash"] == _hash("title\ncontent")
    assert stored(conn, remember(conn, "content"))["content_hash"] == _hash("content")
    conn.execute("SELECT pgrecall.set_setting('embed_keywords', 'on')")
    recipe = "title, content, expanded_keywords"
    assert stored(conn, number)["content_hash"] == _hash("title\ncontent\none, two", recipe)
    conn.execute("SELECT pgrecall.set_setting('embed_keywords', NULL)")
    assert stored(conn, number)["content_hash"] == _hash("title\ncontent")


def test_sensitive_memory_is_in_its_own_row_only(conn: Connection[Any]) -> None:
    remember(conn, "other", tags=["other"])
    remember(
        conn, "canary content", title="canary title", tags=["canary"], expanded_keywords=["canary word"],
        category="canary", metadata={"canary": 1}, is_sensitive=True,
    )  # fmt: skip
    leaks = {table for table, texts in contents(conn).items() if any("canary" in text for text in texts)}
    assert leaks == {"memories"}
    assert concepts(conn) == ["other"]


@pytest.mark.parametrize("role", [None, "pgrecall_admin", "pgrecall_engine"])
def test_sensitive_memory_cannot_be_embedded(conn: Connection[Any], role: str | None) -> None:
    number = remember(conn, "x", is_sensitive=True)
    share(conn)
    if role is not None:
        conn.execute(f"SET ROLE {role}")
    update = (
        "UPDATE pgrecall.memories SET embedding = array_fill(1, ARRAY[384])::real[]::halfvec WHERE id = %s"
    )
    with pytest.raises(psycopg.errors.CheckViolation, match="memories_sensitive_not_embedded"):
        conn.execute(update, (number,))
    conn.execute("UPDATE pgrecall.memories SET is_sensitive = false WHERE id = %s", (number,))
    conn.execute(update, (number,))
    # An update that sets both clears the embedding rather than fail.
    conn.execute(update.replace("WHERE", ", is_sensitive = true WHERE"), (number,))
    assert stored(conn, number)["embedding"] is None


@pytest.mark.parametrize("on_conflict", ["error", "keep"])
def test_same_text_under_the_same_external_id_changes_nothing(
    conn: Connection[Any], on_conflict: str
) -> None:
    number = remember(conn, "text", title="title", tags=["ann"], external_id="e")
    before = contents(conn)
    assert (
        remember(conn, "text", title="title", tags=["bob"], external_id="e", on_conflict=on_conflict)
        == number
    )
    assert contents(conn) == before


def test_conflict_is_an_error(conn: Connection[Any]) -> None:
    remember(conn, "text", external_id="e")
    for options in ({"content": "other"}, {"content": "text", "title": "other"}):
        with refused(conn, "23505"):
            call(conn, "remember", external_id="e", **options)
    remember(conn, "other", external_id="e", namespace="another", create_namespace=True)


def test_conflict_keeps_what_is_there(conn: Connection[Any]) -> None:
    number = remember(conn, "text", external_id="e")
    before = contents(conn)
    assert remember(conn, "other", external_id="e", is_sensitive=True, on_conflict="keep") == number
    assert contents(conn) == before


def test_conflict_revises_what_is_given(conn: Connection[Any]) -> None:
    number = remember(
        conn, "text", title="t", tags=["ann"], importance=0.9, metadata={"m": 1}, external_id="e"
    )
    embed(conn, number)
    assert remember(conn, "other", category="c", external_id="e", on_conflict="update") == number
    found = stored(conn, number)
    assert (found["content"], found["category"]) == ("other", "c")
    assert (found["title"], found["tags"], found["metadata"]) == ("t", ["ann"], {"m": 1})
    assert found["importance"] == pytest.approx(0.9)
    assert found["embedding"] is None
    remember(conn, "other", title="", tags=[], metadata={}, external_id="e", on_conflict="update")
    found = stored(conn, number)
    assert (found["title"], found["tags"], found["metadata"], found["category"]) == (None, [], {}, "c")
    assert concepts(conn) == []


def test_a_superseded_memory_with_another_text_is_current_again(conn: Connection[Any]) -> None:
    number = remember(conn, "tea at four", external_id="e")
    call(conn, "supersede", number, "tea at five")
    remember(conn, "tea at four", external_id="e", tags=["t"], on_conflict="update")
    assert stored(conn, number)["superseded_by"] is not None
    remember(conn, "tea at six", external_id="e", on_conflict="update")
    found = stored(conn, number)
    assert (found["superseded_by"], found["superseded_at"], found["valid_to"]) == (None, None, None)
    assert number in [row[0] for row in rows(conn, "recall", "tea at six")]


def test_sensitivity_is_not_lost_by_a_conflict(conn: Connection[Any]) -> None:
    number = remember(conn, "secret", external_id="e", is_sensitive=True)
    remember(conn, "new secret", external_id="e", on_conflict="update")
    assert stored(conn, number)["is_sensitive"]
    remember(conn, "no secret", external_id="e", is_sensitive=False, on_conflict="update")
    assert not stored(conn, number)["is_sensitive"]
    # Somebody who stores a secret must not be told that all is well while it waits to be embedded.
    with refused(conn, "23505"):
        remember(conn, "no secret", external_id="e", is_sensitive=True)


def test_forgotten_external_id(conn: Connection[Any]) -> None:
    number = remember(conn, "text", tags=["ann"], external_id="e")
    call(conn, "forget", number)
    with refused(conn, "23505"):
        remember(conn, "text", external_id="e")
    assert remember(conn, "text", external_id="e", on_conflict="keep") == number
    assert stored(conn, number)["deleted_at"] is not None
    assert remember(conn, "text", external_id="e", on_conflict="update") == number
    assert stored(conn, number)["deleted_at"] is None
    assert concepts(conn, number) == ["ann"]


def test_two_sessions_store_the_same_external_id(conn: Connection[Any], dsn: str) -> None:
    with psycopg.connect(dsn) as first:
        number = remember(first, "text", external_id="e")
        second = waits(conn, lambda: remember(conn, "text", external_id="e"))
        first.commit()
        assert second() == number
    with psycopg.connect(dsn) as first:
        remember(first, "one", external_id="f")
        second = waits(conn, lambda: remember(conn, "two", external_id="f"))
        first.commit()
        with pytest.raises(psycopg.errors.UniqueViolation):
            second()
    with psycopg.connect(dsn) as first:
        remember(first, "one", external_id="g")
        second = waits(conn, lambda: remember(conn, "two", external_id="g"))
        first.rollback()
        assert stored(conn, second())["content"] == "two"


@pytest.mark.parametrize("importance", [0, 2**-149, 1e-45, 7.1e-46, 1e-38, 1])
def test_every_importance_that_a_memory_can_have_is_taken(conn: Connection[Any], importance: float) -> None:
    """An export writes the smallest, 2 ** -149, as 1e-45."""
    number = remember(conn, "tea", importance=importance)
    found = scalar(conn, "SELECT to_jsonb(importance) FROM pgrecall.memories WHERE id = %s", number)
    again = remember(conn, "tea", importance=float(found))
    assert stored(conn, again)["importance"] == stored(conn, number)["importance"]
