"""One data set: what it is, the plot, and every table below a fold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.quality.console import verdict
from benchmarks.quality.metrics import HEADLINE
from benchmarks.report.markdown import details, file_link, option, revision, table
from benchmarks.report.plots import ablation_plot, quality_plot

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchmarks.report.plots import Plot

__all__ = ["render"]


def render(name: str, results: Mapping[str, Any], plots: dict[str, Plot]) -> str:
    """Render a data set's section.

    Args:
        name: The results file's name without its ending.
        results: What it holds.
        plots: Gets the section's plots.
    """
    dataset = results["dataset"]
    plots[f"benchmarks/{name}.png"] = quality_plot(results)
    tables = [_systems(results["systems"])]
    if len(results["data"]["strata"]) > 1:
        tables.append(_strata(results))
    if results["data"].get("abstentions"):
        tables.append(_with_abstentions(results))
    if results["comparisons"]:
        tables.append("Differences:\n\n" + _differences(results["comparisons"]))
    if results.get("ablations"):
        plots[f"benchmarks/{name}-ablation.png"] = ablation_plot(results)
        tables.append(_ablations(name, results))
    if results.get("sweeps"):
        tables.append(_sweeps(results["sweeps"]))
    parts = [
        f"### {dataset}\n",
        _facts(name, results),
        f"![Quality of each system on {dataset}](benchmarks/{name}.png)\n",
        details(f"Tables of {dataset}: systems, strata, differences, parts, settings", *tables),
    ]
    if results["not_run"]:
        parts.append("Not run:\n\n" + table(("system", "why"), results["not_run"].items()))
    return "\n".join(parts)


def _facts(name: str, results: Mapping[str, Any]) -> str:
    data = results["data"]
    sentences = [
        f"{data['memories']} memories, {data['queries']} questions, {data['relevant_per_query']:.2f} "
        f"relevant memories each; scope `{data['scope']}`, namespaces: {data['namespaces']}, "
        f"language {data['language']}."
    ]
    if "server" in results:
        sentences.append(
            f"{results['model']['name']} ({results['model']['dimension']} dimensions), "
            f"PostgreSQL {results['server']['server_version']}, "
            f"pgvector {results['server']['pgvector_version']}."
        )
    sentences.append(
        f"{results['machine']['cores']} cores, revision {revision(results['git'])}, seed {results['seed']}: "
        f"{file_link(name)}."
    )
    return "\n".join(sentences) + "\n"


def _systems(systems: Mapping[str, Any]) -> str:
    rows = [
        (
            f"`{name}`",
            *(
                "{:.3f} [{:.3f}, {:.3f}]".format(found["overall"][metric], *found["ci95"][metric])
                for metric in HEADLINE
            ),
            f"{found['overall']['any-hit@10']:.3f}",
            f"{found['overall']['all-hit@10']:.3f}",
            f"{found['latency_ms']['p50']:.1f}",
            f"{found['latency_ms']['p95']:.1f}",
        )
        for name, found in systems.items()
    ]
    note = (
        "Latency is the time of one question without its embedding, after 20 warm-up questions. Compare it "
        "only within this table, because the machine may have had other work.\n\n"
    )
    return note + table(("system", *HEADLINE, "any-hit@10", "all-hit@10", "p50 ms", "p95 ms"), rows)


def _strata(results: Mapping[str, Any]) -> str:
    strata = results["data"]["strata"]
    rows = [
        (f"`{name}`", *(f"{found['strata'][stratum]['recall@10']:.3f}" for stratum in strata))
        for name, found in results["systems"].items()
    ]
    note = f"\n{results['circularity']}\n" if "circularity" in results else ""
    columns = ("system", *(f"{stratum} ({count})" for stratum, count in strata.items()))
    return "recall@10 by stratum (questions in each):\n\n" + table(columns, rows) + note


def _with_abstentions(results: Mapping[str, Any]) -> str:
    """Render the figures as publishers count them who take a question that nothing answers as found."""
    asked, left_out = results["data"]["queries"], results["data"]["abstentions"]
    rows = [
        (f"`{name}`", f"{value:.3f}", f"{(asked * value + left_out) / (asked + left_out):.3f}")
        for name, found in results["systems"].items()
        for value in [found["overall"]["recall@10"]]
    ]
    note = (
        f"recall@10 over the {asked} questions that have an answer, and with the {left_out} that have none "
        "counted as found, as published figures do:\n\n"
    )
    return note + table(("system", "with an answer", "all"), rows)


def _differences(comparisons: Iterable[Mapping[str, Any]]) -> str:
    pairs: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for one in comparisons:
        pairs.setdefault((one["a"], one["b"]), []).append(one)
    rows = [(f"`{a}` − `{b}`", *_cells(found)) for (a, b), found in pairs.items()]
    return table(("systems", *HEADLINE), rows)


def _ablations(name: str, results: Mapping[str, Any]) -> str:
    rows = [
        (f"{row['label']}: {row['title']}", *_cells(row["against_full"]))
        for row in results["ablations"]
        if row["against_full"]
    ]
    return (
        "Parts removed or added, differences from A, the full `recall`:\n\n"
        + table(("", *HEADLINE), rows)
        + f"\n![What leaving parts out changes on {results['dataset']}](benchmarks/{name}-ablation.png)\n"
    )


def _cells(comparisons: Iterable[Mapping[str, Any]]) -> list[str]:
    by_metric = {one["metric"]: one for one in comparisons}
    return [
        f"{one['delta']:+.3f} [{one['ci95'][0]:+.3f}, {one['ci95'][1]:+.3f}], {verdict(one)}"
        for one in (by_metric[metric] for metric in HEADLINE)
    ]


def _sweeps(sweeps: Mapping[str, Any]) -> str:
    metric = sweeps["metric"]
    rows = [
        (
            f"`{option(row)}`",
            ", ".join(f"{tried['value']}: {tried[metric]:.3f}" for tried in row["values"]),
            row["best"] or "the default",
        )
        for row in sweeps["options"]
    ]
    reported = [one for row in sweeps["options"] for one in row["reported"]] + sweeps["together"]["reported"]
    heading = (
        f"Settings, {metric} on the tuning half ({sweeps['tuning_queries']} questions; the defaults have "
        f"{sweeps['default']:.3f}). {sweeps['note']}\n\n"
    )
    other = f"\nOn the other half ({sweeps['reporting_queries']} questions), against the defaults:\n\n"
    return (
        heading
        + table(("option", "values", "best"), rows)
        + (other + _differences(reported) if reported else "")
    )
