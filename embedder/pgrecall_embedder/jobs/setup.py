"""What the database says about how memories are to be read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Rule", "Setup", "setup_from"]


@dataclass(frozen=True, slots=True)
class Rule:
    """Names and patterns of one type.

    Attributes:
        namespace_id: Whose rule it is; None: it holds for all namespaces.
        type: The type of what it finds.
        keywords: Names, in any case.
        patterns: Regular expressions of Python.
    """

    namespace_id: int | None
    type: str
    keywords: tuple[str, ...] = field(repr=False)
    patterns: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Setup:
    """Settings and rules as they were at one moment.

    Attributes:
        fingerprint: Changes with any of them.
        settings: The settings extract, extract_* and llm_* by name.
        rules: The rules of all namespaces.
    """

    fingerprint: str
    settings: Mapping[str, str] = field(repr=False)
    rules: tuple[Rule, ...] = field(repr=False)

    def is_on(self, name: str) -> bool:
        """Whether a setting is "on".

        Args:
            name: The setting's name.
        """
        return self.settings[name] == "on"

    def reads(self, word: str) -> bool:
        """Whether a word is in the list of what is extracted.

        Args:
            word: A word of the setting extract.
        """
        return word in self.settings["extract"].replace(" ", "").split(",")

    def number(self, name: str) -> float | None:
        """Return a setting as a number; None where it is empty.

        Args:
            name: The setting's name.
        """
        value = self.settings[name]
        return float(value) if value else None


def setup_from(fingerprint: str, settings: Mapping[str, str], rules: list[dict[str, Any]]) -> Setup:
    """Make a setup of a row of pgrecall.extraction_setup().

    Args:
        fingerprint: Its first column.
        settings: Its second.
        rules: Its third.
    """
    return Setup(
        fingerprint,
        settings,
        tuple(
            Rule(rule["namespace_id"], rule["type"], tuple(rule["keywords"]), tuple(rule["patterns"]))
            for rule in rules
        ),
    )
