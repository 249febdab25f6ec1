"""The page of a run, driven in a browser: hovered, zoomed, touched and typed at."""

import re
from dataclasses import replace

import numpy as np
import pytest
from runs import GAP, NAMES, guided, moved, plain

from skh.report import packing, write_run_html
from skh.report.run_page import asset

pytestmark = pytest.mark.xdist_group("browser")  # one worker starts it
GUTTER, MARGIN = 52, 8  # pixels beside the charts, as in canvas.js
SIZES = [(1280, 900, False), (390, 844, True)]
CTRL, SHIFT = 2, 8  # of the DevTools protocol
CLOSE = {"rel": 6e-3, "abs": 1e-9}  # three digits are shown at least


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Files of three runs: guided, plain and without history."""
    folder = tmp_path_factory.mktemp("pages")
    result, states, ys = guided()
    options = {"truth": states, "names": NAMES, "settings": {"n": 40, "model": "range_bearing"}}
    write_run_html(result, folder / "guided.html", observations=ys, title="Robot", **options)
    result, _, ys = plain()
    times = np.datetime64("2020-02-25") + np.arange(30)
    far = moved(result, 1e-2, 5_012_345.0)
    write_run_html(far, folder / "plain.html", times=times)
    tiny = moved(result, 1e-12, 0.0)
    write_run_html(tiny, folder / "tiny.html", times=1e-9 * np.arange(30), observations=ys)
    long = ["a_name_without_spaces_" * 4 + str(j) for j in range(3)]
    bare = plain(history=False)[0]
    increments = bare.log_evidence_increments.copy()
    increments[[3, 4]] = -np.inf, np.nan  # steps that were skipped
    bare = replace(bare, log_evidence_increments=increments)
    about = {"title": "T" * 90, "settings": {"rule" * 20: "skh." * 40}}
    write_run_html(bare, folder / "bare.html", names=long, **about)
    return folder


@pytest.fixture
def page(pages, browser):
    """The page of the guided run on a desk."""
    with browser.page(pages / "guided.html") as opened:
        opened.settle()
        yield opened


def place(page, t, T=40, low=-0.5, high=None, chart="#state"):
    """Pixel of a step in a chart that shows steps from ``low`` to ``high``."""
    high = T - 0.5 if high is None else high
    left, top, width, height = page.box(chart)
    share = (t - low) / (high - low)
    return left + GUTTER + share * (width - GUTTER - MARGIN), top + height / 2


def numbers(text):
    return [float(x) for x in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text)]


def in_view(page):
    """First and last step in view, as the page says."""
    return tuple(map(int, re.match(r"steps (\d+) to (\d+)", page.text("#range")).groups()))


@pytest.mark.parametrize("chart", ["#state", "#ess", "#looks", "#evidence", "#observed"])
def test_hovering_shows_the_numbers_of_that_step(page, chart):
    result, states, ys = guided()
    for t in (0, 17, 39):
        page.hover(*place(page, t, chart=chart))
        assert page.text("#moment") == f"Step {t}"
        mean, lower, upper, truth = numbers(page.text("#state-value"))
        assert mean == pytest.approx(result.means[t, 0], **CLOSE)
        assert [lower, upper] == pytest.approx(result.quantiles[t, [0, 4], 0], **CLOSE)
        assert truth == pytest.approx(states[t, 0], **CLOSE)
        assert numbers(page.text("#ess-value")) == pytest.approx([result.ess[t], 40], **CLOSE)
        increments = result.log_evidence_increments
        expected = [increments[t], increments[: t + 1].sum()]
        assert numbers(page.text("#evidence-value")) == pytest.approx(expected, rel=1e-4)
        assert numbers(page.text("#observed-value")) == pytest.approx([ys[t, 0]], rel=1e-5)
        sizes = [look.n for look in result.looks[t]]
        found = numbers(page.text("#looks-value"))
        assert found == (sizes if len(sizes) > 1 else [sum(sizes)])
        assert result.looks[t][0].reason in page.text("#looks-value")


def test_a_step_without_observation_is_marked(page):
    page.hover(*place(page, GAP[1]))
    assert page.text("#moment") == f"Step {GAP[1]}, nothing measured"
    assert page.text("#observed-value") == "missing"
    assert "nothing measured" in page.text("#legend")


def test_dragging_zooms_and_a_double_click_shows_all(page):
    (start, y), (end, _) = place(page, 9.6), place(page, 20.4)
    page.drag(start, end, y)
    assert in_view(page) == (10, 20)
    assert page.see("document.getElementById('track').style.visibility") == "visible"
    page.hover(*place(page, 15, low=9.6, high=20.4))
    assert page.text("#moment") == "Step 15"
    page.click(*place(page, 15, low=9.6, high=20.4), count=2)
    assert in_view(page) == (0, 39)
    assert page.see("document.getElementById('track').style.visibility") == "hidden"


def test_a_tiny_selection_shows_a_few_steps(page):
    (start, y), (end, _) = place(page, 20.0), place(page, 20.4)
    page.drag(start, end, y)
    assert in_view(page) == (19, 21)


def press(page, button):
    left, top, width, height = page.box(f"#{button}")
    page.click(left + width / 2, top + height / 2)


def test_buttons_zoom_and_move(page):
    page.hover(*place(page, 20))
    press(page, "in")
    first, last = in_view(page)
    assert last - first == pytest.approx(20, abs=1)
    assert first <= 20 <= last
    press(page, "later")
    assert in_view(page) == pytest.approx((first + 10, last + 10), abs=1)
    press(page, "earlier")
    assert in_view(page) == (first, last)
    press(page, "out")
    assert in_view(page) == (0, 39)
    press(page, "in")
    press(page, "all")
    assert in_view(page) == (0, 39)


def test_the_wheel_zooms_with_ctrl_and_moves_with_shift(page):
    x, y = place(page, 20)
    for _ in range(4):
        page.mouse("Wheel", x, y, deltaX=0, deltaY=-100, modifiers=CTRL)
    page.settle()
    first, last = in_view(page)
    assert 5 < last - first < 20
    assert first <= 20 <= last
    page.mouse("Wheel", x, y, deltaX=300, deltaY=0, modifiers=SHIFT)
    page.settle()
    assert in_view(page)[0] > first


def test_a_click_holds_the_step_until_the_next(page):
    page.click(*place(page, 8))
    page.hover(*place(page, 30))
    assert page.text("#moment") == "Step 8 (held)"
    page.key("Escape")
    page.hover(*place(page, 30))
    assert page.text("#moment") == "Step 30"


def test_keys_move_the_cursor_and_zoom(page):
    page.hover(*place(page, 20))
    page.key("ArrowRight")
    page.key("ArrowRight")
    page.key("ArrowLeft")
    assert page.text("#moment").startswith("Step 21")
    page.see("document.getElementById('state').focus()")
    page.key("+")
    page.key("+")
    first, last = in_view(page)
    assert last - first < 12
    page.key("End")
    assert page.text("#moment").startswith("Step 39")
    assert in_view(page)[1] == 39  # the view follows
    slider = "document.getElementById('state').getAttribute('aria-value{}')"
    assert page.see(slider.format("now")) == "39"
    assert page.see(slider.format("max")) == "39"
    assert NAMES[0] in page.see(slider.format("text"))
    page.key("0")
    assert in_view(page) == (0, 39)
    page.key("Home")
    assert page.text("#moment").startswith("Step 0")


def ink(page, canvas):
    """A fingerprint of what is drawn."""
    return page.see(f"document.getElementById('{canvas}').toDataURL()")


def test_another_coordinate_has_other_numbers_and_another_chart(page):
    result, *_ = guided()
    page.hover(*place(page, 17))
    before = ink(page, "state")
    page.choose("#coordinate", 1)
    assert page.text("#name") == NAMES[1]
    mean = numbers(page.text("#state-value"))[0]
    assert mean == pytest.approx(result.means[17, 1], **CLOSE)
    assert ink(page, "state") != before


def test_particles_of_each_look_are_apart(page):
    result, *_ = guided()
    belief = next(b for b in result.history[5:] if len(b.looks) > 1)
    page.hover(*place(page, belief.t))
    starts = np.cumsum([0, *(look.n for look in belief.looks)])
    shown = [numbers(line) for line in page.text("#cloud-legend").split("\n") if "%" in line]
    for k, (count, share) in enumerate(shown):
        mass = belief.w[starts[k] : starts[k + 1]].sum()
        assert count == belief.looks[k].n
        assert share == pytest.approx(100 * mass, rel=6e-3, abs=1e-6)
    assert len(shown) == len(belief.looks)
    assert "pilot" in page.text("#cloud-legend")
    before = ink(page, "cloud")
    page.choose("#against", -1)
    stems = ink(page, "cloud")
    page.see("document.getElementById('focus').click()")
    page.settle()
    assert len({before, stems, ink(page, "cloud")}) == 3


def test_pointing_to_a_particle_names_it(page):
    result, *_ = guided()
    page.hover(*place(page, 3))
    left, top, width, height = page.box("#cloud")
    found = set()
    for share in np.linspace(0.2, 0.9, 12):
        page.mouse("Moved", left + GUTTER + share * (width - GUTTER), top + height / 2)
        page.settle()
        if text := page.text("#particle"):
            row = int(re.match(r"Particle (\d+)", text)[1])
            values = [float(text.split(f"{n} ")[1].split(",")[0]) for n in NAMES]
            sd = np.sqrt(np.diagonal(result.covariances[3]))
            assert (abs(np.array(values) - result.history[3].x[row]) < 0.01 * sd + 1e-3).all()
            found.add(row)
    assert found


@pytest.mark.parametrize(("width", "height", "phone"), SIZES)
@pytest.mark.parametrize("name", ["guided", "plain", "tiny", "bare"])
def test_pages_fit_at_any_width_in_the_dark_and_in_the_light(
    pages, browser, name, width, height, phone
):
    """With all that can be opened open; `browser.page` fails if the console has a message."""
    with browser.page(pages / f"{name}.html", width, height, phone=phone, dark=phone) as page:
        page.see("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        page.settle()
        assert page.fits()
        beyond = page.see(
            "[...document.querySelectorAll('main *')].filter(e => e.getClientRects().length"
            f" && e.getBoundingClientRect().right > {width} + 0.5).map(e => e.outerHTML)"
        )
        assert beyond == []
        background = page.see("getComputedStyle(document.body).backgroundColor")
        assert (sum(numbers(background)) < 200) == phone
        rows = page.see("document.querySelectorAll('#steps tbody tr').length")
        assert rows == (40 if name == "guided" else 30)
        says = page.see("document.body.innerText.includes('history=True')")
        assert says == (name == "bare")


def test_fingers_move_the_cursor_and_pinch(pages, browser):
    with browser.page(pages / "guided.html", 390, 844, phone=True) as page:
        page.settle()
        (x0, y), (x1, _) = place(page, 5), place(page, 25)
        page.touch([(x0, y), ((x0 + x1) / 2, y), (x1, y)])
        assert page.text("#moment") == "Step 25"
        (a, y), (b, _) = place(page, 15), place(page, 25)
        steps = np.linspace(0, 60, 5)
        page.touch([(a - s, y) for s in steps], [(b + s, y) for s in steps])
        first, last = in_view(page)
        assert 5 < last - first < 30
        assert first < 20 < last
        assert page.fits()


def mean_at(page, t, moment):
    """The mean that is shown with the cursor at a step of 30, whose moment is checked."""
    page.settle()
    page.hover(*place(page, t, T=30))
    assert page.text("#moment") == moment
    return numbers(page.text("#state-value"))[0]


def test_dates_and_digits_far_from_zero(pages, browser):
    result = moved(plain()[0], 1e-2, 5_012_345.0)
    with browser.page(pages / "plain.html") as page:
        mean = mean_at(page, 4, "Step 4, 2020-02-29")
        assert abs(mean - result.means[4, 0]) < 0.05 * np.sqrt(result.covariances[4, 0, 0])
        assert "(2020-02-25 to 2020-03-25)" in page.text("#range")


def test_tiny_units_are_written_with_powers_of_ten(pages, browser):
    result = moved(plain()[0], 1e-12, 0.0)
    with browser.page(pages / "tiny.html") as page:
        mean = mean_at(page, 7, "Step 7, t = 7e-9")
        assert mean == pytest.approx(result.means[7, 0], rel=6e-3, abs=1e-30)


def test_numbers_are_written_as_in_python(pages, browser, tmp_path):
    """`number` and `resolved` exist twice, in packing.py and in format.js."""
    page_of = tmp_path / "format.html"
    page_of.write_text(f"<!doctype html><script>{asset('format.js')}</script>")
    values = [0.0, 1.0, -12.3456, 123456.7, 1234567.8, 9.9999e-5, 1.5e-300, -2.5e12, 999999.6]
    scales = [1e-3, 1.0, 1e4, 0.0]
    with browser.page(page_of) as page:
        assert page.see(f"{values}.map(x => number(x))") == [packing.number(x) for x in values]
        for scale in scales:
            expected = [packing.resolved(x, scale) for x in values]
            assert page.see(f"{values}.map(x => resolved(x, {scale}))") == expected
