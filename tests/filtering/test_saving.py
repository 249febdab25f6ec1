"""Filters and results on disk: the same bits afterwards, and clear refusals."""

import json
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skh
from battery import KERNEL, RULES
from skh.files import container
from skh.files.trees import decoded, encoded
from skh.filtering.described_rules import described_plan
from skh.filtering.saving import generator_of

LGSS, JMLS = skh.models.lgss3(), skh.models.jmls()
FLIGHT = skh.models.survey_flight(5, rng=0)
RULE = skh.Stratified()


class Strided(NamedTuple):
    """Records in an unusual order in memory."""

    m: np.ndarray
    P: np.ndarray


class Layouts:
    """Records that are columns of matrices, transposed and broadcast; they enter the numbers."""

    def prior(self):
        return skh.GaussianMixture([1.0], [[0.0, 1.0]], 1.0)

    def initial_carry(self, x):
        n = len(x)
        columns = np.arange(7.0 * n).reshape(n, 7)[:, ::3] / 7
        return {"s": Strided(columns, np.ones((2, 2, n)).T), 1: np.broadcast_to(0.3, (n, 3))}

    def transition(self, t, x, carry):
        s = carry["s"]
        return 0.9 * x + 0.01 * (s.m @ np.ones((3, 2))) + 0.001 * (s.P @ x[:, :, None])[..., 0], 0.1

    def move(self, t, x, carry, x_next):
        wide = np.empty((len(x), 6))
        wide[:, ::2] = carry["s"].m * 0.9 + x_next.sum(axis=1)[:, None] / 3
        turned = np.asfortranarray(carry["s"].P) / 3 + 0.1
        return {
            "s": Strided(wide[:, ::2], turned),
            1: np.broadcast_to(carry[1][0] / 3, (len(x), 3)),
        }

    def log_likelihood(self, t, x, y, carry):
        return -0.5 * (y - x[:, 0] - carry[1] @ np.ones(3)) ** 2, carry


def rao_blackwellized(q=0.1):
    eye = np.eye(2)
    return skh.RaoBlackwellized(
        prior=([3.0, 0.0], eye),
        z_prior=([0.0, 1.0], eye),
        x_dynamics=lambda t, x: (x, eye, q * eye),
        z_dynamics=lambda t, x: (np.zeros(2), eye, 0.01 * eye),
        observation=lambda t, x: (np.hypot(*x.T)[:, None], np.zeros((1, 2)), 0.1 * np.eye(1)),
    )


CASES = {
    "linear": (LGSS, LGSS.simulate(6, rng=0)[1], RULE),
    "second look": (LGSS, LGSS.simulate(6, rng=0)[1], None),
    "jump Markov": (JMLS, JMLS.simulate(6, rng=0)[1], RULE),
    "Rao-Blackwell": (rao_blackwellized(), [3.1, 3.3, None, 3.0, 2.9], skh.Smoothed(RULE)),
    "charts": (FLIGHT.model, FLIGHT.observations, RULE),
    "layouts": (Layouts(), [0.1, 0.2, None, 0.3, 0.5], RULE),
}
every_case = pytest.mark.parametrize(("model", "ys", "rule"), CASES.values(), ids=CASES)


def assert_same(a, b, *, classes=True):
    """Trees that are equal to the bit, with equal types and strides."""
    if classes:
        assert type(a) is type(b)
    if isinstance(a, tuple | list):
        assert len(a) == len(b)
        for pair in zip(a, b, strict=True):
            assert_same(*pair, classes=classes)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            assert_same(a[key], b[key], classes=classes)
    elif hasattr(a, "__dataclass_fields__"):
        for field in fields(a):
            if field.name not in ("seconds", "attributes"):  # by the clock
                assert_same(getattr(a, field.name), getattr(b, field.name), classes=classes)
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert a.tobytes() == b.tobytes()
        assert a.flags.writeable == b.flags.writeable
    else:
        assert a == b or (a != a and b != b)


@every_case
def test_a_saved_filter_goes_on_with_the_numbers_of_an_uninterrupted_run(model, ys, rule, tmp_path):
    pf, path = skh.ParticleFilter(model, rule, 20, rng=3), tmp_path / "filter.npz"
    pf.save(path)
    again = skh.ParticleFilter.load(path, model, rule)
    assert (again.t, again.n, again.belief) == (0, 20, None)
    for y in ys:
        belief = pf.step(y)
        assert_same(belief, again.step(y))
        again.save(path)  # at every step
        again = skh.ParticleFilter.load(path, model, rule)
        assert again.t == pf.t
        if belief.carry is not None:
            assert strides_of(again.belief.carry) == strides_of(belief.carry)
    assert_same(pf.predict(2).means, again.predict(2).means)


