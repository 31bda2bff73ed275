"""What the embedder costs, how soon it answers, and what another runtime makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.report.markdown import file_link, of_kind, revision, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.report.markdown import Results

__all__ = ["render", "rows"]

_NOTE = """\
A daemon with the bundled model and its own server on one machine. `asked` is the time that a client without a
model waits for the embedding of a question (`embed="daemon"`). `model` is the same model called directly.
"""
_RUNTIMES = """\
The bundled model on ONNX Runtime, in turns with sentence-transformers on the same texts: ratios of
throughput, median of the rounds. Quality is that of the dense leg alone, with exact search; differences
have 95 % intervals.
"""


def render(results: Results) -> list[str]:
    """Render the section's parts; none without results.

    Args:
        results: All results.
    """
    parts = []
    for name, found in of_kind(results, "daemon"):
        parts += [_NOTE, table(("what", "figure"), rows(found))]
        parts.append(f"From {file_link(name)}, revision {revision(found['git'])}.\n")
    for name, found in of_kind(results, "embedder-onnx"):
        parts += [_RUNTIMES, table(_COLUMNS, _runtimes(found))]
        parts.append(f"From {file_link(name)}, revision {revision(found['git'])}.\n")
    return ["## The embedder\n", *parts] if parts else []


_COLUMNS = (
    "data set",
    "runtime",
    "throughput",
    "ms a query",
    "cosine to the original",
    "recall@10",
    "difference",
)


def rows(found: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    """Yield what was measured of a daemon, a line each.

    Args:
        found: A results file of `python -m benchmarks daemon`.
    """
    if one := found.get("latency"):
        yield (
            "from commit to searchable, one memory, an idle daemon",
            f"p50 {one['p50_ms']:.0f} ms, p95 {one['p95_ms']:.0f} ms",
        )
    if one := found.get("queries"):
        yield (
            "embedding of a question: asked / model / cached",
            f"p50 {one['asked_p50_ms']:.1f} / {one['model_p50_ms']:.1f} / {one['cached_p50_ms']:.1f} ms, "
            f"p95 {one['asked_p95_ms']:.1f} / {one['model_p95_ms']:.1f} / {one['cached_p95_ms']:.1f} ms",
        )
    if one := found.get("idle"):
        yield (
            "an idle daemon, embedding and reading",
            f"{one['queries_per_second']} statements/s, {one['cpu_share_of_a_core']:.2%} of a core",
        )
    if one := found.get("memory"):
        marks = one["rss_mb_at_each_tenth"]
        yield (
            f"memory over {one['rows']:,} rows",
            f"{marks[0]:.0f} MB after a tenth, {max(marks):.0f} MB at most, {marks[-1]:.0f} MB at the end",
        )
    if one := found.get("reembed"):
        during = one["recalls"]["during"]
        before, after = one["dimensions"]
        yield (
            f"{one['memories']:,} memories from {before} to {after} dimensions, beside a client in a loop",
            f"{one['seconds']:.0f} s; {one['failed']} of {during['n']:,} recalls failed, "
            f"p95 {during['p95_ms']:.0f} ms (before: {one['recalls']['before']['p95_ms']:.0f} ms)",
        )


def _runtimes(found: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    for dataset, one in found["datasets"].items():
        for way, speed in one["speed"]["ways"].items():
            quality = one["quality"][way]
            compared = [row for row in quality["comparisons"] if row["metric"] == "recall@10"]
            yield (
                dataset,
                way,
                f"{speed['ratio']:.2f}",
                f"{speed['query_ms']:.1f}",
                f"{quality['similarity_mean']:.4f}",
                f"{quality['recall@10']:.3f}",
                "".join(
                    f"{row['delta']:+.3f} [{row['ci95'][0]:+.3f}, {row['ci95'][1]:+.3f}]" for row in compared
                ),
            )
