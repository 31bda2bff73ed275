"""The parts of a score are named once, for the command line, the inspector and its colours."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from pgrecall.contrib.ui import charts
from pgrecall.contrib.ui.charts import PARTS, stack
from pgrecall.models import Explanation, RecalledMemory
from pgrecall.query.legs import BOOSTS, DESCRIBED, LEGS


def test_the_parts_are_those_of_an_explanation() -> None:
    parts = [one.name for one in fields(Explanation) if one.name.endswith("_part")]
    assert sorted(parts) == sorted(f"{name}_part" for name in (*LEGS, *BOOSTS))
    assert list(PARTS) == [*LEGS, *BOOSTS]


def test_each_leg_is_described() -> None:
    assert tuple(DESCRIBED) == LEGS
    columns = {one.name for one in fields(RecalledMemory)}
    assert {f"{leg}_rank" for leg in LEGS} | {one.score for one in DESCRIBED.values()} <= columns


def test_each_part_has_a_colour() -> None:
    style = (Path(charts.__file__).parent / "static" / "style.css").read_text(encoding="utf-8")
    for name in PARTS:
        assert style.count(f"--{name}: #") == 2
        assert f".key.{name} {{" in style
        assert f".bar .{name} {{" in style


def test_a_bar_shows_every_part() -> None:
    values = dict.fromkeys((one.name for one in fields(Explanation)), None)
    explained = Explanation(**values | {f"{name}_part": 0.1 for name in PARTS} | {"top": 1.0})  # type: ignore[arg-type]
    assert [bar.name for bar in stack(explained)] == list(PARTS)
