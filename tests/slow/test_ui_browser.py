"""The inspector in a browser: how it looks, by keyboard alone, and with memories that mean harm."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest

from support.browser import ADDRESSES, MAST, NARROW, WIDE, Tab, chromium, photograph, tab
from support.memories import remember, remember_many
from support.ui import import_sample, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import psycopg
    from playwright.sync_api import Browser, Page

# What a browser shows does not depend on the server's version.
OVERFLOWING = """() => {
    const inScroller = e => e.parentElement && (e.parentElement.closest('.scroll, .unseen') !== null);
    const wide = document.documentElement.scrollWidth > window.innerWidth;
    const all = [...document.querySelectorAll('body *')].filter(e => !inScroller(e) && !e.matches('.skip, .unseen'));
    const out = all.filter(e => e.getBoundingClientRect().right > window.innerWidth + 1);
    return [...(wide ? ['the page'] : []), ...out.map(e => e.tagName + '.' + e.className)];
}"""
"""What is wider than the window, other than in a region that scrolls for itself."""

CONTRAST = """() => {
    const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
    const rgba = colour => {
        canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data].map((v, i) => i < 3 ? v : v / 255);
    };
    const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3]));
    const light = c => c.map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
    const ground = e => {
        const layers = [];
        for (let at = e; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor));
        return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
    };
    const low = [];
    for (const e of document.querySelectorAll('body *')) {
        if (![...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) || !e.checkVisibility()) continue;
        if (e.matches('.skip, .unseen, svg *')) continue;
        let opacity = 1;
        for (let at = e; at; at = at.parentElement) opacity *= getComputedStyle(at).opacity;
        const below = ground(e), ink = rgba(getComputedStyle(e).color);
        ink[3] *= opacity;
        const [a, b] = [light(over(ink, below)), light(below)].sort((x, y) => y - x);
        const ratio = (a + .05) / (b + .05);
        if (ratio < 4.5) low.push(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2));
    }
    return low;
}"""
"""Texts whose contrast to what is behind them is less than WCAG AA asks."""

STRUCTURE = """() => {
    const wrong = [];
    const one = (selector, n = 1) => {
        const found = document.querySelectorAll(selector).length;
        if (found !== n) wrong.push(selector + ': ' + found);
    };
    one('main'); one('h1'); one('html[lang]'); one('body > header'); one('header nav[aria-label]'); one('footer');
    for (const e of document.querySelectorAll('input:not([type=hidden]), select, textarea'))
        if (!e.labels.length || !e.labels[0].textContent.trim()) wrong.push('no label: ' + e.name);
    for (const e of document.querySelectorAll('a, button'))
        if (!(e.getAttribute('aria-label') || e.textContent).trim()) wrong.push('no name: ' + e.outerHTML);
    for (const e of document.querySelectorAll('[aria-labelledby], [aria-describedby]'))
        for (const id of (e.getAttribute('aria-labelledby') || e.getAttribute('aria-describedby')).split(' '))
            if (!document.getElementById(id)) wrong.push('nothing called ' + id);
    const ids = [...document.querySelectorAll('[id]')].map(e => e.id);
    for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) wrong.push('twice: ' + id);
    let last = 0;
    for (const e of document.querySelectorAll('h1, h2, h3')) {
        const level = +e.tagName[1];
        if (level > last + 1) wrong.push('after h' + last + ': ' + e.tagName);
        last = level;
    }
    for (const e of document.querySelectorAll('[style], script, [onclick], [onload], [onerror]')) wrong.push(e.outerHTML);
    return wrong;
}"""
"""What screen readers would stumble over, and what the pages must not have at all."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def sample(browser: Browser, new_database: Callable[..., str], template: str) -> Iterator[str]:
    """An inspector of the sample in a process of its own."""
    dsn = new_database(template)
    import_sample(dsn)
    with serving(dsn) as printed:
        yield printed


