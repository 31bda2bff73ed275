"""Every figure of README and docs/ has a results file behind it, or says how else it was taken.

README's figures, docs/benchmarks.md and what stands between two comments in other pages are generated, and
test_benchmarks_report.py says that they are in date. A page that people write, a decision above all, has a line of this
form before its first section:

    Figures: [quality-locomo.json](../../benchmarks/results/quality-locomo.json), revision 0123456789ab.

As long as each file it links to is of a revision it names (the one that was measured, as docs/benchmarks.md gives it),
every figure of the page must be in them. Once a file was measured again the page stays as it is, a record of what was
known, and git has the file it speaks of. A page whose figures are of no results file says how they were taken instead:
`Figures: by hand, …`.

What is checked: a difference with its interval, `.078 [.051, .106]`, must be one comparison of the files. Any other
decimal must be among their numbers, rounded as it is: those of the data sets and systems that its line names.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.report.places import without
from benchmarks.report.readme import BEGIN, END

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parents[2]
GENERATED = {"docs/benchmarks.md", "docs/cli.md", "docs/licences.md", "docs/sql-api.md"}
WRITTEN = sorted(
    name
    for path in (ROOT / "docs").rglob("*.md")
    if (name := path.relative_to(ROOT).as_posix()) not in GENERATED
)
SOURCE = re.compile(r"(?m)^Figures: (.+(?:\n\S.*)*)")
FENCED = re.compile(r"(?ms)^```.*?^```")
# Code, a link's target, what is worked out on the page (`= 0.0057`) and versions are no figures.
NO_FIGURE = re.compile(r"`[^`]*`|\]\([^)]*\)|=\s[\d.]+|\b(?:PostgreSQL|pgvector|Python) [\d.]+|\d+\.\d+\.\d+")
NUMBER = r"[+−-]?\d*\.\d+"
DIFFERENCE = re.compile(rf"({NUMBER}) \[({NUMBER}), ({NUMBER})\]")
FIGURE = re.compile(rf"(?<![\w.])({NUMBER})(?!\.\d)")


def numbers(found: Any) -> Iterator[float]:
    """Every number in a part of a results file; settings are numbers in quotes."""
    if isinstance(found, dict):
        for value in found.values():
            yield from numbers(value)
    elif isinstance(found, list):
        for value in found:
            yield from numbers(value)
    elif isinstance(found, int | float | str):
        try:
            yield float(found)
        except ValueError:
            return


def comparisons(found: Any) -> Iterator[dict[str, Any]]:
    """Every comparison in a results file, wherever it is."""
    if isinstance(found, dict):
        if {"delta", "ci95"} <= set(found):
            yield found
        for value in found.values():
            yield from comparisons(value)
    elif isinstance(found, list):
        for value in found:
            yield from comparisons(value)


def says(text: str, value: float) -> bool:
    """Whether a figure is a number, rounded to as many places as the figure has."""
    places = len(text.partition(".")[2])
    stated = float(text.replace("−", "-"))
    return abs(stated - value) <= 0.5 * 10.0**-places + 1e-9


def meant(line: str, results: Sequence[dict[str, Any]]) -> Iterator[Any]:
    """The parts of the results that a line may speak of: of the data sets and systems it names, if it names any."""
    for found in [found for found in results if str(found.get("dataset")) in line] or results:
        systems = {name for name in found.get("systems", {}) if f"`{name}`" in line}
        yield found.get("settings")
        if systems:
            yield [found["systems"][name] for name in systems]
            yield [one for one in comparisons(found) if systems & {one["a"], one["b"]}]
        else:
            yield {name: part for name, part in found.items() if name != "rankings"}


def unfounded(text: str, results: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The figures of a page that are not in the results."""
    differences = {(one["delta"], *one["ci95"]) for found in results for one in comparisons(found)}
    # The same the other way round: B against A.
    differences |= {(-delta, -high, -low) for delta, low, high in differences}
    # A row of a table, an item of a list, a paragraph.
    for part in re.split(r"\n(?=\||- |\s*\n)", text):
        line = " ".join(part.split())
        prose = NO_FIGURE.sub(" ", line)
        for stated in DIFFERENCE.findall(prose):
            if not any(all(map(says, stated, measured)) for measured in differences):
                yield "{} [{}, {}]".format(*stated)
        values = list(numbers(list(meant(line, results))))
        for figure in FIGURE.findall(DIFFERENCE.sub(" ", prose)):
            if not any(says(figure, value) or says(figure, -value) for value in values):
                yield figure


def figures(text: str) -> list[str]:
    return FIGURE.findall(NO_FIGURE.sub(" ", FENCED.sub("", text)))


