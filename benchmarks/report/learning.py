"""The sections on learning from feedback and on recall's confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.report.markdown import file_link, of_kind, revision, table
from benchmarks.report.plots import Plot, confidence_plot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.report.markdown import Results

__all__ = ["render"]

_METRICS = ("recall@5", "recall@10", "ndcg@10")
_PLOT = "benchmarks/confidence.png"


def render(results: Results, plots: dict[str, Plot]) -> list[str]:
    """Render both sections; nothing of one that was not measured."""
    return [*_learning(of_kind(results, "learning")), *_confidence(of_kind(results, "abstention"), plots)]


def _learning(measured: Results) -> list[str]:
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


def _confidence(measured: Results, plots: dict[str, Plot]) -> list[str]:
    if not measured:
        return []
    plots[_PLOT] = confidence_plot({found["dataset"]: found["curve"] for _, found in measured})
    return [
        "## Knowing when the answer is unknown\n",
        "Each question is asked twice: as it is, and after its answering memories are forgotten. `recall` "
        "returns a confidence with each memory; these figures are of the first. *Known* tells questions with "
        "an answer in memory from those without; *right* tells first memories that answer from those that do "
        "not. The calibration error is the mean gap between the confidence and the share that is right.\n",
        table(
            ["data set", "questions", "first is right", "AUROC known", "AUROC right", "calibration error"],
            [
                [
                    f"{file_link(name, text=found['dataset'])} ({revision(found['git'])})",
                    str(found["questions"]),
                    f"{found['share_right']:.3f}",
                    f"{found['auroc_known']:.3f}",
                    f"{found['auroc_right']:.3f}",
                    f"{found['calibration_error']:.3f}",
                ]
                for name, found in measured
            ],
        ),
        f"![Share of right first memories kept against the share of others, for all thresholds]({_PLOT})\n",
    ]
