"""What the concept graph brings: over recall without it, where the vector is lost, over PageRank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.quality.graph.command import FORMAT, KIND, PAIRS
from benchmarks.quality.metrics import HEADLINE
from benchmarks.report.legs import interval
from benchmarks.report.markdown import details, file_link, of_kind, revision, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmarks.report.markdown import Results

__all__ = ["render"]

_FAR = "far_recall@10"


def render(results: Results) -> list[str]:
    """Render the section; nothing if no data set was measured for it.

    Raises:
        ValueError: A file is of another format.
    """
    measured = of_kind(results, KIND)
    for name, found in measured:
        if found.get("format") != FORMAT:
            raise ValueError(
                f"{name}.json has format {found.get('format')}, not {FORMAT}: run the benchmark again"
            )
    if not measured:
        return []
    sets = [one for _, one in measured]
    return [
        "## The concept graph\n",
        "Names and relationships are extracted as the embedder does it. Differences have 95 % confidence "
        "intervals; bold: significant.\n",
        _read(measured),
        "### With the graph and without it\n",
        "All questions; strata are in the tables below.\n",
        _against(sets),
        "### What only the graph finds\n",
        "Memories among the first k that neither the lexical nor the dense list contains, and the memories "
        "that they displaced, in the same questions: how many of each are relevant.\n",
        _entering(sets),
        "### Where the vector is lost\n",
        "Questions with a relevant memory beyond exact dense rank 50: `recall` with the graph minus `recall` "
        "without it, and the share of those memories that reaches the first ten, without the graph and with "
        "it.\n",
        _far(sets),
        "### The walk against PageRank\n",
        _pagerank_note(sets[0]["pagerank"]),
        _pagerank(sets),
        *(_tables(name, one) for name, one in measured),
    ]


def _read(measured: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    rows = [
        (
            found["dataset"],
            str(found["data"]["memories"]),
            *(f"{found['extraction'][count]:,}" for count in ("concepts", "mentions", "relationships")),
            "yes" if found["extraction"]["spacy"] else "no",
            f"`{found['extraction']['version']}`",
            revision(found["git"]),
            file_link(name),
        )
        for name, found in measured
    ]
    return table(
        (
            "data set",
            "memories",
            "concepts",
            "mentions",
            "relationships",
            "spaCy",
            "extractor",
            "revision",
            "file",
        ),
        rows,
    )


def _against(found: Iterable[Mapping[str, Any]]) -> str:
    rows = [
        (f"{one['dataset']}, `{a}` − `{b}`", *_cells(_pair(one["comparisons"], a, b, None)))
        for one in found
        for a, b in PAIRS
    ]
    return table(("data set", *HEADLINE), rows)


def _entering(found: Iterable[Mapping[str, Any]]) -> str:
    rows = [
        (
            one["dataset"],
            str(at["k"]),
            _share(at["share_entered"]),
            _share(at["share_relevant_entered"]),
            f"{at['entered']}, {_share(at['precision'])}",
            f"{at['pushed_out']}, {_share(at['pushed_out_precision'])}",
            "{:+.3f} [{:+.3f}, {:+.3f}]".format(at["net"], *at["net_ci95"]),
        )
        for one in found
        for at in one["entering"]
    ]
    return table(
        (
            "data set",
            "k",
            "in questions",
            "relevant in",
            "entered, relevant",
            "displaced, relevant",
            "relevant per question",
        ),
        rows,
    )


def _far(found: Iterable[Mapping[str, Any]]) -> str:
    rows = []
    for one in found:
        beyond = one["far"]
        shares = [f"{system[_FAR]:.3f}" for system in reversed(beyond["systems"].values())] or ["", ""]
        rows.append(
            (
                one["dataset"],
                f"{beyond['questions']}, {beyond['memories']}",
                *_cells(beyond["comparisons"]),
                *shares,
                *_cells(beyond["comparisons"], (_FAR,)),
            )
        )
    return table(
        ("data set", "questions, memories", *HEADLINE, "far ones, without", "with", "difference"), rows
    )


def _pagerank_note(found: Mapping[str, Any]) -> str:
    return (
        f"{found['note']} At the weight in force, all questions; then each at its best weight, chosen on one "
        "half of the questions, on the other half.\n"
    )


def _pagerank(found: Sequence[Mapping[str, Any]]) -> str:
    rows = []
    for one in found:
        for candidate in one["pagerank"]["candidates"]:
            for title, comparisons in (
                (f"weight {one['pagerank']['weight']:g}", candidate["against_walk"]),
                (f"best, {candidate['best_weight']:g}", candidate["best_against_walk"]),
            ):
                if comparisons:
                    rows.append((f"{one['dataset']}, {candidate['name']}, {title}", *_cells(comparisons)))
    again = ", ".join(f"{one['dataset']} {one['pagerank']['reproduced']['@10']:.1%}" for one in found)
    return (
        table(("PageRank − walk", *HEADLINE), rows)
        + "\nShare of questions for which the formula, with the walk's scores, reproduces recall's first ten "
        + f"in order: {again}.\n"
    )


def _tables(name: str, found: Mapping[str, Any]) -> str:
    strata = [
        (f"{stratum}, `{a}` − `{b}`", *_cells(_pair(found["comparisons"], a, b, stratum)))
        for stratum in found["data"]["strata"]
        for a, b in PAIRS
    ]
    sweeps = found["sweeps"]
    metric = sweeps["metric"]
    values = [
        (
            f"`{row['option']}`",
            row["in_force"],
            ", ".join(
                f"{one['value']}: {one['tuning'][metric]:.3f} / {one['reporting'][metric]:.3f}"
                for one in row["values"]
            ),
            row["best"],
            *(_cells(row["reported"], (metric,)) or [""]),
        )
        for row in sweeps["options"]
    ]
    untried = f"\nNot tried: {', '.join(sweeps['not_tried'])}.\n" if sweeps["not_tried"] else ""
    return details(
        f"Strata and settings of {found['dataset']} ({name})",
        table(("stratum", *HEADLINE), strata),
        f"{sweeps['note']} {metric}, tuning / reporting ({sweeps['tuning_queries']} and "
        f"{sweeps['reporting_queries']} questions):\n",
        table(("setting", "in force", "values", "best", "difference"), values) + untried,
    )


def _pair(
    comparisons: Iterable[Mapping[str, Any]], a: str, b: str, stratum: str | None
) -> list[Mapping[str, Any]]:
    return [one for one in comparisons if (one["a"], one["b"], one["stratum"]) == (a, b, stratum)]


def _cells(comparisons: Iterable[Mapping[str, Any]], metrics: Sequence[str] = HEADLINE) -> list[str]:
    """Return a cell a metric; none of them where nothing was compared in any."""
    by_metric = {one["metric"]: one for one in comparisons}
    return [interval(by_metric[metric]) if metric in by_metric else "" for metric in metrics]


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"
