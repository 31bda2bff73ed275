"""The section on the terms of a learned sparse model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.quality.run import FULL
from benchmarks.report.legs import METRICS, best_leg, interval
from benchmarks.report.markdown import file_link, of_kind, revision, table
from pgrecall.query.embedding_models import DEFAULT_MODEL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.report.markdown import Results

__all__ = ["render"]

_WITHOUT = "recall:sparse_share=0"
_SHARE = "recall:sparse_share="


def render(results: Results) -> list[str]:
    """Render the section; nothing if it was not measured."""
    measured = of_kind(results, "sparse")
    if not measured:
        return []
    return [
        "## Words that a memory does not hold\n",
        "`recall` with the terms of a learned sparse model and without them, in one run, and the difference "
        "with its 95 % confidence interval. Bold: significant. Over the better leg: `recall` with the terms "
        "minus the better of `lexical` and `dense`. Off by default "
        "([how](embedding.md#words-that-a-memory-does-not-hold)).\n",
        table(
            [
                "data set",
                *METRICS.values(),
                "nDCG@10, over the better leg",
                "bytes a memory",
                "texts a second",
            ],
            [_gained(name, found) for name, found in measured],
        ),
        "The share of the lexical weight that the terms have: the mean of the three metrics, and the share "
        "that is best on the other data sets.\n",
        _shares([found for _, found in measured]),
    ]


def _gained(name: str, found: Mapping[str, Any]) -> list[str]:
    systems, sparse = found["systems"], found["sparse"]
    gains = {(one["b"], one["metric"]): one for one in found["comparisons"] if one["a"] == FULL}
    leg = best_leg(found, None, "ndcg@10")
    return [
        f"{file_link(name, text=_measured_on(found))} ({revision(found['git'])})",
        *(
            f"{systems[_WITHOUT]['overall'][metric]:.3f} → {systems[FULL]['overall'][metric]:.3f}, "
            f"{interval(gains[_WITHOUT, metric])}"
            for metric in METRICS
        ),
        "" if leg is None else f"{interval(leg)} `{leg['b']}`",
        f"{sparse['bytes']:,}" if sparse["with_terms"] else "none: not its language",
        f"{sparse['per_second']:.0f}" if sparse["with_terms"] and sparse["per_second"] else "",
    ]


def _measured_on(found: Mapping[str, Any]) -> str:
    encoder = found["model"]["name"]
    return (
        found["dataset"] if encoder == DEFAULT_MODEL else f"{found['dataset']}, {encoder.rpartition('/')[2]}"
    )


def _shares(measured: Sequence[Mapping[str, Any]]) -> str:
    means = [
        {
            name: sum(found["systems"][name]["overall"][metric] for metric in METRICS) / len(METRICS)
            for name in found["systems"]
            if name == FULL or name.startswith(_SHARE)
        }
        for found in measured
    ]
    names = sorted(set.intersection(*map(set, means)), key=lambda name: _share(measured[0], name))
    rows = []
    for found, own in zip(measured, means, strict=True):
        others = [mean for mean in means if mean is not own] or means
        best = max(names, key=lambda name: sum(mean[name] for mean in others))
        rows.append(
            [_measured_on(found), *(f"{own[name]:.4f}" for name in names), f"{_share(measured[0], best):g}"]
        )
    return table(["data set", *(f"{_share(measured[0], name):g}" for name in names), "best elsewhere"], rows)


def _share(found: Mapping[str, Any], name: str) -> float:
    return float(found["settings"]["sparse_share"] if name == FULL else name.removeprefix(_SHARE))
