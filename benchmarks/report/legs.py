"""What the fusion is held to: against its best leg everywhere, against reciprocal ranks, on exact wording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.quality.exact import STRATUM
from benchmarks.quality.run import FULL
from benchmarks.report.markdown import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["METRICS", "best_leg", "interval", "render"]

METRICS = {"recall@5": "recall@5", "recall@10": "recall@10", "ndcg@10": "nDCG@10"}
"""What the fusion is held to, with titles."""
_RANKS = "fusion=rrf"
_WORDING = ("recall:phrase_bonus=0", "recall:strategy=auto")


def render(results: Sequence[Mapping[str, Any]]) -> str:
    """Render the tables of the data sets that were measured for them; nothing if none was."""
    measured = [found for found in results if found.get("against_legs")]
    ranks = list(dict.fromkeys(name for found in results for name in _by_ranks(found)))
    wording = [found for found in measured if found["data"].get("generated_queries")]
    parts = []
    if measured:
        parts += [
            "### Against the best single leg\n",
            "`recall` minus the better of `lexical` and `dense` (by the same metric on the same questions), "
            "overall and in each stratum, with its 95 % confidence interval. Bold: significant. "
            f"Significantly worse: {'; '.join(_worse(measured)) or 'nowhere'}.\n",
            _against_best(measured),
        ]
    if ranks:
        parts += [
            "### Fusion\n",
            "Convex combination (the default), and reciprocal ranks with the same weights, at the default k "
            "and at the best k found; then the gain of the default over the latter, with its 95 % confidence "
            "interval. Bold: significant.\n",
            _fusions(results, ranks),
        ]
    if wording:
        parts += [
            "### Exact wording\n",
            "Questions copied word for word from memories, at most 100 per data set: recall@10 and nDCG@10 "
            "of the lexical leg and of `recall`, and the difference in nDCG@10, with its 95 % confidence "
            "interval. Bold: significant.\n",
            _exact(wording),
        ]
    return "\n".join(parts)


def best_leg(found: Mapping[str, Any], stratum: str | None, metric: str) -> Mapping[str, Any] | None:
    """Return the comparison of `recall` with the leg that is the better one; None if it was not measured.

    Args:
        found: A results file.
        stratum: The stratum; None: all questions of the data set.
        metric: The metric.
    """
    compared = [one for one in found["against_legs"] if (one["stratum"], one["metric"]) == (stratum, metric)]
    # recall is the same in both: the better leg is the one that it gains less over.
    return min(compared, key=lambda one: float(one["delta"]), default=None)


def _strata(found: Mapping[str, Any]) -> list[str | None]:
    """All questions, then the strata, unless the only one is all of them."""
    strata = found["data"]["strata"]
    return [None, *(strata if len(strata) > 1 else ())]


def _worse(measured: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for found in measured:
        for stratum in _strata(found):
            for metric, title in METRICS.items():
                one = best_leg(found, stratum, metric)
                if one is not None and one["significant"] and one["delta"] < 0:
                    yield f"{found['dataset']} {stratum or 'overall'}, {title}, than `{one['b']}`"


def _against_best(measured: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for found in measured:
        for stratum in _strata(found):
            data = found["data"]
            count = data["queries"] if stratum is None else data["strata"][stratum]
            cells = []
            for metric in METRICS:
                one = best_leg(found, stratum, metric)
                cells.append("" if one is None else f"{interval(one)} `{one['b']}`")
            rows.append((f"{found['dataset']}, {stratum or 'overall'}", str(count), *cells))
    return table(("data set, stratum", "questions", *METRICS.values()), rows)


def _by_ranks(found: Mapping[str, Any]) -> list[str]:
    parts = [row["system"] for row in found.get("ablations", ())]
    return [name for name in parts if _RANKS in name and name in found["systems"]]


def _fusions(results: Sequence[Mapping[str, Any]], names: Sequence[str]) -> str:
    rows = []
    for found in results:
        if not _by_ranks(found):
            continue
        systems = found["systems"]
        for metric, title in METRICS.items():
            values = [
                f"{systems[name]['overall'][metric]:.3f}" if name in systems else ""
                for name in (FULL, *names)
            ]
            rows.append((f"{found['dataset']}, {title}", *values, _over(found, names[-1], metric)))
    return table(("data set, metric", *(f"`{name}`" for name in (FULL, *names)), "difference"), rows)


def _over(found: Mapping[str, Any], name: str, metric: str) -> str:
    """What recall has over one of the parts; the file has it the other way round."""
    for row in found["ablations"]:
        for one in row["against_full"]:
            if (row["system"], one["metric"]) == (name, metric):
                low, high = one["ci95"]
                return interval({**one, "delta": -one["delta"], "ci95": [-high, -low]})
    return ""


def _exact(wording: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for found in wording:
        systems = found["systems"]
        difference = [
            interval(one)
            for one in found["against_legs"]
            if (one["stratum"], one["b"], one["metric"]) == (STRATUM, "lexical", "ndcg@10")
        ]
        rows.append(
            (
                found["dataset"],
                *(_value(systems, name, "recall@10") for name in ("lexical", FULL)),
                *(_value(systems, name, "ndcg@10") for name in ("lexical", FULL)),
                *(difference or [""]),
                *(_value(systems, name, "ndcg@10") for name in _WORDING),
            )
        )
    columns = (
        *(f"{title}, `{name}`" for title in ("recall@10", "nDCG@10") for name in ("lexical", FULL)),
        "difference",
        *(f"nDCG@10, `{name}`" for name in _WORDING),
    )
    return table(("data set", *columns), rows)


def _value(systems: Mapping[str, Any], name: str, metric: str) -> str:
    return f"{systems[name]['strata'][STRATUM][metric]:.3f}" if name in systems else ""


def interval(one: Mapping[str, Any]) -> str:
    """Write a difference with its interval, bold if it is significant."""
    text = "{:+.3f} [{:+.3f}, {:+.3f}]".format(one["delta"], *one["ci95"])
    return f"**{text}**" if one["significant"] else text
