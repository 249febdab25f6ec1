"""All pages of the built site, opened in a browser: `make browse`, after `make docs`.

Nothing is written to the console, nothing is asked from elsewhere, no picture is missing, and no
page is wider than a window or a phone.  The name keeps it out of `make test`, which builds no site.
"""

import os
from pathlib import Path

import pytest

from pages import ROOT

SITE = Path(os.environ.get("SKH_SITE", ROOT / "docs" / "_build" / "html"))
PAGES = sorted(page for page in SITE.glob("**/*.html") if "_static" not in page.parts)
MISSING = "[...document.images].filter(i => i.loading !== 'lazy' && !i.naturalWidth).length"
FORMULAS = (
    "document.querySelectorAll('.math').length <= document.querySelectorAll('mjx-container').length"
)


def test_there_are_pages():
    assert len(PAGES) > 100


@pytest.mark.parametrize(("width", "phone"), [(1280, False), (390, True)])
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(SITE)))
def test_a_page_fits_and_does_not_complain(page, width, phone, browser):
    with browser.page(page, width, 844, phone=phone) as opened:
        assert opened.fits()
        assert opened.see(MISSING) == 0
        if opened.see("typeof MathJax !== 'undefined'"):
            opened.see("MathJax.startup.promise.then(() => 1)")
            assert opened.see(FORMULAS)
            assert opened.fits()


def test_search_finds_a_page(browser):
    with browser.page(SITE / "search.html") as opened:
        opened.see("DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false")  # no requests between files
        opened.see("Search.performSearch('smoothing')")
        opened.see("new Promise(done => setTimeout(done, 1500))")
        assert opened.see("document.querySelectorAll('#search-results li').length") > 3


def test_the_theme_can_be_dark(browser):
    colour = "getComputedStyle(document.body).backgroundColor"
    seen = []
    for dark in (False, True):
        with browser.page(SITE / "index.html", dark=dark) as opened:
            seen.append(sum(map(int, opened.see(colour)[4:-1].split(","))))
    assert seen[1] < 150 < 600 < seen[0]
