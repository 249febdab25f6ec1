"""Return values of models are checked by the filter; errors name the method and the step."""

import pickle
import re
from fractions import Fraction

import numpy as np
import pytest

import skh
from skh.models.uav_navigation.tracks import weak_tracks

NAN = float("nan")


class Counter:
    """A random walk whose particles carry their number of moves, and a constant."""

    def prior(self):
        return skh.GaussianMixture([1.0], [[0.0]], 1.0)

    def initial_carry(self, x):
        return {"moves": np.zeros(len(x)), "constant": (np.ones((len(x), 2)),)}

    def transition(self, t, x, carry):
        return x, 1.0

    def move(self, t, x, carry, x_next):
        return {**carry, "moves": carry["moves"] + 1}

    def log_likelihood(self, t, x, y, carry):
        return -((x[:, 0] - y) ** 2), carry

    def hidden_moments(self, carry):
        return carry["constant"][0], np.zeros((len(carry["moves"]), 2, 2))


def step_twice(**methods):
    model = type("M", (Counter,), methods)()
    return skh.particle_filter(model, [0.0, 0.0], skh.Stratified(), 4, rng=0, history=True)


def test_records_are_carried():
    np.testing.assert_array_equal(step_twice().history[-1].carry["moves"], np.ones(4))


BAD_RECORDS = {
    "move that returns nothing": (
        {"move": lambda s, t, x, c, x_next: None},
        r"model.move at t=0 must return the records of the 4 particles, got None",
    ),
    "move that loses a part": (
        {"move": lambda s, t, x, c, x_next: {**c, "constant": (None,)}},
        r"model.move at t=0 must return the records .* got None although there were records before",
    ),
    "likelihood that returns no records": (
        {"log_likelihood": lambda s, t, x, y, c: (np.zeros(4), None)},
        r"model.log_likelihood at t=0 must return the records of the 4 particles, got None",
    ),
    "likelihood that is no pair": (
        {"log_likelihood": lambda s, t, x, y, c: np.zeros(4)},
        r"model.log_likelihood at t=0 .* must return \(log-likelihoods, records\), got array",
    ),
    "hidden moments that are no pair": (
        {"hidden_moments": lambda s, c: None},
        r"model.hidden_moments at t=0 must return \(means, covariances\), got None",
    ),
    "hidden moments of wrong shape": (
        {"hidden_moments": lambda s, c: (np.zeros((4, 2)), np.zeros((4, 3, 3)))},
        r"hidden_moments at t=0 must return shapes \(4, n_z\) .* got \(4, 2\), \(4, 3, 3\)",
    ),
    "hidden moments of one particle": (
        {"hidden_moments": lambda s, c: (np.zeros(2), np.zeros((2, 2)))},
        r"hidden_moments at t=0 must return shapes \(4, n_z\)",
    ),
    "hidden moments of NaN": (
        {"hidden_moments": lambda s, c: (np.diag([0, 0, NAN, 0]), np.zeros((4, 4, 4)))},
        r"hidden_moments at t=0 must return finite means, got nan for particle 2",
    ),
    "hidden covariance of NaN": (
        {
            "hidden_moments": lambda s, c: (
                np.zeros((4, 1)),
                np.array([0, NAN, 0, 0])[:, None, None],
            )
        },
        r"hidden_moments at t=0 must return finite covariances, got nan for particle 1",
    ),
    "hidden moments of words": (
        {"hidden_moments": lambda s, c: ("a", "b")},
        r"hidden_moments at t=0 must return real numbers, got 'a'",
    ),
}


@pytest.mark.parametrize(("methods", "message"), BAD_RECORDS.values(), ids=BAD_RECORDS)
def test_missing_or_malformed_records_are_rejected(methods, message):
    with pytest.raises(ValueError, match=message):
        step_twice(**methods)