@pytest.mark.parametrize("name", ["linear", "Rao-Blackwell", "charts", "layouts"])
def test_a_filter_is_saved_and_loaded_with_or_without_workers(name, tmp_path):
    model, ys, rule = CASES[name]
    with ThreadPoolExecutor(1) as threads:
        with_workers = skh.parallel(model, threads, chunk=20)
        pf = skh.ParticleFilter(model, rule, 20, rng=3)
        for y, before, after in zip(
            ys, (model, with_workers) * 3, (with_workers, model) * 3, strict=False
        ):
            pf.save(tmp_path / "f")
            expected = pf.step(y)
            again = skh.ParticleFilter.load(tmp_path / "f", after)
            assert_same(expected, again.step(y))
            pf = skh.ParticleFilter(before, rule, 20, rng=again._rng, belief=again.belief)
        run = {"rule": rule, "n": 20, "rng": 0, "checkpoint": tmp_path / "run"}
        whole = skh.particle_filter(model, ys, **{**run, "checkpoint": None})
        skh.particle_filter(with_workers, ys[:3], **run)
        assert_same(whole, skh.particle_filter(model, ys, **run))
    other, _, _ = CASES["jump Markov"]
    with pytest.raises(skh.SavedFileError, match=r"a model of class"):
        skh.ParticleFilter.load(tmp_path / "f", other)


def strides_of(carry):
    if isinstance(carry, dict):
        return {key: strides_of(value) for key, value in carry.items()}
    return tuple(map(strides_of, carry)) if isinstance(carry, tuple) else carry.strides