def focused(page: Page) -> dict[str, Any]:
    """What has the focus, and whether one can see that."""
    found: dict[str, Any] = page.evaluate(
        """() => {
            const e = document.activeElement, style = getComputedStyle(e), box = e.getBoundingClientRect();
            const inner = getComputedStyle(e.querySelector('circle') || e);
            return {tag: e.tagName, id: e.id, text: (e.getAttribute('aria-label') || e.textContent).trim().slice(0, 60),
                    seen: style.outlineStyle !== 'none' || inner.strokeWidth === '4px',
                    inView: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth};
        }"""
    )
    return found


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_every_page_looks_right(browser: Browser, sample: str, width: int, tmp_path: Path) -> None:
    opened = Tab(browser, sample, width)
    for name in ADDRESSES:
        picture = photograph(opened, name, tmp_path).read_bytes()
        assert struct.unpack(">I", picture[16:20]) == (width,)
        assert len(picture) > 10_000  # an empty page packs into less
        page = opened.page
        # What is folded must look right too.
        page.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
        assert page.evaluate(OVERFLOWING) == [], name
        assert page.evaluate(STRUCTURE) == [], name
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
            assert page.evaluate(CONTRAST) == [], f"{name}, {scheme}"
    opened.close()


def test_by_keyboard_alone_to_an_explanation(browser: Browser, sample: str) -> None:
    with tab(browser, sample) as page:
        page.keyboard.press("Tab")
        assert focused(page)["text"] == "Skip to the content"
        assert focused(page)["inView"]
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert focused(page)["id"] == "q"
        page.keyboard.type(MAST)
        page.keyboard.press("Tab")
        assert focused(page)["id"] == "k"
        page.keyboard.type("3")
        page.keyboard.press("Enter")
        page.wait_for_selector(".hits")
        seen = []
        while True:
            page.keyboard.press("Tab")
            now = focused(page)
            assert now["seen"], now
            assert now["inView"], now
            seen.append(now["tag"])
            if page.evaluate("document.activeElement.matches('.hits h3 a')"):
                break
            assert len(seen) < 40, seen
        page.keyboard.press("Enter")
        page.wait_for_url("**/explain?**")
        assert page.inner_text("h1").startswith("Why memory")
        # To the last element and beyond: nothing keeps the focus.
        for _ in range(40):
            page.keyboard.press("Tab")
            if focused(page)["tag"] == "BODY":
                break
        else:
            pytest.fail("the focus never leaves the page")


def tab_to(page: Page, wanted: str) -> None:
    """Press the tab key until an element has the focus; all on the way can be seen."""
    for _ in range(60):
        page.keyboard.press("Tab")
        now = focused(page)
        assert now["seen"], now
        assert now["inView"], now
        if page.evaluate("wanted => document.activeElement.matches(wanted)", wanted):
            return
    pytest.fail(f"the tab key does not reach {wanted}")


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_a_memory_is_changed_by_keyboard_alone(
    browser: Browser, dsn: str, conn: psycopg.Connection[Any], width: int
) -> None:
    number = remember(conn, "the quokka sleeps in a tree", title="Quokka")
    with serving(dsn) as address, tab(browser, address, width) as page:
        tab_to(page, f"a[href='/memories/{number}']")
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/memories/{number}")
        for name in ("edit", "forget", "restore"):
            tab_to(page, f"a[href$='/{name}']")
            page.keyboard.press("Enter")
            page.wait_for_url(f"**/{name}")
            if name == "edit":
                tab_to(page, "#content")
                page.keyboard.press("Control+a")
                page.keyboard.type("the quokka sleeps\nin a burrow")
            tab_to(page, "main button")
            page.keyboard.press("Enter")
            page.wait_for_selector("[role=status]")
            assert page.evaluate(OVERFLOWING) == []
            assert page.evaluate(STRUCTURE) == []
        assert page.locator("#history ~ .facts > li").count() == 4
        tab_to(page, "a[href$='/supersede']")
        page.keyboard.press("Enter")
        page.wait_for_url("**/supersede")
        tab_to(page, "#content")
        page.keyboard.press("Control+a")
        page.keyboard.type("the quokka has moved to a rock")
        page.keyboard.press("Tab")
        page.keyboard.type("2026-05-17")
        page.keyboard.press("Enter")
        page.wait_for_url("**?done=superseded")
        assert page.inner_text("[role=status]") == "This memory holds now."
        # The button of what was found records feedback.
        page.goto(f"{address.split('/?')[0]}/?q=quokka")
        tab_to(page, ".feedback button[value=yes]")
        page.keyboard.press("Enter")
        page.wait_for_selector("[role=status]")
    assert conn.execute("SELECT content FROM pgrecall.memories WHERE id = %s", [number]).fetchall() == [
        ("the quokka sleeps\nin a burrow",)
    ]
    assert conn.execute("SELECT count(*) FROM pgrecall.judgements").fetchall() == [(1,)]


