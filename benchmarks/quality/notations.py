"""A data set for `python -m benchmarks quality`: near twins, asked for in other notations of a value."""

from __future__ import annotations

import argparse
import json
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["kinds", "write"]

_DAYS = [date(2026, 12, day) for day in range(1, 23)]
_TWELVE = range(1, 13)
_MONTHS = [date(2026, month, 1) for month in _TWELVE]
_WEEK = [date(2026, 11, day) for day in range(23, 30)]
_ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
]
_CARDINALS = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
_ROMAN = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"]
_GERMAN = ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"]
_FRENCH = ["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"]
_SPANISH = [
    "enero",
    "febrero",
    "marzo",
    "abril",
    "mayo",
    "junio",
    "julio",
    "agosto",
    "septiembre",
    "octubre",
    "noviembre",
    "diciembre",
]
_WHAT = [
    "the piano lesson",
    "the dentist",
    "the parents' evening",
    "the choir",
    "the car service",
    "the vet",
    "a haircut",
]

_Kind = tuple[str, str, list[list[str]]]


def _suffix(number: int) -> str:
    return {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd"}.get(number, "th")


def _table(values: object, *notations: Callable[[int], str]) -> list[list[str]]:
    return [[notation(number) for notation in notations] for number in values]  # type: ignore[attr-defined]


def kinds() -> dict[str, _Kind]:
    """Return for each kind of value a memory, a question and the notations of every value.

    The first value of a row is the first memory's, and so on; column by column they are one notation.
    """
    day = "{what} is on {value}", "what is on {value}?"
    dates = [
        [
            f"{d.day} December",
            f"December {d.day}{_suffix(d.day)}",
            d.isoformat(),
            f"Dec {d.day}",
            f"{d.day:02}/12/2026",
            f"{d.day}-12-2026",
            f"{d.day:02}/12/26",
            f"{d.day}.12.2026",
            f"{d.day}. Dezember",
            f"{d.day} décembre 2026",
            f"{d.day} de diciembre",
            f"{d:%Y%m%d}",
            f"{d.day}{_suffix(d.day)} of December",
            f"{d.day} декабря",
            f"{d.day} grudnia",
            f"12月{d.day}日",
            f"2026年12月{d.day}日",
            f"12월 {d.day}일",
        ]
        for d in _DAYS
    ]
    bare = [
        [
            f"December {d.day}{_suffix(d.day)}",
            d.isoformat(),
            f"{d.day}.12.2026",
            f"{d.day} Dec",
            f"the {d.day}{_suffix(d.day)}",
        ]
        for d in _DAYS
    ]
    return {
        "dates": (*day, dates),
        "day of the month": (*day, bare),
        "phone": (
            "the number of {what} is {value}",
            "whose number is {value}?",
            _table(
                _TWELVE,
                lambda n: f"+44 20 7946 00{n + 9}",
                lambda n: f"020794600{n + 9}",
                lambda n: f"+442079460{n + 9:03}",
                lambda n: f"020 7946 00{n + 9}",
                lambda n: f"(020) 7946-00{n + 9}",
                lambda n: f"0044 20 7946 00{n + 9}",
            ),
        ),
        "clock, morning": (
            "{what} is at {value}",
            "what is at {value}?",
            _table(
                [5, 6, 7, 8, 9, 10, 11],
                lambda n: f"{n:02}:30",
                lambda n: f"{n}:30 am",
                lambda n: f"{n}:30",
                lambda n: f"{n}.30 Uhr",
                lambda n: f"{n}h30",
                lambda n: f"{n}:30 a.m.",
                lambda n: f"上午{n}点半",
                lambda n: f"午前{n}時30分",
                lambda n: f"오전 {n}시 반",
            ),
        ),
        "clock, whole hours": (
            "{what} is at {value}",
            "what is at {value}?",
            _table(
                _TWELVE,
                lambda n: f"{n}pm",
                lambda n: f"{n % 12 + 12}:00",
                lambda n: f"{n} p.m.",
                lambda n: f"{n % 12 + 12} Uhr",
                lambda n: f"{n} pm",
                lambda n: f"{n}:00 PM",
                lambda n: f"下午{n}点",
                lambda n: f"오후 {n}시",
            ),
        ),
        "times and lengths": (
            "{what}: {value}",
            "which one is {value}?",
            [
                [f"{n}:30 min", f"{60 * n + 30} seconds", f"{n}:30 minutes", f"{n}.5 min", f"{n}:30 mins"]
                for n in range(2, 8)
            ]
            + [[f"{n:02}:30", f"{n}:30 am", f"{n}h30", f"{n}:30 a.m.", f"{n}.30 Uhr"] for n in range(2, 8)],
        ),
        "weekdays": (
            "{what} is on {value}",
            "what is on {value}?",
            [
                [f"{d:%A}", f"{d:%a}", german, french, f"{d:%A}s", f"{d:%a}."]
                for d, german, french in zip(_WEEK, _GERMAN, _FRENCH, strict=True)
            ],
        ),
        "months": (
            "{what} is in {value}",
            "what is in {value}?",
            [
                [f"{d:%B}", f"{d:%b}", f"{d:%Y-%m}", f"{d:%B} 2026", f"{d:%b}.", spanish]
                for d, spanish in zip(_MONTHS, _SPANISH, strict=True)
            ],
        ),
        "weights": (
            "{what} weighs {value}",
            "what weighs {value}?",
            _table(
                _TWELVE,
                lambda n: f"{n}kg",
                lambda n: f"{n} kilos",
                lambda n: f"{n} kg",
                lambda n: f"{n},000 grams",
                lambda n: f"{n}.0 kilograms",
                lambda n: f"{n} Kilo",
            ),
        ),
        "distances": (
            "{what} is {value} away",
            "what is {value} away?",
            _table(
                _TWELVE,
                lambda n: f"{n}.5 km",
                lambda n: f"{n}500 m",
                lambda n: f"{n},5 km",
                lambda n: f"{n}.5 kilometres",
                lambda n: f"{n},500 metres",
                lambda n: f"{n}.50km",
            ),
        ),
        "money": (
            "{what} costs {value}",
            "what costs {value}?",
            _table(
                _TWELVE,
                lambda n: f"${n},200",
                lambda n: f"{n}200 dollars",
                lambda n: f"${n}.2k",
                lambda n: f"USD {n}200",
                lambda n: f"{n},200.00 USD",
                lambda n: f"$ {n}200",
            ),
        ),
        "decimals": (
            "{what} got a {value}",
            "what got a {value}?",
            _table(
                _TWELVE,
                lambda n: f"3.{n % 9 + 1}" if n < 10 else f"4.{n - 9}",
                lambda n: f"3.{n % 9 + 1}0" if n < 10 else f"4.{n - 9}0",
                lambda n: f"3,{n % 9 + 1}" if n < 10 else f"4,{n - 9}",
            ),
        ),
        "volumes": (
            "volume {value} is about {what}",
            "what is volume {value} about?",
            [[roman, str(n), word] for n, roman, word in zip(_TWELVE, _ROMAN, _CARDINALS, strict=True)],
        ),
        "ordinals": (
            "{what} came {value}",
            "who came {value}?",
            [[word, f"{n}{_suffix(n)}"] for n, word in zip(_TWELVE, _ORDINALS, strict=True)],
        ),
    }


def _memories(kind: _Kind) -> Iterator[tuple[int, str]]:
    memory, _, table = kind
    for place, notations in enumerate(table):
        yield (
            place,
            memory.format(
                what=f"{_WHAT[place % len(_WHAT)]} of {chr(65 + place)}ri",
                value=notations[place % len(notations)],
            ),
        )


def write(folder: Path) -> None:
    """Write the data set: every value is asked for in every notation."""
    folder.mkdir(parents=True, exist_ok=True)
    corpus, queries, qrels = [], [], []
    for name, kind in kinds().items():
        key = name.replace(" ", "-").replace(",", "")
        corpus += [{"id": f"{key}/{place}", "content": text, "kind": key} for place, text in _memories(kind)]
        for place, notations in enumerate(kind[2]):
            for column, value in enumerate(notations):
                query = f"{key}/{place}/{column}"
                queries.append(
                    {"query_id": query, "text": kind[1].format(value=value), "stratum": key, "kind": key}
                )
                qrels.append({"query_id": query, "relevant_ids": [f"{key}/{place}"]})
    for file, lines in (("corpus", corpus), ("queries", queries), ("qrels", qrels)):
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / f"{file}.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    write(parser.parse_args().folder)
