"""What mkdocs calls while it builds the site: links out of docs/ work there as they do on a code host.

The pages link to files of the repository by relative paths. Where the repository is served is not known, so
what is linked to comes along, under repository/: a Markdown page as a page, results of benchmarks as they
are, other text as a page that shows it. What these pages link to comes along as well. A link to a folder
leads to its README.md or index.md, or becomes plain text where there is neither.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

# Guides answer questions; decisions and lists of changes only mention their words.
SELDOM_MEANT = 0.05
MORE_OFTEN_MEANT = 3

ROOT = Path(__file__).resolve().parent.parent
DOCS = PurePosixPath("docs")
OUTSIDE = "repository"
AS_IT_IS = {".json", ".png", ".svg"}
LANGUAGES = {".sql": "sql", ".py": "python", ".sh": "sh", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml"}
# Code comes first in the alternatives: what looks like a link in it is none.
LINK = re.compile(r"(?ms)^(?P<fence>```+).*?^(?P=fence)|`[^`\n]*`|(?P<text>\[[^\]]*\])\((?P<to>[^)\s]+)\)")


def target(page: PurePosixPath, link: str) -> PurePosixPath | None:
    """Return what a link of a page leads to, by its path in the repository; None if it leads elsewhere."""
    path = link.partition("#")[0]
    if not path or re.match(r"[a-z]+:", link):
        return None
    found = PurePosixPath(os.path.normpath(page.parent / path))
    indexes = (found / name for name in ("README.md", "index.md"))
    return next((index for index in indexes if (ROOT / index).is_file()), found)


def in_site(file: PurePosixPath) -> str:
    """Return where a file of the repository is in the sources of the site."""
    if file.is_relative_to(DOCS):
        return str(file.relative_to(DOCS))
    shown = file.suffix == ".md" or file.suffix in AS_IT_IS
    return f"{OUTSIDE}/{file}" if shown else f"{OUTSIDE}/{file}.md"


def in_repository(source: str) -> PurePosixPath:
    """Return the file of the repository that a page of the site was made of."""
    if source.startswith(f"{OUTSIDE}/"):
        return PurePosixPath(source.removeprefix(f"{OUTSIDE}/"))
    return DOCS / source


def made(file: PurePosixPath, config: MkDocsConfig) -> File:
    """Return the site's file for one outside docs/."""
    if file.suffix in AS_IT_IS:
        return File.generated(config, in_site(file), abs_src_path=str(ROOT / file))
    text = (ROOT / file).read_text(encoding="utf-8")
    if file.suffix != ".md":
        # Longer than any fence in it.
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`{3,}", text))])
        front = "---\nhide: [navigation, toc]\nsearch: {exclude: true}\n---\n"
        language = LANGUAGES.get(file.suffix, "text")
        text = f"{front}# {file}\n\n{fence}{language}\n{text}\n{fence}\n"
    return File.generated(config, in_site(file), content=text)


def on_post_build(*, config: MkDocsConfig) -> None:
    """Write llms.txt: the pages with their addresses, for programs that read (llmstxt.org)."""
    lines = [f"# {config.site_name}", "", f"> {config.site_description}"]
    for section in config.nav or []:
        [(title, entries)] = section.items()
        lines += ["", f"## {title}", "", *_listed(entries)]
    (Path(config.site_dir) / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _listed(entries: object) -> list[str]:
    """Return a line for each page of a part of the navigation."""
    if isinstance(entries, str):
        title, first = _begins(entries)
        address = re.sub(r"(?:(?:^|(?<=/))index)?\.md$", "", entries)
        return [f"- [{title}]({address if address.endswith('/') or not address else address + '/'}): {first}"]
    parts = entries.values() if isinstance(entries, dict) else entries
    return [line for part in parts for line in _listed(part)] if isinstance(parts, Iterable) else []


def _begins(page: str) -> tuple[str, str]:
    """Return the title of a page, and its first sentence as plain text."""
    text = (ROOT / DOCS / page).read_text(encoding="utf-8")
    _, _, rest = re.sub(r"(?s)^<!--.*?-->\s*", "", text).partition("# ")
    title, _, body = rest.partition("\n")
    parts = [part for part in body.split("\n\n") if re.match(r"\s*[\w`](?!\.|igures:)", part)]
    plain = " ".join(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", "".join(parts[:1])).split())
    return title, re.split(r"(?<=[.!?:]) ", plain)[0]


def linked(file: PurePosixPath, text: str) -> list[PurePosixPath]:
    """Return the files outside docs/ that a page links to."""
    found = [target(file, link["to"]) for link in LINK.finditer(text) if link["to"]]
    return [one for one in found if one and not one.is_relative_to(DOCS) and (ROOT / one).is_file()]


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add to the site what its pages link to."""
    waiting = [in_repository(file.src_uri) for file in files.documentation_pages()]
    while waiting:
        file = waiting.pop()
        for one in linked(file, (ROOT / file).read_text(encoding="utf-8")):
            if files.get_file_from_path(in_site(one)) is None:
                files.append(made(one, config))
                if one.suffix == ".md":
                    waiting.append(one)
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """Turn the links of a page into those of the site, and tell the search how often a page is meant."""
    source = page.file.src_uri
    is_record = source.startswith((f"{OUTSIDE}/", "adr/")) or source in {"benchmarks.md", "licences.md"}
    page.meta.setdefault("search", {}).setdefault("boost", SELDOM_MEANT if is_record else MORE_OFTEN_MEANT)
    file = in_repository(source)

    def turned(found: re.Match[str]) -> str:
        leads = target(file, found["to"]) if found["to"] else None
        if leads is None:
            return found[0]
        if (ROOT / leads).is_dir():
            return found["text"][1:-1]
        _, hash_sign, anchor = found["to"].partition("#")
        place = os.path.relpath(in_site(leads), PurePosixPath(source).parent)
        return f"{found['text']}({place}{hash_sign}{anchor})"

    return LINK.sub(turned, markdown)