def problems(text: str, folder: Path) -> list[str]:
    """What is wrong with the figures of a page in a folder; what is generated on it is right."""
    text = without(text).partition("\n<!-- Generated by ")[0]
    front = text.partition("\n## ")[0]
    source = SOURCE.search(front)
    if source is None:
        return [f"{one} and no line `Figures: …` before the first section" for one in figures(text)[:1]]
    body = FENCED.sub("", text.replace(source[0], ""))
    links = re.findall(r"\]\(([^)]+\.json)\)", source[1])
    revisions = set(re.findall(r"\b[0-9a-f]{12}\b", source[1]))
    if links and not revisions:
        return ["the line `Figures: …` names no revision"]
    gone = [link for link in links if not (folder / link).is_file()]
    if gone:
        return [f"{link} is not there" for link in gone]
    results = [json.loads((folder / link).read_text(encoding="utf-8")) for link in links]
    if {str(found.get("git", {}).get("revision"))[:12] for found in results} <= revisions and results:
        return [f"{figure} is not in {', '.join(links)}" for figure in unfounded(body, results)]
    return []


def test_readme_has_no_figure_that_is_not_generated() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    generated = re.search(f"{re.escape(BEGIN)}.*?{re.escape(END)}", text, re.DOTALL)
    assert generated is not None
    assert figures(text.replace(generated[0], "")) == []


@pytest.mark.parametrize("page", WRITTEN)
def test_the_figures_of_a_page_are_in_the_results_it_names(page: str) -> None:
    path = ROOT / page
    assert problems(path.read_text(encoding="utf-8"), path.parent) == []


# --- The check can fail ---

INVENTED = {
    "dataset": "invented",
    "git": {"revision": "0123456789abcdef0123", "modified": False},
    "settings": {"graph_weight": "0.35"},
    "systems": {"recall": {"overall": {"ndcg@10": 0.6812}}, "dense": {"overall": {"ndcg@10": 0.7474}}},
    "comparisons": [{"a": "recall", "b": "dense", "delta": -0.0652, "ci95": [-0.1114, -0.0188]}],
    "rankings": {"recall": {"q1": ["0.999"]}},
}
FRONT = "# A decision\n\nFigures: [invented.json](invented.json), revision 0123456789ab.\n\n## Context\n\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`recall` has .681, `dense` 0.747; the weight is 0.35.", []),
        ("It loses −.065 [−.111, −.019], so dense gains .065 [.019, .111].", []),
        ("0.35 / 61 =\n0.0057 in PostgreSQL 18.6, with 1.2.3 and `0.5`; 95 % of 30.", []),
        ("```\n0.12\n```", []),
        ("`recall` has 0.682.", ["0.682"]),
        ("`recall` has\n0.747.", ["0.747"]),  # dense has
        ("- `dense` has 0.747\n- `recall` has 0.747", ["0.747"]),
        ("| `dense` | 0.747 |\n| `recall` | 0.747 |", ["0.747"]),
        ("In 0.999ms, (0.999).", ["0.999", "0.999"]),
        ("It loses −.065 [−.111, −.018].", ["−.065 [−.111, −.018]"]),
        ("| a | 0.681 | +0.065 [+0.019, +0.112] |", ["+0.065 [+0.019, +0.112]"]),
    ],
)
def test_figures_are_looked_up(tmp_path: Path, text: str, expected: list[str]) -> None:
    (tmp_path / "invented.json").write_text(json.dumps(INVENTED))
    assert problems(FRONT + text, tmp_path) == [f"{one} is not in invented.json" for one in expected]


def test_a_page_says_where_its_figures_are_from(tmp_path: Path) -> None:
    (tmp_path / "invented.json").write_text(json.dumps(INVENTED))
    wrong = "`recall` has 0.999.\n"
    assert problems(FRONT + wrong, tmp_path) == ["0.999 is not in invented.json"]
    nowhere = ["0.999 and no line `Figures: …` before the first section"]
    assert problems(f"# A\n\n## B\n\n{wrong}", tmp_path) == nowhere
    assert problems(f"# A\n\n## B\n\nFigures: by hand.\n\n{wrong}", tmp_path) == nowhere
    assert problems(f"# A\n\nFigures: by hand, on a laptop.\n\n## B\n\n{wrong}", tmp_path) == []
    assert problems("# A\n\n## B\n\n18.6.3 of `0.1`, 30 of 40, [a link](x.md#0.2).\n", tmp_path) == []
    unnamed = FRONT.replace(", revision 0123456789ab", "")
    assert problems(unnamed + wrong, tmp_path) == ["the line `Figures: …` names no revision"]
    assert problems(FRONT.replace("(invented", "(gone") + wrong, tmp_path) == ["gone.json is not there"]
    # Measured again: what the page says is history.
    (tmp_path / "invented.json").write_text(json.dumps(INVENTED | {"git": {"revision": "fedcba987654"}}))
    assert problems(FRONT + wrong, tmp_path) == []
