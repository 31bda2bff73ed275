"""The section on a recall that reads several namespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.report.legs import METRICS, interval
from benchmarks.report.markdown import file_link, of_kind, revision, table

if TYPE_CHECKING:
    from benchmarks.report.markdown import Results

__all__ = ["render"]


def render(results: Results) -> list[str]:
    """Render the section; nothing if it was not measured."""
    rows = []
    for name, found in of_kind(results, "namespaces"):
        losses = {(one["a"], one["metric"]): one for one in found["comparisons"]}
        rows += [
            [
                f"{file_link(name, text=found['dataset'])} ({revision(found['git'])}), {way}",
                *(f"{one[metric]:.3f}" for metric in METRICS),
                "" if way == "one" else interval(losses[way, "ndcg@10"]),
                f"{one['same_ten']:.0%}",
            ]
            for way, one in found["systems"].items()
        ]
    if not rows:
        return []
    return [
        "## Several namespaces\n",
        "The memories of a data set in one namespace, and in three that one recall reads. *By session*: each "
        "session is in one of them; *at random*: neighbours are torn apart. *Merged*: each one is asked "
        "by itself and the lists are merged by score, as an application would "
        "([how](tenants.md#several-namespaces-in-one-recall)).\n",
        table(["memories", *METRICS.values(), "nDCG@10, to one", "the same ten"], rows),
    ]
