"""The section on recall's confidence: is it a probability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from benchmarks.report.markdown import details, file_link, of_kind, revision, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.report.markdown import Results

__all__ = ["blocks", "render"]

_FIGURES: Final = {
    "calibration_error": "calibration error",
    "answered_above": "answered, above .5",
    "unanswered_above": "without an answer, above .5",
    "auroc_known": "AUROC known",
    "auroc_right": "AUROC right",
}
_REFIT: Final = ("calibration_error", "answered_above", "unanswered_above")


def render(results: Results) -> list[str]:
    """Render the section; nothing if it was not measured."""
    parts: list[str] = []
    for name, found in of_kind(results, "reliability"):
        parts += [_introduction(name, found), _by_size(found), _worst(found)]
        parts += [details("By data set", _by_dataset(found)), *_refit(found)]
    return parts


def blocks(results: Results) -> dict[str, str]:
    """Return the figures of the decision on the confidence, by the name of their place."""
    made = [_decision(name, found) for name, found in of_kind(results, "reliability")]
    return {"confidence": "\n".join(made) or "Not measured.\n"}


def _decision(name: str, found: Mapping[str, Any]) -> str:
    sizes = table(
        ["encoder", *(f"{_FIGURES[figure]}, at each size" for figure in _REFIT), "worst data set"],
        [
            [
                encoder,
                *(
                    " / ".join(f"{one[figure]['value']:.3f}" for one in measured["sizes"].values())
                    for figure in _REFIT
                ),
                f"{measured['worst']}, {_cell(measured['datasets'][measured['worst']]['calibration_error'])}",
            ]
            for encoder, measured in found["encoders"].items()
        ],
    )
    source = f"From {file_link(name, '../../benchmarks/results')}, revision {revision(found['git'])}.\n"
    if not found["refit"]:
        return f"{sizes}\n{source}"
    rows = _changes("all", found["refit"]["all"])
    for one, measured in found["refit"]["held_out"].items():
        rows += _changes(one, measured["encoders"])
    changes = table(["tried on", "encoder", *(_FIGURES[figure] for figure in _REFIT)], rows)
    title = "Fitted anew without a data set, tried on it (in force, then the difference):"
    return f"{sizes}\n{title}\n\n{changes}\n{source}"


def _changes(name: str, encoders: Mapping[str, Any]) -> list[list[str]]:
    return [
        [name, encoder, *(_change(one[figure]) for figure in _REFIT)] for encoder, one in encoders.items()
    ]


def _introduction(name: str, found: Mapping[str, Any]) -> str:
    return (
        "## Knowing when the answer is unknown\n\n"
        "`recall` returns a confidence with each memory; these figures are of the first. Namespaces of "
        "several sizes are drawn from the data sets, with the evidence of some questions and without that of "
        "others ([how](../benchmarks/README.md#learning-and-confidence)). The calibration error is the mean "
        "gap between the confidence and the share that is right. *Known* tells questions with their evidence "
        "from those without; *right* tells first memories that answer from those that do not. In brackets: "
        f"the 95 % confidence interval. From {file_link(name)}, revision {revision(found['git'])}.\n"
    )


def _by_size(found: Mapping[str, Any]) -> str:
    return table(
        ["encoder", "memories", "asked", *_FIGURES.values()],
        [
            [encoder, f"{int(size):,}", str(one["asked"]), *_cells(one)]
            for encoder, measured in found["encoders"].items()
            for size, one in measured["sizes"].items()
        ],
    )


def _worst(found: Mapping[str, Any]) -> str:
    said = [
        f"{encoder}: {measured['worst']}, "
        + _cell(measured["datasets"][measured["worst"]]["calibration_error"])
        for encoder, measured in found["encoders"].items()
    ]
    return f"The data set with the largest calibration error, over all sizes: {'; '.join(said)}.\n"


def _by_dataset(found: Mapping[str, Any]) -> str:
    return table(
        ["encoder", "data set", "asked", "first is right", *_FIGURES.values()],
        [
            [encoder, name, str(one["asked"]), f"{one['first_is_right']:.3f}", *_cells(one)]
            for encoder, measured in found["encoders"].items()
            for name, one in measured["datasets"].items()
        ],
    )


def _refit(found: Mapping[str, Any]) -> list[str]:
    if not found["refit"]:
        return []
    rows = _changes("**all**", found["refit"]["all"])
    for name, measured in found["refit"]["held_out"].items():
        rows += _changes(name, measured["encoders"])
    return [
        details(
            "Other coefficients",
            "The coefficients of the confidence, fitted anew on all data sets but one with both encoders and "
            "tried on that one: the figure in force, and the difference. Bold: significant.\n",
            table(["data set", "encoder", *(_FIGURES[figure] for figure in _REFIT)], rows),
        )
    ]


def _cells(one: Mapping[str, Any]) -> list[str]:
    return [_cell(one[figure]) for figure in _FIGURES]


def _cell(figure: Mapping[str, Any]) -> str:
    low, high = figure["ci95"]
    return f"{figure['value']:.3f} [{low:.3f}, {high:.3f}]"


def _change(figure: Mapping[str, Any]) -> str:
    low, high = figure["ci95"]
    change = f"{figure['delta']:+.3f} [{low:+.3f}, {high:+.3f}]"
    return f"{figure['in_force']:.3f}, {f'**{change}**' if low > 0 or high < 0 else change}"