BAD_LIKELIHOODS = {
    "bool": (np.ones(4, dtype=bool), "real numbers, got an array of bool"),
    "complex": (np.ones(4) * 1j, "real numbers, got an array of complex128"),
    "masked": (np.ma.masked_equal([0.0, 1.0, 2.0, 3.0], 2.0), "real numbers, got a masked array"),
    "words": ("abcd", "real numbers, got 'abcd'"),
    "pair": ((np.zeros(4), None), "an array of numbers, got"),
    "objects": ([0.0, None, 0.0, 0.0], r"real numbers, got \[0.0, None"),
}


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize(("value", "message"), BAD_LIKELIHOODS.values(), ids=BAD_LIKELIHOODS)
def test_log_likelihoods_must_be_real_numbers(value, message, plain):
    model = skh.model_from_functions(([0.0], 1.0), lambda t, x: (x, 1.0), lambda t, x, y: value)
    if plain:
        model = type("M", (), {m: getattr(model, m) for m in ("prior", "transition")})()
        model.log_likelihood = lambda t, x, y: value
    pf = skh.ParticleFilter(model, skh.Stratified(), 4, rng=0)
    with pytest.raises(ValueError, match=f"model.log_likelihood at t=0 must return {message}"):
        pf.step(0.0)


@pytest.mark.parametrize("value", [True, 1j, "1", None, np.ma.masked])
def test_the_log_likelihood_of_one_particle_must_be_a_real_number(value):
    model = skh.model_from_functions(
        ([0.0], 1.0), lambda t, x: (x, 1.0), lambda t, x, y: value, batched=False
    )
    with pytest.raises(ValueError, match="particle 0 at t=0 must return real numbers, got"):
        model.log_likelihood(0, np.zeros((4, 1)), 0.0)


def test_a_flight_may_be_filtered_without_a_gate():
    flight = skh.models.survey_flight(10, rng=0)
    results = [
        skh.particle_filter(
            skh.models.uav(skh.models.UavParameters(gate=gate), flight.start),
            flight.observations,
            skh.Stratified(),
            20,
            rng=1,
        )
        for gate in (np.inf, 1e12)
    ]
    np.testing.assert_array_equal(results[0].means, results[1].means)


def test_no_track_is_weak_where_all_particles_are_impossible():
    gated, log_l = np.ones((3, 2), dtype=bool), np.full(3, -np.inf)
    assert len(weak_tracks(gated, log_l)) == 0


FAR_OFF = {
    "benchmark": (skh.models.nonlinear_benchmark(), 1e200),
    "volatility": (skh.models.stochastic_volatility(), 1e200),
    "lorenz": (skh.models.lorenz63(), 1e200),
    "localisation": (skh.models.localisation(), [1e200, 1e200]),
    "linear": (skh.models.lgss3(), 1e200),
    "jump-Markov": (skh.models.jmls(), 1e200),
    "uav": (skh.models.uav(), skh.models.UavObservation(gyroscope=[1e200, 0.0, 0.0])),
    "uav without a gate": (
        skh.models.uav(skh.models.UavParameters(gate=np.inf)),
        skh.models.UavObservation(barometer=1e200),
    ),
}


@pytest.mark.parametrize(("model", "y"), FAR_OFF.values(), ids=FAR_OFF)
def test_an_observation_absurdly_far_off_has_likelihood_zero(model, y):
    pf = skh.ParticleFilter(model, skh.Stratified(), 5, rng=0)
    with pytest.raises(skh.ZeroLikelihoodError, match="t=0"):
        pf.step(y)


def test_a_height_absurdly_far_off_is_gated():
    pf = skh.ParticleFilter(skh.models.uav(), skh.Stratified(), 5, rng=0)
    assert np.isfinite(pf.step(skh.models.UavObservation(barometer=1e200)).mean).all()


SPLIT = skh.rao_blackwellize(skh.models.lgss3(), [0])
SCALAR = {
    "benchmark": skh.models.nonlinear_benchmark(),
    "volatility": skh.models.stochastic_volatility(),
    "lorenz": skh.models.lorenz63(),
    "bearings": skh.models.bearings_only(),
    "linear": skh.models.lgss3(),
    "jump-Markov": skh.models.jmls(),
}


