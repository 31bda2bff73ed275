"""Places for figures in pages that people write: between two comments, by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["NoFigures", "fill", "without"]

_PLACE = re.compile(
    r"(<!-- figures: ([a-z-]+), written by `make bench-report` -->\n).*?(<!-- /figures -->\n)", re.DOTALL
)


class NoFigures(ValueError):  # noqa: N818
    """A page has a place for figures of a name that nothing makes."""


def fill(page: str, text: str, blocks: Mapping[str, str]) -> str:
    """Return a page with what belongs into its places.

    Args:
        page: Its name, for the error.
        text: The page.
        blocks: Figures by the name of their place.

    Raises:
        NoFigures: There are none of a name.
    """
    unknown = {name for _, name, _ in _PLACE.findall(text)} - set(blocks)
    if unknown:
        raise NoFigures(f"{page} has a place for figures that nothing makes: {', '.join(sorted(unknown))}")
    return _PLACE.sub(lambda found: f"{found[1]}\n{blocks[found[2]]}\n{found[3]}", text)


def without(text: str) -> str:
    """Return a page without what is in its places."""
    return _PLACE.sub("", text)
