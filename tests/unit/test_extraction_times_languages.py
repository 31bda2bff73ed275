"""The times that a text in another language speaks of, with dateparser and without."""

from __future__ import annotations

import sys

import pytest

from pgrecall_extract.temporal import languages
from pgrecall_extract.temporal.references import temporal_references
from support.time_reading import NOON, one, read

FOREIGN = [
    ("german", "Wir treffen uns am 5. Mai 2024.", "5. Mai 2024", "2024-05-05 2024-05-06", "day"),
    ("german", "am 29. Februar 2024", "29. Februar 2024", "2024-02-29 2024-03-01", "day"),
    ("german", "sein Geburtstag, 20. Dezember", "20. Dezember", "2025-12-20 2025-12-21", "day"),
    ("german", "im März 2021", "März 2021", "2021-03-01 2021-04-01", "month"),
    ("german", "letzte Woche", "letzte Woche", "2026-05-04 2026-05-11", "week"),
    ("german", "vor zwei Wochen", "vor zwei Wochen", "2026-04-27 2026-05-04", "week"),
    ("german", "in 2 Wochen", "in 2 Wochen", "2026-05-27 2026-05-28", "day"),
    ("german", "vor 3 Tagen", "vor 3 Tagen", "2026-05-10 2026-05-11", "day"),
    ("german", "nächstes Jahr", "nächstes Jahr", "2027-01-01 2028-01-01", "year"),
    ("german", "am Montag", "Montag", "2026-05-11 2026-05-12", "day"),
    ("spanish", "el 3 de marzo de 2021", "3 de marzo de 2021", "2021-03-03 2021-03-04", "day"),
    ("spanish", "la semana pasada", "la semana pasada", "2026-05-04 2026-05-11", "week"),
    ("french", "le 1er janvier 2020", "1er janvier 2020", "2020-01-01 2020-01-02", "day"),
    ("french", "il y a 3 jours", "il y a 3 jours", "2026-05-10 2026-05-11", "day"),
    ("italian", "il 3 maggio 2021", "3 maggio 2021", "2021-05-03 2021-05-04", "day"),
    ("dutch", "vorige week", "vorige week", "2026-05-04 2026-05-11", "week"),
    ("russian", "5 мая 2020 года", "5 мая 2020", "2020-05-05 2020-05-06", "day"),
    ("russian", "вчера", "вчера", "2026-05-12 2026-05-13", "day"),
    ("hungarian", "2024. május 5.", "2024. május 5", "2024-05-05 2024-05-06", "day"),
    ("arabic", "5 مايو 2020", "5 مايو 2020", "2020-05-05 2020-05-06", "day"),
    ("hindi", "5 मई 2020", "5 मई 2020", "2020-05-05 2020-05-06", "day"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text", "stretch", "period", "granularity"), FOREIGN)
def test_other_languages(language: str, text: str, stretch: str, period: str, granularity: str) -> None:
    assert read(text, NOON, language) == [(stretch, period, granularity)]
    assert temporal_references(text, NOON, language)[0].source == "dateparser"


@pytest.mark.parametrize(
    ("language", "text", "stretches"),
    [
        ("german", "seit 2019, am 5.3.2024 und Q3 2024", ["2019", "5.3.2024", "Q3 2024"]),
        ("french", "depuis 2010 (1994–1998)", ["2010", "1994–1998"]),
        ("spanish", "desde 2019", ["2019"]),
        ("tamil", "2024-03-05", ["2024-03-05"]),
        ("klingon", "2024-03-05 last week", ["2024-03-05"]),
    ],
)
def test_numbers_in_other_languages(language: str, text: str, stretches: list[str]) -> None:
    found = temporal_references(text, NOON, language)
    assert [text[part.start : part.end] for part in found] == stretches
    assert {part.source for part in found} == {"pattern"}


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("german", "am Morgen, jeden Montag, 29. Februar 2023, 31. April 2024, 2024 Leute"),
        ("spanish", "por la mañana en el mar, los lunes"),
        ("french", "le lundi, en mars"),
        ("portuguese", "a segunda e a quinta"),
        ("german", "last week, yesterday"),
    ],
)
def test_what_names_no_time_in_other_languages(language: str, text: str) -> None:
    assert read(text, NOON, language) == []


def test_without_dateparser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "dateparser.date", None)
    languages._pattern.cache_clear()
    try:
        assert read("seit 2019, letzte Woche", NOON, "german") == [("2019", "2019-01-01 2020-01-01", "year")]
        assert one("last week")[0] == "2026-05-04 2026-05-11"
    finally:
        languages._pattern.cache_clear()
