"""Figures and texts of results: what they show, and what they refuse."""

import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

import skh
from skh.filtering.plans import Look
from skh.views.particle_plots import look_groups
from skh.views.plots import KINDS, bands, edges, step_kinds

MODEL = skh.models.range_bearing()
STATES, YS = MODEL.simulate(6, rng=0)
YS = [*YS[:4], None, YS[5]]


def run(history=True, **options):
    return skh.particle_filter(MODEL, YS, n=20, rng=0, history=history, **options)


@pytest.fixture(scope="module")
def result():
    return run(quantiles=(0.05, 0.25, 0.5, 0.75, 0.95))


def drawn(figure):
    """Draw a figure, with warnings as errors, and return its axes."""
    figure.canvas.draw()
    return figure.axes


def labels(axis):
    return axis.get_legend_handles_labels()[1]


def test_a_plot_has_the_course_of_each_coordinate_the_ess_and_the_evidence(result):
    axes = drawn(result.plot(STATES, names=["east", "north"]))
    assert [axis.get_ylabel() for axis in axes][:3] == ["east", "north", "ESS"]
    assert labels(axes[0]) == ["90% interval", "50% interval", "mean", "truth"]
    mean, truth = axes[1].lines
    np.testing.assert_array_equal(mean.get_ydata(), result.means[:, 1])
    np.testing.assert_array_equal(truth.get_ydata(), STATES[:, 1])
    np.testing.assert_array_equal(axes[2].lines[1].get_ydata(), result.ess)
    increments = axes[3].lines[0].get_ydata()
    assert np.isnan(increments[4])  # not observed
    np.testing.assert_array_equal(
        np.delete(increments, 4), result.log_evidence_increments[[0, 1, 2, 3, 5]]
    )


def test_a_centred_plot_shows_errors_and_one_coordinate_can_be_chosen(result):
    axes = drawn(result.plot(STATES, coordinates="x1", centred=True))
    assert len(axes) == 3
    truth = axes[0].lines[1].get_ydata()
    np.testing.assert_array_equal(truth, STATES[:, 1] - result.means[:, 1])


def test_bands_are_quantiles_of_the_result_of_the_history_or_deviations(result):
    (wide, low, high), (narrow, *_) = bands(result)
    assert (wide, narrow) == ("90% interval", "50% interval")
    np.testing.assert_array_equal(low, result.quantiles[:, 0])
    np.testing.assert_array_equal(high, result.quantiles[:, 4])
    kept = run()
    np.testing.assert_array_equal(bands(kept)[0][1], [b.quantile(0.05) for b in kept.history])
    [(label, low, high)] = bands(run(history=False, quantiles=(0.5, 0.9)))
    assert "2 standard deviations" in label
    sd = np.sqrt(np.diagonal(result.covariances, axis1=1, axis2=2))
    np.testing.assert_allclose(high - low, 4 * sd, rtol=1e-9)


def test_steps_are_of_four_kinds(result):
    names = list(KINDS)
    assert [names[k] for k in step_kinds(result)] == [*["guided"] * 4, "not observed", "guided"]
    plain = skh.particle_filter(MODEL, YS, skh.Stratified(), 20, rng=0)
    assert {names[k] for k in step_kinds(plain)} == {"one look", "not observed"}
    broad = SimpleNamespace(
        means=np.zeros((1, 2)),
        looks=((Look(20, 15.0, "the likelihood is broad"),),),
        n_likelihood_evaluations=np.array([20]),
    )
    assert names[step_kinds(broad)[0]] == "not guided"


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_plots_do_not_depend_on_units(unit):
    model = skh.model_from_functions(
        ([0.0], unit**2),
        lambda t, x: (x, unit**2),
        lambda t, x, y: -0.5 * (x[:, 0] / unit - y) ** 2,
    )
    result = skh.particle_filter(model, [0.1, 0.5, 0.2], skh.Stratified(), 10, rng=0, history=True)
    axis = drawn(result.plot(np.zeros(3)))[0]
    low, high = axis.get_ylim()
    _, bottom, top = bands(result)[0]
    assert 0.5 < (top.max() - bottom.min()) / (high - low) < 1.0
    drawn(result.plot_particles(-1, truth=[0.0]))


