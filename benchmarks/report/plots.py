"""Plots of the report. Each PNG carries a digest of what it shows, so that a check can tell its age.

matplotlib takes half a second to import: only what draws does, not every command and worker of the tests.
"""

from __future__ import annotations

import hashlib
import io
import json
from typing import TYPE_CHECKING, Any

from PIL import Image, PngImagePlugin

from benchmarks.quality.metrics import HEADLINE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "Plot",
    "ablation_plot",
    "latency_plot",
    "quality_plot",
    "settings_plot",
    "shows",
]

_STYLE = 2
"""Raised when a plot of the same numbers looks different."""
_DPI = 90
_COLOURS = 32
"""What a PNG's palette holds: enough for lines and letters, a third of the size."""
_INK = "#1f4e79"
_FAINT = "#b0b0b0"
_LINES = ("#1f4e79", "#7f7f7f", "#c0504d", "#d19a2e")
_SHOWN = ("recall@10", "ndcg@10")


def quality_plot(results: Mapping[str, Any]) -> Plot:
    """Plot every system's recall@10 and nDCG@10 with 95 % confidence intervals; parts have their own."""
    parts = {row["system"] for row in results.get("ablations", ()) if ":" in row["system"]}
    return Plot(
        "quality",
        {
            "dataset": results["dataset"],
            "systems": {
                name: {metric: [found["overall"][metric], *found["ci95"][metric]] for metric in _SHOWN}
                for name, found in results["systems"].items()
                if name not in parts
            },
        },
    )


def ablation_plot(results: Mapping[str, Any]) -> Plot:
    """Plot what leaving parts out changes, with 95 % confidence intervals."""
    return Plot(
        "ablation",
        {
            "dataset": results["dataset"],
            "rows": {
                f"{row['label']}: {row['title']}": {
                    one["metric"]: [one["delta"], *one["ci95"]] for one in row["against_full"]
                }
                for row in results["ablations"]
                if row["against_full"]
            },
        },
    )


def latency_plot(lines: Mapping[str, Mapping[str, Sequence[tuple[int, float, float]]]]) -> Plot:
    """Plot latency against the number of memories.

    Args:
        lines: By dimension and system: number of memories, p50 and p95 in milliseconds.
    """
    return Plot("latency", {"dimensions": lines})


def settings_plot(
    setting: str, panels: Mapping[str, Mapping[str, Mapping[str, Sequence[tuple[float, float]]]]]
) -> Plot:
    """Plot what a setting does.

    Args:
        setting: Its name.
        panels: By what is measured, corpus and line: values of the setting, and what was measured there.
    """
    return Plot("settings", {"setting": setting, "panels": panels})


