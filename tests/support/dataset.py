"""A data set of a few memories whose answers only the concept graph reaches."""

from __future__ import annotations

from typing import Any

CORPUS: list[dict[str, Any]] = [
    {"id": 1, "title": "Marlow Bridge", "content": "Marlow Bridge crosses the Tarn at Ostley."},
    {"id": 2, "title": "Ostley", "content": "Ostley is a town known for its lace market."},
    {"id": 3, "title": "Ben Carrow", "content": "Ben Carrow sold the tractor and bought two sturdy horses."},
    {"id": 4, "title": "Violin", "content": "A violin teacher visits on Thursday afternoons."},
    {"id": 5, "title": "Frogs", "content": "Behind the old barn in spring the frogs are loud."},
    {"id": 6, "title": "Lace", "content": "Lace from Ostley was worn by Ben Carrow."},
    {"id": 7, "title": "Safe", "content": "The safe of Ben Carrow opens with 7-22-31.", "is_sensitive": True},
    *({"id": 100 + n, "content": f"Note {n}: the lights of house {n} were on all night."} for n in range(60)),
]
QUERIES: list[dict[str, Any]] = [
    {"query_id": "q1", "text": "What is the town that Marlow Bridge leads to known for?", "stratum": "two"},
    {"query_id": "q2", "text": "Which animals replaced the farm machine?", "stratum": "one"},
    {"query_id": "q3", "text": "Who wore lace?", "stratum": "one", "exclude_ids": [2]},
    {"query_id": "q4", "text": "Which lights were on?", "stratum": "one"},
]
QRELS: list[dict[str, Any]] = [
    {"query_id": "q1", "relevant_ids": [1, 2]},
    {"query_id": "q2", "relevant_ids": [3]},
    {"query_id": "q3", "relevant_ids": [6]},
    {"query_id": "q4", "relevant_ids": [4, 120]},
]
