"""The section on learning from feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.report.markdown import file_link, of_kind, revision, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.report.markdown import Results

__all__ = ["render"]

_METRICS = ("recall@5", "recall@10", "ndcg@10")


def render(results: Results) -> list[str]:
    """Render the section; nothing if it was not measured."""
    measured = of_kind(results, "learning")
    if not measured:
        return []
    return [
        "## Learning from feedback\n",
        "`pgrecall.learn` finds weights from one half of the questions, and they are measured on the other "
        "half ([how](learning.md)). *Found*: the gain if they are used in any case; *adopted*: if `learn` "
        "itself decides, from that half alone. A namespace with fewer than 40 questions in a half "
        "learns nothing.\n",
        table(
            [
                "data set",
                *(f"found: {metric}" for metric in _METRICS),
                "adopted: ndcg@10",
                "adopted in",
                "seconds",
            ],
            [_learned(name, found) for name, found in measured],
        ),
    ]


def _learned(name: str, found: Mapping[str, Any]) -> list[str]:
    gains = {(one["a"], one["metric"]): one for one in found["comparisons"]}
    runs = found["runs"]
    seconds = sorted(run["seconds"] for run in runs)
    return [
        f"{file_link(name, text=found['dataset'])} ({revision(found['git'])})",
        *(_gain(gains["found", metric]) for metric in _METRICS),
        _gain(gains["adopted", "ndcg@10"]),
        f"{sum(run['is_adopted'] for run in runs)} of {len(runs)}",
        f"{seconds[0]:.0f} to {seconds[-1]:.0f}",
    ]


def _gain(one: Mapping[str, Any]) -> str:
    low, high = one["ci95"]
    text = f"{one['delta']:+.3f} [{low:+.3f}, {high:+.3f}]"
    return f"**{text}**" if low > 0 or high < 0 else text