def test_another_site_changes_nothing(browser: Browser, dsn: str, conn: psycopg.Connection[Any]) -> None:
    """A page of elsewhere posts a form to the inspector that the user is in."""
    number = remember(conn, "quokka")
    with serving(dsn) as address:
        base = address.split("/?")[0]
        context = browser.new_context()
        page = context.new_page()
        page.goto(address)
        page.wait_for_url(f"{base}/")
        for site in ("http://localhost:1/", "http://evil.example/"):
            page.route(
                f"{site}**",
                lambda route: route.fulfill(
                    content_type="text/html",
                    body=f"<form method=post action='{base}/memories/{number}/forget'>"
                    "<input name=form_token value=guess></form>",
                ),
            )
            page.goto(site)
            with page.expect_navigation() as navigated:
                page.evaluate("document.forms[0].submit()")
            assert navigated.value is not None
            assert navigated.value.status == 403
        context.close()
    assert conn.execute("SELECT count(*) FROM pgrecall.memories WHERE deleted_at IS NOT NULL").fetchall() == [
        (0,)
    ]


def test_a_setting_opens_and_is_set_by_keyboard(browser: Browser, sample: str) -> None:
    with tab(browser, sample) as page:
        page.focus("form > details:nth-of-type(2) > summary")
        page.keyboard.press("Enter")
        assert page.is_visible("[name='set.fusion']")
        page.focus("[name='set.fusion']")
        page.keyboard.press("r")
        page.focus("#q")
        page.keyboard.type("Lotte")
        page.keyboard.press("Enter")
        page.wait_for_selector(".hits")
        assert "set.fusion=rrf" in page.url
        assert "set.rrf_k" not in page.url
        page.click("text=Compare settings for this question")
        page.click("text=B: Words only")
        page.wait_for_selector(".moves")
        assert "b.strategy=fulltext" in page.url


def test_one_walks_the_graph_by_the_drawing(browser: Browser, sample: str) -> None:
    with tab(browser, sample, NARROW) as page:
        page.click("nav >> text=Concepts")
        page.fill("#name", "tomasz")
        page.keyboard.press("Enter")
        page.wait_for_url("**/concepts/*")
        assert page.inner_text("h1") == "Tomasz"
        link = page.locator(".star a").first
        name = link.get_attribute("aria-label")
        link.focus()
        assert focused(page)["seen"]
        page.keyboard.press("Enter")
        page.wait_for_function("name => document.querySelector('h1').textContent === name", arg=name)
        assert page.locator(".star a[aria-label='Tomasz'], table a >> text=Tomasz").count() > 0


HARM = r"""() => [
    ...document.querySelectorAll('script, iframe, base, object, embed, style, [onerror], [onload], [onfocus]'),
    ...[...document.querySelectorAll('a')].filter(a => !/^(#|\/(?!\/))/.test(a.getAttribute('href'))),
    ...document.querySelectorAll('main meta, main link, main img'),
].map(e => e.outerHTML.slice(0, 200))"""
"""What no page has: anything that could run, load or lead away."""

