"""No Python file of the packages outgrows its limit, and the check can fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tools import check_length as tool

if TYPE_CHECKING:
    from pathlib import Path


def test_no_file_of_the_packages_is_too_long() -> None:
    assert list(tool.too_long(tool.ROOT)) == []


@pytest.mark.parametrize("folder", ["pyclient/pgrecall", "embedder/pgrecall_extract/entities", "benchmarks"])
def test_a_file_with_one_line_too_many_is_named(folder: str, tmp_path: Path) -> None:
    place = tmp_path / folder
    place.mkdir(parents=True)
    (place / "fits.py").write_text("x = 1\n" * tool.MOST_LINES)
    (place / "long.py").write_text("x = 1\n" * (tool.MOST_LINES + 1))
    [found] = tool.too_long(tmp_path)
    assert found.startswith(f"{folder}/long.py: 401 lines,")