@pytest.mark.parametrize("model", SCALAR.values(), ids=SCALAR)
def test_a_number_and_a_vector_of_one_are_the_same_observation(model):
    number, vector = (
        skh.particle_filter(model, [y], skh.Stratified(), 5, rng=0) for y in (0.5, [0.5])
    )
    np.testing.assert_array_equal(number.means, vector.means)


@pytest.mark.parametrize("y", [np.zeros(5), np.zeros(2), [[0.5]], []])  # for five particles
@pytest.mark.parametrize("model", SCALAR.values(), ids=SCALAR)
def test_the_observation_of_a_scalar_model_has_one_entry(model, y):
    pf = skh.ParticleFilter(model, skh.Stratified(), 5, rng=0)
    with pytest.raises(ValueError, match=rf"y must have shape \(1,\), got {expected(y)}"):
        pf.step(y)


def expected(y):
    return re.escape(str(np.shape(y)))


@pytest.mark.parametrize("y", [0.5, [0.5], np.zeros(5), np.zeros((5, 2))])
def test_the_observation_of_two_ranges_has_two_entries(y):
    pf = skh.ParticleFilter(skh.models.localisation(), skh.Stratified(), 5, rng=0)
    with pytest.raises(ValueError, match=rf"y must have shape \(2,\), got {expected(y)}"):
        pf.step(y)


@pytest.mark.parametrize("y", [[0.5, NAN], [np.inf, 0.5]])
def test_both_ranges_are_measured(y):
    pf = skh.ParticleFilter(skh.models.localisation(), skh.Stratified(), 5, rng=0)
    with pytest.raises(ValueError, match=r"y must be finite, got \["):
        pf.step(y)


NO_NUMBERS = {
    "complex": 1j,
    "complex array": np.array([0.5 + 0j]),
    "digits": "1.0",
    "list of digits": ["1.0"],
    "array of digits": np.array(["1.0"]),
    "bytes": b"1.0",
    "date": np.datetime64("2020-01-01", "ns"),
    "dates": np.array(["2020-01-01"], "datetime64[s]"),
    "duration": np.timedelta64(3, "s"),
    "truth value": True,
    "mixed": [1.0, "2.0"],
    "ragged": [1.0, [2.0]],
    "object": object(),
}


@pytest.mark.parametrize("y", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_observations_are_real_numbers(y):
    for model in (*SCALAR.values(), skh.models.localisation(), SPLIT):
        pf = skh.ParticleFilter(model, skh.Stratified(), 5, rng=0)
        with pytest.raises(TypeError, match="y must be numbers, NaN where not measured, got"):
            pf.step(y)
        assert pf.t == 0
    with pytest.raises(TypeError, match=r"ys\[1\] must be numbers, NaN where not measured, got"):
        skh.kalman_filter(skh.models.lgss3(), [0.5, y])
    with pytest.raises(TypeError, match=r"ys\[1\] must be numbers, NaN where not measured, got"):
        skh.jump_markov_filter(skh.models.jmls(), [0.5, y])


def test_integers_fractions_and_gaps_are_observations():
    two = skh.models.LinearGaussian(*[np.eye(2)] * 4, np.zeros(2), np.eye(2))
    forms = [1, None], (Fraction(1), np.nan), np.array([1, None]), np.ma.masked_equal([1, 9], 9)
    for y in forms:
        log_evidence = skh.kalman_filter(two, [y]).log_evidence
        assert log_evidence == skh.kalman_filter(two, [[1.0, NAN]]).log_evidence


@pytest.mark.parametrize("model", [*SCALAR.values(), skh.models.uav(), SPLIT])
def test_every_model_can_be_pickled(model):
    again = pickle.loads(pickle.dumps(model))
    first, second = (skh.ParticleFilter(m, skh.Stratified(), 5, rng=0) for m in (model, again))
    np.testing.assert_array_equal(first.step(None).x, second.step(None).x)
