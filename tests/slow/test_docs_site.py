"""The documentation site: it builds without a warning, its links stay in it, and nothing comes from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import pytest

# A page that loads something says so in one of these.
LOADING = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}
ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 120
HOST = "http://site.invalid/"


class Links(HTMLParser):
    """What a page leads to, what it loads, and what can be led to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.leads: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            if (tag, name) == ("a", "href") and value:
                self.leads.append(value)
            if (tag, name) in LOADING and value:
                self.loads.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
    )
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Links]:
    """The pages by their addresses."""
    return {
        urljoin(HOST, path.relative_to(site).as_posix().removesuffix("index.html")): Links(
            path.read_text(encoding="utf-8")
        )
        for path in site.rglob("*.html")
        if path.name != "404.html"  # served at any address: its links are of the host's root
    }


def test_every_link_leads_somewhere(site: Path, pages: dict[str, Links]) -> None:
    lost = []
    for address, page in pages.items():
        for link in page.leads:
            target, anchor = urldefrag(urljoin(address, link))
            if not target.startswith(HOST):
                continue
            if target in pages:
                found = not anchor or unquote(anchor) in pages[target].anchors or anchor.startswith("__")
            else:
                found = (site / unquote(target.removeprefix(HOST))).is_file()
            if not found:
                lost.append(f"{address} -> {link}")
    assert lost == []


def test_nothing_comes_from_another_server(site: Path, pages: dict[str, Links]) -> None:
    for address, page in pages.items():
        assert page.loads, address
        assert [load for load in page.loads if not urljoin(address, load).startswith((HOST, "data:"))] == []
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"@import|url\(['\"]?(https?:)?//", text), sheet


def test_what_is_linked_to_outside_docs_comes_along(pages: dict[str, Links]) -> None:
    for file in ("sql/", "sql/internal/ranking/rank_memories.sql/", "CONTRIBUTING/", "benchmarks/"):
        assert f"{HOST}repository/{file}" in pages
    assert any("repository/sql/" in link for link in pages[HOST].leads)


def test_every_page_is_found_from_the_first(pages: dict[str, Links]) -> None:
    reached: set[str] = set()
    waiting = [HOST]
    while waiting:
        address = waiting.pop()
        if address in pages and address not in reached:
            reached.add(address)
            waiting += [urldefrag(urljoin(address, link))[0] for link in pages[address].leads]
    assert set(pages) - reached == set()
