"""Debian's Chromium, without a window, as the tests of the inspector drive it.

    PYTHONPATH=tests python -m support.browser --url 'http://127.0.0.1:8765/?token=…' --folder docs/images

takes the pictures of docs/inspector.md of an inspector that shows the sample.
"""

from __future__ import annotations

import argparse
import os
import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from PIL import Image
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page

REQUIRED = "PGRECALL_REQUIRE_BROWSER"
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
WIDE, NARROW = 1280, 390
HEIGHTS = {WIDE: 800, NARROW: 844}
MAST = "Where do I find the man who mended the rotten mast, and where do I have to knock?"
ADDRESSES = {
    "search": f"/?{urlencode({'q': MAST, 'k': 5})}",
    "settings": f"/?{urlencode({'q': 'Lotte', 'k': 3, 'set.fusion': 'rrf'})}",
    "memories": "/memories",
    "memory": "/memories/101",
    "edit": "/memories/101/edit",
    "supersede": "/memories/101/supersede",
    "forget": "/memories/101/forget",
    "explain": f"/explain?{urlencode({'q': MAST, 'k': 5, 'id': 101})}",
    "compare": f"/compare?{urlencode({'q': MAST, 'k': 8, 'b.strategy': 'fulltext'})}",
    "concepts": "/concepts",
    "concept": "/concepts?name=Larkspur",
    "status": "/status",
}
"""A page of each kind, on the sample."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run the browser; without one the tests are skipped, unless the environment requires them."""
    program = shutil.which("chromium")
    if program is None:
        missing = "there is no chromium: apt-get install chromium"
        if os.environ.get(REQUIRED):
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, headless=True, args=ARGUMENTS)
        yield browser
        browser.close()


class Tab:
    """A tab in a profile of its own, let into an inspector; it notes everything that must not happen.

    Attributes:
        page: Playwright's.
        width: How wide the window is.
        scheme: 'light' or 'dark'.
        complaints: Dialogs, what the console said, requests that left this machine, pages that broke.
    """

    def __init__(self, browser: Browser, address: str, width: int = WIDE, scheme: str = "light") -> None:
        self.width = width
        self.scheme = scheme
        self._base = address.split("/?")[0]
        self._context = browser.new_context(
            viewport={"width": width, "height": HEIGHTS[width]},
            color_scheme="dark" if scheme == "dark" else "light",
        )
        self.page: Page = self._context.new_page()
        self.complaints: list[str] = []
        self.page.on("dialog", self._dialog)
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"page error: {error}"))
        self.page.on("request", lambda request: self._asked(request.url))
        self.page.goto(address)
        self.page.wait_for_url(f"{self._base}/")

    def go(self, path: str) -> int:
        """Go to a page; returns its status."""
        answer = self.page.goto(self._base + path)
        assert answer is not None
        return answer.status

    def close(self) -> None:
        """Close it; fails if anything happened that must not."""
        self._context.close()
        assert self.complaints == []

    def _dialog(self, dialog: Dialog) -> None:
        self.complaints.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _console(self, message: ConsoleMessage) -> None:
        self.complaints.append(f"console: {message.text}")

    def _asked(self, url: str) -> None:
        if not url.startswith(f"{self._base}/"):
            self.complaints.append(f"request: {url}")


@contextmanager
def tab(browser: Browser, address: str, width: int = WIDE, scheme: str = "light") -> Iterator[Page]:
    """A tab that must have nothing to complain of."""
    opened = Tab(browser, address, width, scheme)
    yield opened.page
    opened.close()


def photograph(opened: Tab, name: str, folder: Path) -> Path:
    """Go to a page and take its picture."""
    assert opened.go(ADDRESSES[name]) == 200
    file = folder / f"inspector-{name}-{opened.width}{'-dark' if opened.scheme == 'dark' else ''}.png"
    # A phone shows the first of a long page; the wide ones are whole.
    # To hide the caret, playwright would leave styles in the page.
    opened.page.screenshot(path=file, full_page=opened.width == WIDE, caret="initial")
    return file


def _main() -> None:
    parser = argparse.ArgumentParser(description="Take the pictures of docs/inspector.md.")
    parser.add_argument("--url", required=True, help="what `pgrecall ui` printed")
    parser.add_argument("--folder", type=Path, required=True)
    given = parser.parse_args()
    with chromium() as browser:
        for width, scheme, names in (
            (WIDE, "light", [*ADDRESSES]),
            (NARROW, "light", [*ADDRESSES]),
            (WIDE, "dark", ["search"]),
        ):
            opened = Tab(browser, given.url, width, scheme)
            for name in names:
                picture = photograph(opened, name, given.folder)
                # 256 colours are enough for a page, and half the size.
                few = Image.open(picture).convert("RGB").quantize(256, method=Image.Quantize.MAXCOVERAGE)
                few.save(picture, optimize=True)
                print(picture)
            opened.close()


if __name__ == "__main__":
    _main()
