"""How often the server makes a plan for a recall: it reports each one to the client."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg.errors import Diagnostic

    from benchmarks.speed.measure import Call
    from benchmarks.speed.questions import Question

__all__ = ["CALLS", "plans"]

CALLS = 1000


def plans(dsn: str, call: Call, questions: Sequence[Question]) -> dict[str, int]:
    """Count the plans that recall makes on a new connection.

    Args:
        dsn: Of a superuser: nobody else may switch the server's statistics on.
        call: What is counted.
        questions: Asked in turn, again from the first one when all were asked.

    Returns:
        `calls`, and the plans made by the first call (`first`), by the second (`second`) and by the others
        together (`others`). The plan of the statement that calls recall is among them.
    """
    made = 0

    def count(message: Diagnostic) -> None:
        nonlocal made
        made += message.message_primary == "PLANNER STATISTICS"

    numbers = []
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SET client_min_messages = log")
        connection.add_notice_handler(count)
        connection.execute("SET log_planner_stats = on")
        for number in range(CALLS):
            made = 0
            call(connection, questions[number % len(questions)])
            numbers.append(made)
    return {"calls": CALLS, "first": numbers[0], "second": numbers[1], "others": sum(numbers[2:])}
