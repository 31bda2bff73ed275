"""The documentation site: it builds without a warning, its links stay in it, and nothing comes from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit

import pytest

from support.browser import chromium
from support.serving import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# A page that loads something says so in one of these.
LOADING = {("script", "src"), ("img", "src"), ("link", "href"), ("iframe", "src"), ("source", "src")}
ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 300
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


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files and logs nothing."""

    def log_message(self, *arguments: object) -> None:
        pass


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
    for file in ("sql/", "sql/core/ranking/rank_memories.sql/", "CONTRIBUTING/", "benchmarks/"):
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


SEARCHES = {
    "change the model": "reembedding/",
    "OpenAI embeddings": "embedding/",
    "typescript": "drivers/",
    "backup": "backup/",
    "upgrade": "backup/",
    "prometheus": "operations/",
    "ollama": "embedding/",
    "strategy": "strategies/",
    "mem0": "integrations/",
    "multi tenant": "tenants/",
}
"""What somebody asks the search, and a page that is among the first three answers."""


@pytest.fixture(scope="module")
def search(site: Path) -> Iterator[Callable[[str], list[str]]]:
    """Ask the search of the site, in a browser; it returns the addresses of the first pages."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(site)))
    address = f"http://127.0.0.1:{server.server_address[1]}/"
    with serving(server), chromium() as browser:
        page = browser.new_page()

        def ask(query: str) -> list[str]:
            page.goto(f"{address}?q={quote(query)}")
            page.wait_for_selector(".md-search-result__link", state="attached")
            page.wait_for_timeout(300)  # the list is filled as it is scrolled
            links = page.eval_on_selector_all(
                ".md-search-result__item > a", "links => links.map(link => link.href)"
            )
            places = [urlsplit(link).path.lstrip("/") for link in links]
            return list(dict.fromkeys(places))

        yield ask


@pytest.mark.parametrize("query", SEARCHES)
def test_the_search_finds_guides_first(search: Callable[[str], list[str]], query: str) -> None:
    found = search(query)[:3]
    assert any(place.startswith(SEARCHES[query]) for place in found), found
    assert not any(place.startswith(("adr/", "repository/")) for place in found[:1]), found


def test_the_index_leads_to_every_page_of_the_navigation(site: Path, pages: dict[str, Links]) -> None:
    """As does llms.txt; a decision is reached by the list of decisions, a driver by the list of drivers."""
    sections = {"adr/", "drivers/"}
    wanted = {
        address.removeprefix(HOST)
        for address in pages
        if not address.startswith(f"{HOST}repository/")
        and not any(f"{HOST}{section}" in address and address != f"{HOST}{section}" for section in sections)
    }
    led = {urldefrag(urljoin(HOST, link))[0].removeprefix(HOST) for link in pages[HOST].leads}
    assert wanted - led == set()
    listed = set(re.findall(r"\]\(([^)]*)\)", (site / "llms.txt").read_text(encoding="utf-8")))
    assert wanted - listed == set()
    assert all((site / place / "index.html").is_file() for place in listed)
