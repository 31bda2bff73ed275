"""Plots of the report. Each PNG carries a digest of what it shows, so that a check can tell its age."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from benchmarks.metrics import HEADLINE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from matplotlib.axes import Axes

__all__ = ["ablation_plot", "quality_plot", "shows"]

_DPI = 110
_INK = "#1f4e79"
_FAINT = "#b0b0b0"
_SHOWN = ("recall@10", "ndcg@10")


def quality_plot(results: Mapping[str, Any]) -> Plot:
    """Plot every system's recall@10 and nDCG@10 with their 95 % confidence intervals."""
    return Plot(
        "quality",
        {
            "dataset": results["dataset"],
            "systems": {
                name: {metric: [found["overall"][metric], *found["ci95"][metric]] for metric in _SHOWN}
                for name, found in results["systems"].items()
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


class Plot:
    """What a PNG shows.

    Args:
        kind: `quality` or `ablation`.
        data: The numbers.
    """

    def __init__(self, kind: str, data: Mapping[str, Any]) -> None:
        self._kind = kind
        self._data = data
        self.digest = hashlib.sha256(json.dumps([kind, data], sort_keys=True).encode()).hexdigest()

    def write(self, path: Path) -> None:
        """Draw it, unless the file shows just that already."""
        if shows(path) == self.digest:
            return
        figure = self._quality() if self._kind == "quality" else self._ablation()
        FigureCanvasAgg(figure)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=_DPI, metadata={"Software": None, "Description": self.digest})

    def _quality(self) -> Figure:
        systems = self._data["systems"]
        figure = Figure(figsize=(9, 1.4 + 0.28 * len(systems)), layout="constrained")
        figure.suptitle(f"{self._data['dataset']}: quality with 95 % confidence intervals", fontsize=10)
        panels = figure.subplots(1, len(_SHOWN), sharey=True)
        for panel, metric in zip(panels, _SHOWN, strict=True):
            _points(panel, {name: found[metric] for name, found in systems.items()})
            panel.set_xlabel(metric)
        return figure

    def _ablation(self) -> Figure:
        rows = self._data["rows"]
        figure = Figure(figsize=(9, 1.3 + 0.35 * len(rows)), layout="constrained")
        figure.suptitle(
            f"{self._data['dataset']}: difference to the full recall, 95 % confidence intervals", fontsize=10
        )
        panels = figure.subplots(1, len(HEADLINE), sharey=True)
        for panel, metric in zip(panels, HEADLINE, strict=True):
            _points(panel, {name: found[metric] for name, found in rows.items()})
            panel.axvline(0, color=_FAINT, linewidth=1)
            panel.set_xlabel(metric)
        return figure


def shows(path: Path) -> str | None:
    """Return the digest of what a PNG shows; None if there is no such file or it has none."""
    if not path.is_file():
        return None
    with Image.open(path) as image:
        digest = image.info.get("Description")
    return digest if isinstance(digest, str) else None


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
