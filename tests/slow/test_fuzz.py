"""A short run of `make fuzz` as each role: hostile calls of all that it may execute, and nothing but refusals that are meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fuzz.__main__ import summary
from fuzz.attack import Attack
from fuzz.ground import ROLES, ground
from fuzz.judging import leak

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 16
CALLS = 2000


@pytest.mark.parametrize("role", ROLES)
def test_hostile_calls_find_nothing(new_database: Callable[..., str], template: str, role: str) -> None:
    with ground(new_database(template)) as attacked:
        outcome = Attack(attacked, role, SEED, calls=CALLS).run()
    assert outcome.calls >= CALLS
    # The arguments come as far as bodies, and what is refused is refused for several reasons.
    assert outcome.states["00000"] > CALLS / 3
    assert len(outcome.states) > 5
    assert not outcome.findings, summary(outcome, SEED)


def test_a_changed_row_of_others_is_found(new_database: Callable[..., str], template: str) -> None:
    """What the run looks for is there to be found: another tenant's row, and its word."""
    with ground(new_database(template)) as attacked, attacked.tenants.owner() as owner:
        before = attacked.others_rows(owner, "writer")
        assert leak(str(before), attacked.canaries("writer")) is not None
        owner.execute(
            "UPDATE pgrecall.memories SET importance = 0.1 WHERE id = %s", (attacked.tenants.memory,)
        )
        after = attacked.others_rows(owner, "writer")
        assert {table for table in after if after[table] != before[table]} == {"memories", "memory_changes"}
