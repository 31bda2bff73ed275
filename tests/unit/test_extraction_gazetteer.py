"""Names from lists: keywords and patterns of a namespace, and well-known technologies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgrecall_extract.entities.gazetteer import BUILT_IN_RULES, EntityRules, Gazetteer
from pgrecall_extract.errors import InvalidRules
from support.reading import assert_spans, typed

RULES = (
    EntityRules("PRODUCT", keywords=("Blue Rocket", "Blue Rocket Pro", "on-call", "C++", "東京")),
    EntityRules("TICKET", patterns=(r"TCK-\d+", r"order (?P<name>\d{4})")),
)


def found(text: str, rules: tuple[EntityRules, ...] = RULES) -> dict[str, str]:
    mentions = list(Gazetteer(rules).find(text))
    assert_spans(text, mentions)
    return typed(mentions)


def test_keywords_match_whole_words_in_any_case_longest_first() -> None:
    assert found("we like the BLUE  rocket pro") == {"BLUE  rocket pro": "PRODUCT"}
    assert found("a blue rocket, and C++") == {"blue rocket": "PRODUCT", "C++": "PRODUCT"}
    assert found("the On-Call week") == {"On-Call": "PRODUCT"}
    assert found("blue rocketry, bluerocket") == {}


def test_a_keyword_of_a_script_without_blanks_is_found_inside_a_sentence() -> None:
    assert found("私は東京に住む") == {"東京": "PRODUCT"}


def test_patterns_match_at_the_begin_and_end_of_words() -> None:
    assert found("see TCK-12 and order 1234.") == {"TCK-12": "TICKET", "1234": "TICKET"}
    assert found("see XTCK-12 and order 12345") == {}


def test_well_known_technologies_are_built_in() -> None:
    assert found("postgresql with Python on kubernetes", BUILT_IN_RULES) == {
        "postgresql": "TECHNOLOGY",
        "Python": "TECHNOLOGY",
        "kubernetes": "TECHNOLOGY",
    }
    assert found("a python ate the git", BUILT_IN_RULES) == {}


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$",
        r"(a|aa)+$",
        r"(\w*\s*)*x",
        r"a?" * 30 + "a" * 30,
        r".*.*.*.*=",
        r"(?:(?:a{0,9}){0,9}){0,9}b",
        "a" * 501,
    ],
)
def test_patterns_that_may_take_long_are_refused_when_loaded(pattern: str) -> None:
    with pytest.raises(InvalidRules, match=r"too long|longer than"):
        Gazetteer((EntityRules("X", patterns=(pattern,)),))


@pytest.mark.parametrize(
    "pattern", [r"[A-Z]\w+ [A-Z]\w+ Street", r"(?:Inc|Ltd)\.?", r"\w++-\d+", r"(?>a+)b", r"(?i)x{2,5}y"]
)
def test_ordinary_patterns_are_taken(pattern: str) -> None:
    assert list(Gazetteer((EntityRules("X", patterns=(pattern,)),)).find("")) == []


def test_what_is_no_pattern_or_keyword_is_refused_with_its_place() -> None:
    with pytest.raises(InvalidRules, match="pattern 2 of type X"):
        Gazetteer((EntityRules("X", patterns=("a", "(")),))
    with pytest.raises(InvalidRules, match="keyword of type X is empty"):
        Gazetteer((EntityRules("X", keywords=(" ",)),))


def test_thousands_of_keywords_with_one_first_word_are_told_apart() -> None:
    rules = (EntityRules("PROJECT", keywords=tuple(f"Project {number}" for number in range(5000))),)
    assert found("project 4321 follows Project 7.", rules) == {
        "project 4321": "PROJECT",
        "Project 7": "PROJECT",
    }


@given(st.text(), st.lists(st.text(min_size=1).filter(lambda word: bool(word.strip())), max_size=5))
def test_any_text_and_keywords_give_spans_within_it(text: str, keywords: list[str]) -> None:
    gazetteer = Gazetteer((EntityRules("X", keywords=tuple(keywords), patterns=(r"\w+\s\w+",)),))
    assert_spans(text, gazetteer.find(text))