ATTACKS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' autofocus onfocus='alert(1)",
    "</title><script>alert(1)</script>",
    "</textarea></select></option><svg onload=alert(1)>",
    "javascript:alert(1)",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<style>body{display:none}</style><link rel=stylesheet href=//evil.example/x.css>",
    "<meta http-equiv=refresh content='0;url=http://evil.example/'>",
    "<base href=http://evil.example/><iframe src=http://evil.example/></iframe>",
    "\u202egnirts desrever\u2066 \u200f\x1b[31mred\x07\x08",
    "Z\u0335\u0340\u0341" + "\u0360" * 200 + "algo",
    "-" * 300,
)


def test_memories_that_mean_harm_do_none(browser: Browser, dsn: str, conn: psycopg.Connection[Any]) -> None:
    many = [f"tag {number} {ATTACKS[number % len(ATTACKS)][:60]}" for number in range(10_000)]
    ids = remember_many(
        conn,
        [
            *(
                {
                    "content": f"harm {text}", "title": text, "category": text, "speaker": text, "source": text,
                    "session": text, "tags": [text, "harm", "", " "], "metadata": {text: text},
                }
                for text in ATTACKS
            ),
            {"content": "harm " + "w" * 100_000, "title": "w" * 500, "tags": ["w" * 1_000, "harm"]},
        ],
    )  # fmt: skip
    ids.append(remember(conn, "harm by many tags", tags=[*many[:100], "harm"]))
    # More than remember() takes, as the owner of the tables can store them.
    with conn.transaction():
        conn.execute("ALTER TABLE pgrecall.memories DROP CONSTRAINT memories_tags_size")
        conn.execute("SET LOCAL session_replication_role = 'replica'")
        conn.execute("UPDATE pgrecall.memories SET tags = %s WHERE id = %s", [many, ids[-1]])
    everywhere = [
        "/?q=harm&k=50",
        "/compare?q=harm&k=50&b.strategy=fulltext",
        "/concepts",
        "/concepts?name=tag",
        "/status",
        "/memories",
        "/memories?session=harm&state=superseded",
    ]
    explained = [
        path
        for place in (1, 4, 11, 12, 14, 15)
        for path in (
            f"/explain?q=harm&id={ids[place]}",
            *(f"/memories/{ids[place]}{form}" for form in ("", "/edit", "/supersede", "/forget")),
        )
    ]
    walked = conn.execute("SELECT id FROM pgrecall.concepts ORDER BY id LIMIT 6").fetchall()
    with serving(dsn) as address:
        for width, paths in (
            (WIDE, everywhere[:2]),
            (NARROW, [*everywhere, *explained, *(f"/concepts/{number}" for (number,) in walked)]),
        ):
            opened = Tab(browser, address, width)
            for path in paths:
                assert opened.go(path) == 200, path
                assert opened.page.evaluate(OVERFLOWING) == [], path
                assert opened.page.evaluate(HARM) == [], path
                assert opened.page.is_visible("main h1")
            opened.go(everywhere[0])
            assert opened.page.locator(".hits > li").count() == len(ids)
            assert opened.page.locator("text=<script>alert(1)</script>").count() > 0
            assert opened.page.locator("text=and 9,992 more").count() == 1
            opened.close()


def test_questions_that_mean_harm_do_none(browser: Browser, sample: str) -> None:
    opened = Tab(browser, sample, NARROW)
    for text in (*ATTACKS, "w" * 10_000, "\u202e", "".join(ATTACKS)):
        for path in (
            f"/?{urlencode({'q': text, 'namespace': text[:50], 'set.decay_floors': text})}",
            f"/compare?{urlencode({'q': text, 'b.lexical_mode': text})}",
            f"/concepts?{urlencode({'name': text, 'namespace': text[:50]})}",
        )[: 3 if len(text) > 500 else 1]:
            assert opened.go(path) in (200, 400), path
            assert opened.page.evaluate(OVERFLOWING) == [], path
            assert opened.page.evaluate(STRUCTURE) == [], path
            assert opened.page.evaluate(HARM) == [], path
    # The browser itself says so of a page that is refused.
    opened.complaints = [line for line in opened.complaints if "status of 400" not in line]
    opened.close()
