"""How a table of another store writes lists of keywords and tags."""

from __future__ import annotations

import pytest

from pgrecall.contrib.importers.fields import texts


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("expanded_keywords", "car vehicle  automobile", ["car", "vehicle", "automobile"]),
        ("expanded_keywords", "car\tvehicle\ncar", ["car", "vehicle"]),
        ("expanded_keywords", "motor car, vehicle", ["motor car", "vehicle"]),
        ("expanded_keywords", '["motor car", "vehicle"]', ["motor car", "vehicle"]),
        ("expanded_keywords", "car", ["car"]),
        ("expanded_keywords", " ", []),
        ("tags", "New York", ["New York"]),
        ("tags", "New York, travel", ["New York", "travel"]),
    ],
)
def test_keywords_stand_between_commas_or_spaces(field: str, value: str, expected: list[str]) -> None:
    assert texts(field, value) == expected
