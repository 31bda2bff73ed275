"""Names that their spelling gives away."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgrecall_extract.entities.gazetteer import BUILT_IN_RULES, Gazetteer
from pgrecall_extract.entities.names import find_names
from pgrecall_extract.entities.patterns import find_patterns
from pgrecall_extract.secrets import looks_secret, secret_spans
from support.reading import assert_spans, typed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

HOSTILE = ("a", "A", "aA", "/a", "a/", "a_", "a.", "@", "a@", "http://", "\\", "A. ", "A of ", '"A ', ".", " ", "(",
           "I ", "V 1.", "-", "password: ", "C:\\a", "日", "#1", "Bob was born on a b c, ")  # fmt: skip


@pytest.mark.parametrize(
    ("text", "name", "type_"),
    [
        ("see src/app/main.py for it", "src/app/main.py", "FILE"),
        ("it is in (utils.py:42).", "utils.py", "FILE"),
        ("edit /etc/postgresql/pg_hba.conf, then", "/etc/postgresql/pg_hba.conf", "FILE"),
        ("in ~/notes/today.md now", "~/notes/today.md", "FILE"),
        (r"from C:\work\plan.docx", r"C:\work\plan.docx", "FILE"),
        ("the Dockerfile is broken", "Dockerfile", "FILE"),
        (
            "https://github.com/acme/rocket/issues/3 is open",
            "https://github.com/acme/rocket/issues/3",
            "FILE",
        ),
        ("git clone https://github.com/acme/rocket.git", "https://github.com/acme/rocket.git", "FILE"),
        ("(https://pypi.org/project/httpx/).", "https://pypi.org/project/httpx/", "FILE"),
        ("see www.example.org/a?page=2, it", "www.example.org/a?page=2", "FILE"),
        ("(see https://example.org/Go_(game)).", "https://example.org/Go_(game)", "FILE"),
        ("ask at example.org for it", "example.org", "CONCEPT"),
        ("ask @priya-s, please", "priya-s", "PERSON"),
        ("we call parse_config() there", "parse_config", "TECHNOLOGY"),
        ("the max_retries setting", "max_retries", "TECHNOLOGY"),
        ("set MAX_RETRIES=3", "MAX_RETRIES", "TECHNOLOGY"),
        ("camelCase names: fetchUserData", "fetchUserData", "TECHNOLOGY"),
        ("class HttpRequestPool is old", "HttpRequestPool", "TECHNOLOGY"),
        ("use os.path.join here", "os.path.join", "TECHNOLOGY"),
        ("fixed in PROJ-123 today", "PROJ-123", "PROJECT"),
        ("see acme/rocket#12", "acme/rocket", "PROJECT"),
        ("see acme/rocket#12", "acme/rocket#12", "PROJECT"),
        ("issue #123 is open", "#123", "PROJECT"),
        ("we run PostgreSQL 17.2 now", "PostgreSQL", "TECHNOLOGY"),
        ("Terraform v1.9 broke", "Terraform", "TECHNOLOGY"),
    ],
)
def test_a_spelling_tells_name_and_type(text: str, name: str, type_: str) -> None:
    found = list(find_patterns(text))
    assert typed(found)[name] == type_
    assert_spans(text, found)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("read https://example.org/a?page=1&api_key=b first", "https://example.org/a"),
        ("read https://example.org/a#access_token=b first", "https://example.org/a"),
        ("clone https://bob:pw@example.org/x.git now", "example.org/x.git"),
    ],
)
def test_an_address_tells_neither_its_user_nor_its_key(text: str, name: str) -> None:
    assert [mention.name for mention in find_patterns(text)] == [name]


@pytest.mark.parametrize(
    "text",
    [
        "write to jane.doe@example.com",
        "he/she and/or 24/7, e.g. this",
        "it reached #1 in 1999",
        "the end.Then it rained",
        "3.14 is not 10.5 %",
        "id 123e4567-e89b-12d3-a456-426614174000",
        "commit 9f86d081884c7d65",
        "key sk-proj-abcdEFGH1234567890abcd",
        "Genesis 1.2 and Chapter 3.4",
        "Ronald McDonald and Ms DeMille",
        "COVID-19 and UTF-8",
    ],
)
def test_other_spellings_are_no_names(text: str) -> None:
    assert list(find_patterns(text)) == []


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("the password is Hunter2!", "Hunter2!"),
        ("DB_PASSWORD=AbCdEf", "AbCdEf"),
        ("api key = Zebra-Crossing", "Zebra-Crossing"),
        ("https://Bob:pw@example.org/x", "Bob"),
        ("mail Jane.Doe@example.com", "Jane.Doe@example.com"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    ],
)
def test_secrets_are_found_before_any_name(text: str, secret: str) -> None:
    inside = [text[begin:end] for begin, end in secret_spans(text)]
    assert any(secret in stretch for stretch in inside)


def test_common_words_and_identifiers_are_no_secrets() -> None:
    assert not any(
        map(
            looks_secret, ["PostgreSQL", "max_retries", "src/app/main_v2.py", "1990s", "12345678", "hf_token"]
        )
    )


@given(st.text())
def test_any_text_gives_spans_within_it(text: str) -> None:
    assert_spans(text, find_patterns(text))
    assert all(0 <= begin < end <= len(text) for begin, end in secret_spans(text))


FINDERS: dict[str, Callable[[str], Iterable[Any]]] = {
    "patterns": find_patterns,
    "secrets": secret_spans,
    "names": find_names,
    "gazetteer": Gazetteer(BUILT_IN_RULES).find,
}


def _events(find: Callable[[str], Iterable[Any]], text: str) -> int:
    """Count the calls, of C functions too, that reading a text takes."""
    count = 0

    def counting(_frame: object, _event: str, _argument: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(counting)
    try:
        for _ in find(text):
            pass
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("finder", FINDERS)
def test_the_work_grows_with_the_text_and_no_faster(finder: str) -> None:
    for repeated in HOSTILE:
        once = _events(FINDERS[finder], repeated * 500)
        assert _events(FINDERS[finder], repeated * 2000) < 5 * once + 100, repeated


@pytest.mark.parametrize("finder", FINDERS)
def test_a_long_hostile_text_is_read_to_its_end(finder: str) -> None:
    for repeated in HOSTILE:
        for _ in FINDERS[finder](repeated * (262_144 // len(repeated))):
            pass