def test_real_times_are_drawn(result):
    times = np.array([0.0, 1.0, 3.0, 4.0, 5.0, 9.0])
    dated = run(history=False)
    object.__setattr__(dated, "times", times)
    axes = drawn(dated.plot())
    np.testing.assert_array_equal(axes[0].lines[0].get_xdata(), times)
    assert axes[-1].get_xlabel() == "time"
    np.testing.assert_array_equal(edges(times), [-0.5, 0.5, 2.0, 3.5, 4.5, 7.0, 11.0])
    object.__setattr__(dated, "times", np.datetime64("2024-01-01") + np.arange(6))
    drawn(dated.plot())
    one = np.array(["2024-01-01"], dtype="datetime64[s]")
    assert edges(one)[0] < one[0] < edges(one)[1]


def test_one_step_and_one_particle_can_be_drawn():
    result = skh.particle_filter(MODEL, YS[:1], skh.Stratified(), 1, rng=0, history=True)
    *states, _, _ = drawn(result.plot())
    for k, axis in enumerate(states):
        mean = next(line for line in axis.lines if line.get_label() == "mean")
        np.testing.assert_array_equal(mean.get_xydata(), [[0, result.means[0, k]]])
    assert len(states) == result.means.shape[1]
    [axis] = drawn(result.plot_particles(0))
    np.testing.assert_array_equal(axis.collections[0].get_offsets(), result.history[0].x)


def test_the_hidden_part_can_be_drawn():
    eye = np.eye(2)
    model = skh.RaoBlackwellized(
        prior=([3.0], 1.0),
        z_prior=([0.0, 1.0], eye),
        x_dynamics=lambda t, x: (x, eye[:1], 0.1 * eye[:1, :1]),
        z_dynamics=lambda t, x: (np.zeros(2), eye, 0.01 * eye),
        observation=lambda t, x: (x, np.zeros((1, 2)), 0.1 * eye[:1, :1]),
        state_names=["level"],
    )
    result = skh.particle_filter(model, [3.1, 3.3], skh.Stratified(), 20, rng=0)
    assert len(drawn(result.plot())) == 3  # as before, only x
    axes = drawn(result.plot([3.0, 3.2], coordinates=["level", "z1"]))
    assert [axis.get_ylabel() for axis in axes[:2]] == ["level", "z1"]
    [mean] = axes[1].lines
    np.testing.assert_array_equal(mean.get_ydata(), result.z_means[:, 1])
    band = axes[1].collections[0].get_paths()[0].vertices[:, 1]
    sd = np.sqrt(result.z_covariances[:, 1, 1])
    assert band.max() == pytest.approx((result.z_means[:, 1] + 2 * sd).max())
    with pytest.raises(ValueError, match=r"names \(level, z0, z1\), got 'z2'"):
        result.plot(coordinates=["z2"])


def test_particles_of_looks_are_drawn_apart(result):
    belief = result.history[0]
    groups = look_groups(belief)
    assert [rows.stop - rows.start for _, rows in groups] == [look.n for look in belief.looks]
    assert groups[0][0] == "pilot"
    [axis] = drawn(result.plot_particles(0, truth=STATES))
    assert labels(axis)[0] == "pilot"
    assert labels(axis)[-2:] == ["mean", "truth"]
    [axis] = drawn(result.plot_particles(4, coordinates=1))
    assert labels(axis) == ["particles", "mean"]
    np.testing.assert_array_equal(np.sort(axis.lines[0].get_ydata()), np.sort(result.history[4].w))


def test_a_figure_may_be_given_and_no_window_is_opened(result):
    given = Figure()
    assert result.plot(figure=given) is given
    assert isinstance(result.plot(), Figure)
    pyplot = sys.modules.get("matplotlib.pyplot")
    assert pyplot is None or pyplot.get_fignums() == []


