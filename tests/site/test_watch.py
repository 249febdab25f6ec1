"""The page "watch it place", built and driven in a browser."""

import subprocess
import sys

import pytest

from pages import ROOT

pytestmark = pytest.mark.xdist_group("browser")  # one worker starts it
PICTURE = "el('points').toDataURL()"


@pytest.fixture(scope="module")
def watch(tmp_path_factory):
    file = tmp_path_factory.mktemp("watch") / "watch.html"
    subprocess.run([sys.executable, ROOT / "docs/watch/build.py", file], check=True)
    return file


def slide(page, k):
    page.see(f"(e => {{ e.value = {k}; e.dispatchEvent(new Event('input')); }})(el('n'))")
    page.settle()


def error(page):
    return page.see("(c => c.scene.rules[c.rule][c.k].error)(chosen())")


def test_the_page_is_one_small_file(watch):
    text = watch.read_text()
    assert len(text) < 300_000
    assert "http" not in text


@pytest.mark.parametrize(("width", "phone"), [(1280, False), (390, True)])
@pytest.mark.parametrize("dark", [False, True])
def test_slider_and_rules_change_what_is_drawn(watch, browser, width, phone, dark):
    with browser.page(watch, width, 844, phone=phone, dark=dark) as page:
        assert page.fits()
        assert page.text("#count") == "24"
        page.choose("#rule", "herding")
        slide(page, 0)
        assert page.text("#count") == "1"
        few, coarse = page.see(PICTURE), error(page)
        slide(page, 12)
        assert page.text("#count") == "100"
        assert error(page) < coarse / 5
        many = page.see(PICTURE)
        assert len(many) > len(few) > 1000
        assert page.text("#says").startswith(f"MMD {error(page)}, ")
        assert "times smaller" in page.text("#says")


def test_a_step_of_a_filter_offers_the_second_look(watch, browser):
    with browser.page(watch) as page:
        assert page.see("el('rule').options.length") == 5
        page.choose("#scene", "step")
        assert page.see("el('rule').options.length") == 6
        assert page.text("#says").startswith("error of the mean")
        slide(page, 10)
        page.choose("#rule", "random")
        plain = error(page)
        page.choose("#rule", "default with a second look")
        assert error(page) < plain / 3
        page.choose("#scene", "mixture")  # has no such rule
        assert page.see("el('rule').value") == "all weights"


def test_playing_ends_at_the_last_number(watch, browser):
    with browser.page(watch) as page:
        slide(page, 11)
        page.see("el('play').click()")
        assert page.text("#play") == "Pause"
        page.see("new Promise(done => setTimeout(done, 900))")
        assert page.text("#count") == "100"
        assert page.text("#play") == "Play"