class Plot:
    """What a PNG shows.

    Args:
        kind: `quality`, `ablation`, `latency` or `settings`.
        data: The numbers.
    """

    def __init__(self, kind: str, data: Mapping[str, Any]) -> None:
        self._kind = kind
        self._data = data
        text = json.dumps([_STYLE, kind, data], sort_keys=True)
        self.digest = hashlib.sha256(text.encode()).hexdigest()

    def write(self, path: Path) -> None:
        """Draw it, unless the file shows just that already."""
        if shows(path) == self.digest:
            return
        draw = {
            "quality": self._quality,
            "ablation": self._ablation,
            "latency": self._latency,
            "settings": self._settings,
        }[self._kind]
        figure = draw()
        drawn = io.BytesIO()
        figure.savefig(drawn, dpi=_DPI)
        info = PngImagePlugin.PngInfo()
        info.add_text("Description", self.digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        with Image.open(drawn) as image:
            image.convert("RGB").quantize(_COLOURS).save(path, pnginfo=info, optimize=True)

    def _quality(self) -> Figure:
        systems = self._data["systems"]
        figure = _figure(9, 1.4 + 0.22 * len(systems))
        figure.suptitle(f"{self._data['dataset']}: quality with 95 % confidence intervals", fontsize=10)
        panels = figure.subplots(1, len(_SHOWN), sharey=True)
        for panel, metric in zip(panels, _SHOWN, strict=True):
            _points(panel, {name: found[metric] for name, found in systems.items()})
            panel.set_xlabel(metric)
        return figure

    def _ablation(self) -> Figure:
        rows = self._data["rows"]
        figure = _figure(9, 1.3 + 0.3 * len(rows))
        figure.suptitle(
            f"{self._data['dataset']}: difference to the full recall, 95 % confidence intervals", fontsize=10
        )
        panels = figure.subplots(1, len(HEADLINE), sharey=True)
        for panel, metric in zip(panels, HEADLINE, strict=True):
            _points(panel, {name: found[metric] for name, found in rows.items()})
            panel.axvline(0, color=_FAINT, linewidth=1)
            panel.set_xlabel(metric)
        return figure

    def _latency(self) -> Figure:
        dimensions = self._data["dimensions"]
        figure = _figure(4.6 * max(len(dimensions), 1) + 1.4, 3.4)
        figure.suptitle("milliseconds a call: p50 (lines) and p95 (dashes)", fontsize=10)
        panels = figure.subplots(1, len(dimensions), sharey=True, squeeze=False)[0]
        for panel, (dimension, systems) in zip(panels, dimensions.items(), strict=True):
            _curves(panel, systems)
            panel.set_title(f"{dimension} dimensions", fontsize=9)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", fontsize=8)
        return figure

    def _settings(self) -> Figure:
        panels = self._data["panels"]
        figure = _figure(5.2 * len(panels), 3.9)
        for panel, (title, corpora) in zip(figure.subplots(1, len(panels)), panels.items(), strict=True):
            _by_value(panel, corpora)
            panel.set_title(title, fontsize=9)
            panel.set_xlabel(self._data["setting"], fontsize=8)
        return figure


def shows(path: Path) -> str | None:
    """Return the digest of what a PNG shows; None if there is no such file or it has none."""
    if not path.is_file():
        return None
    with Image.open(path) as image:
        digest = image.info.get("Description")
    return digest if isinstance(digest, str) else None


def _figure(width: float, height: float) -> Figure:
    """Make an empty figure, which is drawn in memory."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _points(panel: Axes, rows: Mapping[str, list[float]]) -> None:
    """Draw a point with its interval for each row, the first at the top."""
    places = list(range(len(rows), 0, -1))
    values = [value for value, _, _ in rows.values()]
    # An interval by percentiles may leave its mean out by a rounding.
    below = [max(0.0, value - low) for value, low, _ in rows.values()]
    above = [max(0.0, high - value) for value, _, high in rows.values()]
    panel.errorbar(
        values, places, xerr=[below, above], fmt="o", color=_INK, markersize=4, capsize=2, linewidth=1
    )
    panel.set_yticks(places, list(rows), fontsize=8)
    panel.tick_params(axis="x", labelsize=8)
    panel.grid(axis="x", color=_FAINT, linewidth=0.4)
    panel.set_ylim(0.4, len(rows) + 0.6)


def _curves(panel: Axes, systems: Mapping[str, Sequence[Sequence[float]]]) -> None:
    """Draw a line for p50 and a dashed one for p95 of each system, both axes logarithmic."""
    from matplotlib.ticker import NullFormatter, StrMethodFormatter

    for colour, (name, points) in zip(_LINES, systems.items(), strict=True):
        sizes = [size for size, _, _ in points]
        panel.plot(sizes, [p50 for _, p50, _ in points], "o-", color=colour, label=name, markersize=4)
        panel.plot(sizes, [p95 for _, _, p95 in points], "--", color=colour, linewidth=1)
    panel.set_xscale("log")
    panel.set_yscale("log")
    every = sorted({size for points in systems.values() for size, _, _ in points})
    panel.set_xticks(every, [f"{int(size):,}" for size in every], fontsize=8)
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    panel.tick_params(axis="y", labelsize=8)
    panel.set_xlabel("memories", fontsize=8)
    panel.grid(color=_FAINT, linewidth=0.4)


def _by_value(panel: Axes, corpora: Mapping[str, Mapping[str, Sequence[Sequence[float]]]]) -> None:
    """Draw every line in a colour of its own, full for the first corpus and dashed for the others."""
    from matplotlib.ticker import NullFormatter

    every: set[float] = set()
    for style, (corpus, lines) in zip(("o-", "s--", "^:"), corpora.items(), strict=False):
        for colour, (name, points) in zip(_LINES, lines.items(), strict=False):
            values = [value for value, _ in points]
            every |= set(values)
            panel.plot(
                values,
                [found for _, found in points],
                style,
                color=colour,
                label=f"{name} ({corpus})",
                markersize=4,
                linewidth=1,
            )
    panel.set_xscale("log")
    panel.set_xticks(sorted(every), [f"{value:g}" for value in sorted(every)], fontsize=8)
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.tick_params(axis="y", labelsize=8)
    panel.grid(color=_FAINT, linewidth=0.4)
    panel.legend(fontsize=6)