def test_without_matplotlib_an_error_names_the_extra(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs matplotlib: pip install .skh\[app\]"):
        result.plot()


def test_texts_are_short(result):
    pf = skh.ParticleFilter(MODEL, skh.Stratified(), 20, rng=0)
    before = repr(pf)
    belief = pf.step(YS[0])
    assert before == "ParticleFilter(RangeBearing(), Stratified(), n=20, t=0)"
    assert repr(pf).endswith("n=20, t=1)")
    assert repr(belief).startswith("Belief(t=0, 20 particles in 2 dimensions, mean=[")
    assert repr(skh.GaussianMixture([1.0], [[1.0, 2.0]], 1.0)) == (
        "GaussianMixture(K=1, d=2, mean=[1., 2.])"
    )
    assert repr(skh.GaussianMixture([1.0], np.zeros((1, 50)), 1.0)).count("\n") == 0
    lines = repr(result).splitlines()
    assert len(lines) == 2
    assert max(map(len, lines)) <= 100
    assert (
        lines[0]
        == "FilterResult: 6 steps in 2 dimensions, SecondLook(Regularized(default_rule())), n=20"
    )


def test_html_is_well_formed_and_escaped(result):
    class Odd:
        prior, transition, log_likelihood = MODEL.prior, MODEL.transition, MODEL.log_likelihood
        state_names = ("<x>", "y & z")

        def __repr__(self):
            return "<b>odd</b>"

    odd = skh.particle_filter(Odd(), YS, skh.Stratified(), 5, rng=0)
    pf = skh.ParticleFilter(MODEL, rng=0, n=20)
    fresh = pf._repr_html_()
    belief = pf.step(YS[0])
    for html in (
        odd._repr_html_(),
        result._repr_html_(),
        fresh,
        belief._repr_html_(),
        pf._repr_html_(),
    ):
        tree = ElementTree.fromstring(f"<div>{html}</div>")
        assert tree.find("table") is not None
    assert "&lt;b&gt;odd" in odd._repr_html_()
    assert "&lt;x&gt;" in odd._repr_html_()
    assert "<svg" in result._repr_html_()


TWO = r"0\.\.1 or names \(x0, x1\)"
BAD = {
    "truth of another shape": (
        lambda r: r.plot(np.zeros((3, 2))),
        r"truth must have shape \(6, 2\), got \(3, 2\)",
    ),
    "truth of words": (lambda r: r.plot("truth"), r"truth must be an array of real numbers"),
    "a coordinate too many": (
        lambda r: r.plot(coordinates=2),
        rf"coordinates must be in {TWO}, got 2",
    ),
    "an unknown name": (lambda r: r.plot(coordinates=["z"]), rf"coordinates must be in {TWO}"),
    "no coordinates": (lambda r: r.plot(coordinates=[]), r"coordinates must be one to 2, got \[\]"),
    "a coordinate between": (lambda r: r.plot(coordinates=0.5), r"coordinates must be indices"),
    "a truth value": (lambda r: r.plot(coordinates=[True]), rf"coordinates must be in {TWO}"),
    "an axis": (lambda r: r.plot(figure="figure"), r"figure must be a matplotlib Figure"),
    "centred by a word": (lambda r: r.plot(centred="no"), r"centred must be True or False"),
    "a step too far": (lambda r: r.plot_particles(6), r"t must be an integer in -6\.\.5, got 6"),
    "a step between": (lambda r: r.plot_particles(0.5), r"t must be an integer in -6\.\.5"),
    "three coordinates": (
        lambda r: r.plot_particles(0, coordinates=[0, 1, 0]),
        r"coordinates must be one or two|one to 2",
    ),
    "a true state of another shape": (
        lambda r: r.plot_particles(0, truth=[1.0, 2.0, 3.0]),
        r"truth must have shape \(2,\) or \(6, 2\), got \(3,\)",
    ),
    "no history": (
        lambda r: run(history=False).plot_particles(0),
        r"plot_particles needs particle_filter\(\.\.\., history=True\)",
    ),
}


@pytest.mark.parametrize(("call", "message"), BAD.values(), ids=BAD)
def test_wrong_arguments_are_named(call, message, result):
    with pytest.raises((TypeError, ValueError), match=message):
        call(result)
