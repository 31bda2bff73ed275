"""A namespace after a long life: its sizes, times and answers, as `python -m benchmarks aging` wrote them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.report.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["aging"]

_STAGES = {"young": "after loading", "aged": "after the changes", "renewed": "made anew"}
_INTRODUCTION = """\
{memories:,} memories of {dim} dimensions live while {changes:,} changes are made, one call each: two of
five update a text, two supersede a memory, one forgets one and stores another. Every 500 changes an embedder
embeds, flushes and compacts; nothing but autovacuum vacuums. *Made anew*: `rebuild_all_postings`, then
`VACUUM FULL` of postings and memories. {changes_per_second} changes a second, with embedding.
{questions} questions.
Each visit of the embedder begins with the same vectors again, so many memories share theirs, and ties decide
between them in hybrid answers. What was superseded or forgotten stays in the tables, as history.
"""


def aging(found: Mapping[str, Any]) -> str:
    """Render the sizes and times of each stage, and what became of the answers.

    Args:
        found: The results.
    """
    stages = [found["stages"][stage] for stage in _STAGES]
    rows: list[Iterable[str]] = [
        *(
            (f"recall, {way}: p50, ms", *(f"{stage['p50_ms'][way]:.1f}" for stage in stages))
            for way in stages[0]["p50_ms"]
        ),
        *(
            (f"`{name}`, MB", *(f"{stage['megabytes'][name]:.1f}" for stage in stages))
            for name in stages[0]["megabytes"]
        ),
        (
            "of the first ten by words, also found with every posting read",
            *(f"{stage['overlap_with_exact']:.3f}" for stage in stages),
        ),
    ]
    changed = ", ".join(
        f"{share:.1%} of the answers ({way})" for way, share in found["answers_changed_by_renewal"].items()
    )
    stages_table = table(("", *_STAGES.values()), rows)
    return f"{_INTRODUCTION.format(**found)}\n{stages_table}\nMaking everything anew changes {changed}.\n"
