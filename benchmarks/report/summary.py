"""Quality over all data sets: what the sections say in detail, at a glance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.quality.run import FULL
from benchmarks.report import legs
from benchmarks.report.markdown import option, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["render"]

METRICS = {"recall@10": "recall@10", "ndcg@10": "nDCG@10"}


def render(results: Sequence[Mapping[str, Any]]) -> str:
    """Render the tables over all quality results, a column for each data set."""
    parts = [
        "## Quality at a glance\n",
        "Bold: the best of the column. ↑ and ↓: significantly better or worse than `recall`.\n",
    ]
    for metric, title in METRICS.items():
        parts += [f"### {title}\n", _systems(results, metric)]
    parts.append(legs.render(results))
    if any(found.get("ablations") for found in results):
        parts += [
            "### What each part is worth\n",
            "Difference from the full `recall` when a part is removed or added. Bold: significant. none: no "
            "question's value changes. Empty: not measured.\n",
            _ablations(results),
        ]
    if any(found.get("sweeps") for found in results):
        parts += [
            "### What tuning would gain\n",
            "For each setting alone: the best value on one half of a data set's questions, and its gain over "
            "the default on the other half, with its 95 % confidence interval. Bold: "
            "significant.\n",
            _sweeps(results),
        ]
    return "\n".join(parts)


def _systems(results: Sequence[Mapping[str, Any]], metric: str) -> str:
    names = list(dict.fromkeys(name for found in results for name in found["systems"]))
    best = [max(_value(one, metric) for one in found["systems"].values()) for found in results]
    rows = [
        (f"`{name}`", *(_cell(found, name, metric, top) for found, top in zip(results, best, strict=True)))
        for name in names
        # Settings of recall have a table of their own.
        if not name.startswith(f"{FULL}:")
    ]
    return table(("system", *(found["dataset"] for found in results)), rows)


def _cell(found: Mapping[str, Any], name: str, metric: str, top: float) -> str:
    if name not in found["systems"]:
        return ""
    value = _value(found["systems"][name], metric)
    text = f"**{value:.3f}**" if value == top else f"{value:.3f}"
    return text + {1: " ↑", -1: " ↓", 0: ""}[_against_full(found, name, metric)]


def _value(system: Mapping[str, Any], metric: str) -> float:
    return float(system["overall"][metric])


def _against_full(found: Mapping[str, Any], name: str, metric: str) -> int:
    """Return 1 where a system is significantly better than recall, -1 where worse, 0 otherwise."""
    for one in found["comparisons"]:
        if one["metric"] == metric and one["significant"] and {one["a"], one["b"]} == {FULL, name}:
            return 1 if (one["delta"] > 0) == (one["a"] == name) else -1
    return 0


def _ablations(results: Sequence[Mapping[str, Any]]) -> str:
    shown = [found for found in results if found.get("ablations")]
    parts = dict.fromkeys(
        (row["label"], row["title"]) for found in shown for row in found["ablations"] if row["against_full"]
    )
    rows = [
        (f"{label}: {part}, {title}", *(_difference(found, label, metric) for found in shown))
        for label, part in parts
        for metric, title in METRICS.items()
    ]
    return table(("", *(found["dataset"] for found in shown)), rows)


def _difference(found: Mapping[str, Any], label: str, metric: str) -> str:
    for row in found["ablations"]:
        if row["label"] == label:
            for one in row["against_full"]:
                if one["metric"] == metric:
                    return _bold(f"{one['delta']:+.3f}", one) if any((one["delta"], *one["ci95"])) else "none"
    return ""


def _sweeps(results: Sequence[Mapping[str, Any]]) -> str:
    shown = [found for found in results if found.get("sweeps")]
    options = list(dict.fromkeys(option(row) for found in shown for row in found["sweeps"]["options"]))
    rows = [
        (
            f"{found['dataset']}, {found['sweeps']['metric']}",
            *(_best(found["sweeps"], name) for name in options),
            _together(found["sweeps"]),
        )
        for found in shown
    ]
    return table(("data set", *(f"`{name}`" for name in options), "together"), rows)


def _best(sweeps: Mapping[str, Any], name: str) -> str:
    row = next((row for row in sweeps["options"] if option(row) == name), None)
    if row is None:
        return ""
    return "default" if row["best"] is None else f"{row['best']}: {_gain(row['reported'], sweeps['metric'])}"


def _together(sweeps: Mapping[str, Any]) -> str:
    together = sweeps["together"]
    if not together["reported"]:
        return ""
    settings = ", ".join(f"{name}={value}" for name, value in together["settings"].items())
    return f"{settings}: {_gain(together['reported'], sweeps['metric'])}"


def _gain(reported: Sequence[Mapping[str, Any]], metric: str) -> str:
    one = next(one for one in reported if one["metric"] == metric)
    return _bold(f"{one['delta']:+.3f} [{one['ci95'][0]:+.3f}, {one['ci95'][1]:+.3f}]", one)


def _bold(text: str, comparison: Mapping[str, Any]) -> str:
    return f"**{text}**" if comparison["significant"] else text