@pytest.mark.parametrize("name", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_any_generator_of_numpy_goes_on(name, tmp_path):
    rng = np.random.Generator(getattr(np.random, name)(1))
    rng.integers(5, dtype=np.int32)  # half of a word is kept for later
    pf = skh.ParticleFilter(LGSS, skh.MonteCarlo(), 10, rng=rng)
    pf.step(0.1)
    pf.save(tmp_path / "f")
    again = skh.ParticleFilter.load(tmp_path / "f", LGSS, skh.MonteCarlo())
    mine = np.random.Generator(getattr(np.random, name)(7))
    other = skh.ParticleFilter.load(tmp_path / "f", LGSS, skh.MonteCarlo(), rng=mine)
    expected = pf.step(0.2)
    assert_same(expected, again.step(0.2))
    assert_same(expected, other.step(0.2))
    assert mine.integers(1 << 40) == rng.integers(1 << 40)  # the caller's own generator is used


def test_n_and_a_first_time_are_kept(tmp_path):
    pf = skh.ParticleFilter(LGSS, RULE, 10, rng=0, t=7)
    pf.n = 30
    pf.save(tmp_path / "f")
    again = skh.ParticleFilter.load(tmp_path / "f", LGSS, RULE)
    assert (again.t, again.n) == (7, 30)
    assert again.step(0.0).n_particles == 30


@every_case
@pytest.mark.parametrize("history", [False, True])
def test_results_come_back_to_the_bit(model, ys, rule, history, tmp_path):
    path = tmp_path / "run.npz"
    run = {"rng": 3, "history": history, "quantiles": [0.1, 0.9]}
    result = skh.particle_filter(model, ys, rule, 20, **run, times=np.arange(len(ys)) / 7)
    result.save(path)
    assert_same(result, skh.load_result(path, model))
    alone = skh.load_result(path)
    assert_same(result, alone, classes=False)
    with np.load(path) as opened:  # numpy opens it as well
        np.testing.assert_array_equal(opened["means"], result.means)
        assert json.loads(opened["skh.json"])["kind"] == "result"
    if history:
        goes_on = skh.ParticleFilter(model, rule, 20, rng=0, belief=result.history[2])
        from_file = skh.load_result(path, model).history[2]
        again = skh.ParticleFilter(model, rule, 20, rng=0, belief=from_file)
        assert_same(goes_on.step(ys[3], t=1.0), again.step(ys[3], t=1.0))


def test_states_of_a_loaded_history_are_those_of_the_run(tmp_path):
    result = skh.particle_filter(FLIGHT.model, FLIGHT.observations, RULE, 10, rng=0, history=True)
    result.save(tmp_path / "run")
    again = skh.load_result(tmp_path / "run", FLIGHT.model)
    assert isinstance(again.mean_states, skh.geometry.Pose)
    assert_same(skh.geometry.paths_of(result), skh.geometry.paths_of(again))
    without = skh.load_result(tmp_path / "run")
    np.testing.assert_array_equal(without.mean_states.position, result.mean_states.position)


trees = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from([np.float32(1.5), np.datetime64("2020-01-01"), np.arange(6)[::-2]]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(trees)
@settings(max_examples=60, deadline=None)
def test_trees_are_decoded_as_they_were(tree):
    description, arrays = encoded(tree)
    assert_same(tree, decoded(json.loads(json.dumps(description)), arrays))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A saved filter and its bytes."""
    path = tmp_path_factory.mktemp("saved") / "filter.npz"
    pf = skh.ParticleFilter(LGSS, RULE, 5, rng=0)
    pf.step(0.1)
    pf.save(path)
    return path, path.read_bytes(), pf.belief


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_a_damaged_file_is_refused_or_harmless(saved, tmp_path_factory, data):
    """Any change of a byte, any cut: a clear refusal, or the very same filter."""
    _, good, belief = saved
    path, bad = tmp_path_factory.getbasetemp() / "damaged.npz", bytearray(good)
    if data.draw(st.booleans()):
        bad[data.draw(st.integers(0, len(good) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del bad[data.draw(st.integers(0, len(good) - 1)) :]
    path.write_bytes(bad)
    try:
        assert_same(belief, skh.ParticleFilter.load(path, LGSS, RULE).belief)
    except skh.SavedFileError as error:
        if "damaged.npz" not in str(error):
            raise


def test_equal_filters_give_equal_files_and_old_ones_stay_on_errors(saved, tmp_path):
    path, good, _ = saved
    skh.ParticleFilter.load(path, LGSS, RULE).save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == good
    model = Layouts()
    pf = skh.ParticleFilter(model, RULE, 5, rng=0)
    pf.save(tmp_path / "again")
    kept = (tmp_path / "again").read_bytes()
    pf.step(0.0)
    pf._belief.carry["words"] = np.array([object()] * 5)
    with pytest.raises(TypeError, match=r"belief/carry/words must be an array of numbers"):
        pf.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == kept
    assert [p.name for p in tmp_path.iterdir()] == ["again"]


def edited(path, target, **changes):
    """Write a copy of a file with another description; its checksum fits."""
    with zipfile.ZipFile(path) as archive:
        about = json.loads(archive.read("skh.json"))
        members = {n: archive.read(n) for n in archive.namelist() if n != "skh.json"}
    about.update(changes)
    about["checksum"] = container._checksum(
        about, {n.removesuffix(".npy"): data for n, data in members.items()}
    )
    with zipfile.ZipFile(target, "w") as archive:
        archive.writestr("skh.json", json.dumps(about))
        for name, data in members.items():
            archive.writestr(name, data)
    return target


def test_files_of_others_are_refused(saved, tmp_path):
    path = saved[0]
    load = skh.ParticleFilter.load
    result = tmp_path / "result"
    skh.particle_filter(LGSS, [0.1], RULE, 5, rng=0).save(result)
    newer = edited(path, tmp_path / "newer", format=2, skh="9.9")
    empty = edited(path, tmp_path / "empty", content={"dict": []})
    wild = edited(path, tmp_path / "wild", content={"array": "nothing"})
    np.savez(tmp_path / "numpy", x=np.ones(3))
    (tmp_path / "nothing").touch()
    other_prior = skh.models.LinearGaussian(
        LGSS.A, LGSS.C, LGSS.Q, LGSS.R, LGSS.initial_mean + 1, LGSS.initial_covariance
    )
    other_noise = skh.models.LinearGaussian(
        LGSS.A, LGSS.C, LGSS.Q, 2 * LGSS.R, LGSS.initial_mean, LGSS.initial_covariance
    )
    asked = skh.ParticleFilter(LGSS, RULE, 5, rng=0)
    asked.ask()
    words = skh.SavedFileError
    cases = [
        (lambda: load(result, LGSS, RULE), words, r"holds a result, not a filter: .*load_result"),
        (lambda: skh.load_result(path), words, r"holds a filter, not a result: .*Filter.load"),
        (lambda: load(newer, LGSS, RULE), words, r"by skh 9.9 in format 2, .* newer version of"),
        (lambda: load(empty, LGSS, RULE), words, r"damaged .* description does not fit"),
        (lambda: load(wild, LGSS, RULE), words, r"damaged .* description does not fit"),
        (lambda: load(tmp_path / "numpy.npz", LGSS), words, r"damaged or was not written by skh"),
        (lambda: load(tmp_path / "nothing", LGSS), words, r"damaged or .* not a zip file"),
        (lambda: load(tmp_path / "no", LGSS), FileNotFoundError, r"there is no file .*no"),
        (lambda: load(tmp_path, LGSS), ValueError, r"path must be the path of a file, got the fo"),
        (lambda: load(3, LGSS), TypeError, r"path must be the path of a file, got 3"),
        (
            lambda: load(path, LGSS, skh.MonteCarlo()),
            words,
            r"saved with rule=Stratified\(\): pass this rule, got rule=MonteCarlo\(\)",
        ),
        (lambda: load(path, JMLS, RULE), words, r"a model of class LinearGaussian, .*JumpMarkov"),
        (lambda: load(path, other_prior, RULE), words, r"another model: its prior has mean \[0"),
        (lambda: load(path, other_noise, RULE), words, r"of the same class with another R"),
        (
            lambda: load(path, LGSS, RULE, rng=np.random.Generator(np.random.MT19937(0))),
            ValueError,
            r"rng must be a Generator of PCG64, as it was saved",
        ),
        (
            lambda: asked.save(tmp_path / "asked"),
            RuntimeError,
            r"under way: before it is saved, finish it with pf.tell\(\) or call",
        ),
        (lambda: asked.save(tmp_path / "no" / "f"), ValueError, r"path must be in a folder that"),
    ]
    for call, error, message in cases[:-1]:
        with pytest.raises(error, match=message):
            call()
    asked.cancel()
    with pytest.raises(ValueError, match=cases[-1][2]):
        cases[-1][0]()
    with pytest.raises(TypeError, match=r"rng must be a Generator of Own, whose state was saved"):
        generator_of({"name": "Own", "state": {}}, None)


def test_rules_without_a_repr_of_their_own_are_known_by_name(tmp_path):
    def mine(p, n, *, rng):
        return RULE(p, n, rng=rng)

    skh.ParticleFilter(LGSS, mine, 5, rng=0).save(tmp_path / "f")
    assert "0x" not in zipfile.ZipFile(tmp_path / "f").read("skh.json").decode()
    skh.ParticleFilter.load(tmp_path / "f", LGSS, mine)
    asks = r"saved with rule=.*mine.* is not in the file: pass it as rule="
    with pytest.raises(skh.SavedFileError, match=asks):
        skh.ParticleFilter.load(tmp_path / "f", LGSS)
    skh.ParticleFilter(LGSS, skh.Matched(mine), 5, rng=0).save(tmp_path / "f")
    with pytest.raises(skh.SavedFileError, match=r"rule=Matched\(rule=.*pass it as rule="):
        skh.ParticleFilter.load(tmp_path / "f", LGSS)
    skh.ParticleFilter.load(tmp_path / "f", LGSS, skh.Matched(mine))


FURTHER_RULES = {
    "second look": skh.SecondLook(skh.Stratified()),
    "open loop": skh.FWQuad(KERNEL, skh.OpenLoop(), 500, tol=1e-3),
    "greedy": skh.FWQuad(KERNEL, skh.Herding(greedy=True), 500),
    "pairwise, plain": skh.FWQuad(KERNEL, skh.Pairwise(), 500),
    "numpy's numbers": skh.Refined(refine=skh.Refine(np.int64(3), ridge=np.float64(1e-3))),
    "metric": skh.Measured(
        skh.Systematic(), skh.GaussianKernel((0.1, 1.0), np.diag([1e-12, 1.0, 1e12]), (1.0, 3.0))
    ),
}


@pytest.mark.parametrize("rule", [*RULES.values(), *FURTHER_RULES.values()])
def test_rules_of_the_library_are_in_the_file(rule, tmp_path):
    pf, path = skh.ParticleFilter(LGSS, rule, 10, rng=0), tmp_path / "f"
    pf.save(path)
    again = skh.ParticleFilter.load(path, LGSS)
    assert repr(again._plan) == repr(pf._plan)
    skh.ParticleFilter.load(path, LGSS, rule)  # may be given as well
    assert_same(pf.step(0.1), again.step(0.1))
    assert_same(described_plan(pf._plan), described_plan(again._plan))


def test_a_metric_is_compared_to_the_last_bit(tmp_path):
    """Its repr shows eight digits, and of a large one only the corners."""
    metric = np.diag([1.0, 2.0, 3.0])
    rules = [skh.Measured(RULE, skh.GaussianKernel(1.0, m)) for m in (metric, metric * (1 + 1e-12))]
    skh.ParticleFilter(LGSS, rules[0], 5, rng=0).save(tmp_path / "f")
    skh.ParticleFilter.load(tmp_path / "f", LGSS, rules[0])
    with pytest.raises(skh.SavedFileError, match=r"pass this rule"):
        skh.ParticleFilter.load(tmp_path / "f", LGSS, rules[1])


def test_only_classes_in_the_table_are_made_from_a_file(tmp_path):
    skh.ParticleFilter(LGSS, RULE, 5, rng=0).save(tmp_path / "f")
    with zipfile.ZipFile(tmp_path / "f") as archive:
        content = archive.read("skh.json").decode()
    assert content.count('"Stratified"') == 1
    about = json.loads(content.replace('"Stratified"', '"Popen"'))
    other = edited(tmp_path / "f", tmp_path / "g", content=about["content"])
    with pytest.raises(skh.SavedFileError, match=r"damaged .* its rule, Stratified\(\), cannot be"):
        skh.ParticleFilter.load(other, LGSS)


def test_parameters_may_differ_in_their_last_digits_between_machines(saved):
    """Another machine's linear algebra: relative changes of 1e-13, and of zeros."""
    path, _, belief = saved
    noise = np.random.default_rng(0).normal(size=(3, 3))
    near = skh.models.LinearGaussian(
        LGSS.A + 1e-13 * noise,
        LGSS.C,
        LGSS.Q + 1e-13 * (noise + noise.T),
        LGSS.R,
        LGSS.initial_mean,
        LGSS.initial_covariance,
    )
    assert_same(belief, skh.ParticleFilter.load(path, near, RULE).belief)


@given(st.integers(-12, 12))
@settings(max_examples=12, deadline=None)
def test_refusals_do_not_depend_on_units(tmp_path_factory, power):
    """A prior that is off by a thousandth of its deviation is another one, in any unit."""
    path, unit = tmp_path_factory.getbasetemp() / "units.npz", 10.0**power

    def model(mean):
        p = skh.GaussianMixture([1.0], [[unit * mean, mean]], np.diag([unit**2, 0.0]))
        return skh.model_from_functions(p, lambda t, x: (x, 0.0), lambda t, x, y: 0 * x[:, 0])

    skh.ParticleFilter(model(1.0), RULE, 5, rng=0).save(path)
    skh.ParticleFilter.load(path, model(1.0), RULE)
    with pytest.raises(skh.SavedFileError, match=r"belongs to another model: its prior has mean"):
        skh.ParticleFilter.load(path, model(1.001), RULE)


def test_messages_say_which_moment_of_the_prior_and_which_dimension_differ(tmp_path):
    def walk(d, variance):
        return skh.model_from_functions(
            (np.zeros(d), variance), lambda t, x: (x, 0.1), lambda t, x, y: -((y - x[:, 0]) ** 2)
        )

    pf = skh.ParticleFilter(walk(1, 1.0), skh.Stratified(), 5, rng=0)
    pf.step(0.1)
    pf.save(tmp_path / "filter")
    wide = r"prior has covariance \[\[1\.\]\], that of the model given \[\[4\.\]\]"
    with pytest.raises(skh.SavedFileError, match=wide):
        skh.ParticleFilter.load(tmp_path / "filter", walk(1, 4.0))
    result = skh.particle_filter(walk(1, 1.0), [0.1], skh.Stratified(), 5, rng=0)
    result.save(tmp_path / "result")
    with pytest.raises(skh.SavedFileError, match="1 dimensions, and the model given has 2"):
        skh.load_result(tmp_path / "result", walk(2, 1.0))
