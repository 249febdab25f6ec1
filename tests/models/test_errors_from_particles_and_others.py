"""Wrong models of other packages: each has a message that says what is wrong."""

from datetime import datetime, timedelta

import numpy as np
import pytest

import particles_doubles as doubles
import skh

X = np.zeros((4, 1))
TIME = datetime(2025, 1, 1)


def changed(base=doubles.StochVol, **methods):
    """A model with some methods replaced."""
    return type("Changed", (base,), {name: staticmethod(f) for name, f in methods.items()})()


def refuse(*args):
    raise NotImplementedError("not written yet")


class Undrawn(doubles.Law):
    def logpdf(self, x):
        return 0.0 * x


class Records(Undrawn):
    dtype = np.dtype([("mu", float), ("sigma", float)])


class WholeFilter:
    ssm = doubles.StochVol()


def observe_late(t, xp, x):
    return doubles.Normal(loc=x + (xp if t > 2 else 0.0))


def two(law):
    return changed(doubles.MVStochVol, PX=lambda t, xp: law)


MODELS_OF_PARTICLES = [
    (lambda: skh.from_particles(3), TypeError, "ssm must be an object with PX0, PX, PY; got 3"),
    (lambda: skh.from_particles(doubles.StochVol), TypeError, r"not a class: write StochVol\("),
    (lambda: skh.from_particles(WholeFilter()), TypeError, "pass its attribute ssm"),
    (lambda: skh.from_particles(doubles.StochVol(), parent=1), TypeError, "parent must be"),
    (lambda: skh.from_particles(doubles.StochVol(), draws=0), ValueError, "draws must be"),
    (
        lambda: skh.from_particles(doubles.StochVol(), observation_metric=np.eye(1)),
        TypeError,
        "observation_metric must be a function",
    ),
    (lambda: skh.from_particles(changed(PX0=refuse)), ValueError, "PX0 raised NotImplemented"),
    (lambda: skh.from_particles(changed(PX0=lambda: 3.0)), TypeError, "PX0 must return a law"),
    (lambda: skh.from_particles(changed(PX0=Records)), TypeError, "states must be numbers"),
    (lambda: skh.from_particles(changed(PX0=Undrawn)), TypeError, "PX0 returned Undrawn, which"),
    (
        lambda: skh.from_particles(changed(PX0=lambda: doubles.Normal(np.zeros(3)))),
        ValueError,
        r"PX0: loc of Normal must be a number or have shape \(1,\), got \(3,\)",
    ),
    (
        lambda: skh.from_particles(changed(PX0=lambda: doubles.Normal(0.0, np.nan))),
        ValueError,
        r"PX0: covariances must .* got nan",
    ),
    (
        lambda: skh.from_particles(changed(PX=lambda t, xp: Undrawn())),
        TypeError,
        "PX at t=1 returned Undrawn, which is neither .* rvs raised AttributeError",
    ),
    (
        lambda: skh.from_particles(changed(PX=lambda t, xp: doubles.Normal("0.3"))),
        ValueError,
        "PX at t=1: loc of Normal must be",
    ),
    (
        lambda: skh.from_particles(changed(PX=lambda t, xp: doubles.Normal(np.zeros(7)))),
        ValueError,
        r"PX at t=1: loc of Normal must be a number or have shape \(3,\), got \(7,\)",
    ),
    (
        lambda: skh.from_particles(two(doubles.Normal())),
        ValueError,
        "PX at t=1: Normal is a law of numbers, but states have 2 coordinates",
    ),
    (
        lambda: skh.from_particles(two(doubles.MvNormal(np.zeros(2), cov=np.eye(3)))),
        ValueError,
        r"cov of MvNormal must have shape \(2, 2\)",
    ),
    (
        lambda: skh.from_particles(two(doubles.MvNormal(np.zeros((5, 2)), cov=np.eye(2)))),
        ValueError,
        r"loc of MvNormal must be numbers of shape \(3, 2\), got \(5, 2\)",
    ),
    (
        lambda: skh.from_particles(two(doubles.IndepProd(*[doubles.Normal()] * 3))),
        ValueError,
        "IndepProd must have 2 laws, got 3",
    ),
    (
        lambda: skh.from_particles(
            changed(PX=lambda t, xp: doubles.Mixture([0.2, 0.8], doubles.Normal()))
        ),
        ValueError,
        r"pk of Mixture must have shape \(1,\)",
    ),
    (
        lambda: skh.from_particles(
            changed(
                PX=lambda t, xp: doubles.Mixture([-1.0, 2.0], doubles.Normal(), doubles.Normal(xp))
            )
        ),
        ValueError,
        "PX at t=1: weights must be",
    ),
    (
        lambda: skh.from_particles(changed(PX=lambda t, xp: doubles.Categorical(np.eye(2)))),
        ValueError,
        r"p of Categorical must have shape \(K,\) or \(3, K\), got \(2, 2\)",
    ),
    (lambda: skh.from_particles(changed(PY=refuse)), ValueError, "PY at t=1 raised NotImplemented"),
    (
        lambda: skh.from_particles(changed(PY=lambda t, xp, x: None)).log_likelihood(0, X, 0.0),
        TypeError,
        "PY at t=0 must return a law with logpdf, got None",
    ),
    (
        lambda: skh.from_particles(changed(PY=observe_late)).log_likelihood(3, X, 0.0),
        ValueError,
        r"PY at t=3 raised .* depends on x_\{t-1\}, pass parent=True",
    ),
    (
        lambda: skh.from_particles(doubles.StochVol()).log_likelihood(0, X, np.zeros(3)),
        ValueError,
        r"PY at t=0: logpdf of the observation .* raised ValueError: .* broadcast",
    ),
    (
        lambda: skh.from_particles(doubles.StochVol()).log_likelihood(0, X, np.zeros((4, 4))),
        ValueError,
        r"observation of shape \(4, 4\) must return shape \(4,\), got \(4, 4\)",
    ),
    (
        lambda: skh.from_particles(doubles.StochVol()).log_likelihood(0, X, "text"),
        ValueError,
        "PY at t=0: logpdf of the observation 'text' raised",
    ),
]


class Walk:
    def function(self, state, noise=False, time_interval=None):
        return state.state_vector

    def covar(self, time_interval=None):
        return [[1.0]]


class Unknown(Walk):
    def covar(self, time_interval=None):
        return None


PRIOR = ([0.0], 1.0)


def tracked(*args, **kwargs):
    return skh.from_stonesoup(*args, **kwargs).transition(0, X)


class Later:
    state_vector, covar, timestamp = np.zeros((1, 1)), np.eye(1), TIME + timedelta(seconds=1)


MODELS_OF_STONESOUP = [
    (lambda: tracked(3, Walk(), PRIOR, time_interval=1.0), TypeError, "transition_model must be"),
    (lambda: tracked(Walk(), None, PRIOR, time_interval=1.0), TypeError, "measurement_model must"),
    (lambda: tracked(Walk, Walk(), PRIOR, time_interval=1.0), TypeError, "not the class Walk"),
    (lambda: tracked(Walk(), Walk(), PRIOR), TypeError, "got neither"),
    (
        lambda: tracked(Walk(), Walk(), PRIOR, time_interval=1.0, timestamps=[TIME]),
        TypeError,
        "got both",
    ),
    (lambda: tracked(Walk(), Walk(), PRIOR, time_interval=-1.0), ValueError, "time_interval must"),
    (
        lambda: tracked(Walk(), Walk(), PRIOR, time_interval=timedelta(0)),
        ValueError,
        "time_interval must be positive, got 0:00:00",
    ),
    (lambda: tracked(Walk(), Walk(), PRIOR, timestamps=[]), TypeError, "datetimes.* got none"),
    (lambda: tracked(Walk(), Walk(), PRIOR, timestamps=[1.0]), TypeError, "datetimes.* got 1.0"),
    (
        lambda: tracked(Walk(), Walk(), PRIOR, timestamps=[TIME, TIME - timedelta(seconds=1)]),
        ValueError,
        "timestamps must not decrease, got .* at t=1",
    ),
    (
        lambda: tracked(Walk(), Walk(), PRIOR, timestamps=[TIME]),
        ValueError,
        "timestamps must cover all observations, got 1; t=1",
    ),
    (lambda: tracked(Walk(), Walk(), 0.0, time_interval=1.0), TypeError, "prior must be"),
    (
        lambda: tracked(Walk(), Walk(), Later(), timestamps=[TIME]),
        ValueError,
        "prior must not be later than the first observation",
    ),
    (
        lambda: tracked(Unknown(), Walk(), PRIOR, time_interval=1.0),
        ValueError,
        "Unknown.covar must return numbers, got None",
    ),
]


def functions(**changes):
    parts = {"prior": PRIOR, "f": lambda t, x: x, "Q": 1.0, "h": lambda t, x: x, "R": 1.0}
    return skh.gaussian_model(**(parts | changes))


MODELS_OF_FUNCTIONS = [
    (lambda: functions(f=np.eye(1)), TypeError, "f must be a function"),
    (lambda: functions(h=None), TypeError, "h must be a function"),
    (lambda: functions(jacobian=3), TypeError, "jacobian must be a function, got 3"),
    (lambda: functions(residual=3), TypeError, "residual must be a function, got 3"),
    (lambda: functions(Q=np.eye(2)), ValueError, r"Q must be a variance or have shape \(1, 1\)"),
    (lambda: functions(Q=-1.0), ValueError, "Q must be"),
    (lambda: functions(R=np.array([[1.0, 2.0], [2.0, 1.0]])), ValueError, "R must be positive"),
    (lambda: functions(R="wide"), TypeError, "R must be"),
    (lambda: functions(batched="yes"), TypeError, "batched must be"),
    (
        lambda: functions(f=lambda t, x: x[:2]).transition(5, X),
        ValueError,
        r"f at t=5 must return shape \(4, 1\), one row per row of x, got \(2, 1\)",
    ),
    (
        lambda: functions(h=lambda t, x: "far").log_likelihood(5, X, 0.0),
        TypeError,
        "h at t=5",
    ),
    (
        lambda: functions(R=lambda t, x: np.ones(3)).log_likelihood(5, X, 0.0),
        ValueError,
        r"R at t=5 must be a variance or have shape \(1, 1\) or \(4, 1, 1\), got \(3,\)",
    ),
    (
        lambda: functions(R=0.0).log_likelihood(5, X, 0.0),
        ValueError,
        "R at t=5 must be positive definite",
    ),
    (lambda: functions().log_likelihood(5, X, [0.0, 1.0]), ValueError, r"y must have shape \(1,\)"),
    (
        lambda: functions(residual=lambda y, e: e[0]).log_likelihood(5, X, 0.0),
        ValueError,
        r"residual at t=5 must return shape \(4, 1\), got \(1,\)",
    ),
    (
        lambda: functions(jacobian=lambda t, x: np.ones(4)).observation_metric(5, X),
        ValueError,
        r"jacobian at t=5 must return shape \(4, m, 1\), got \(4,\)",
    ),
]


@pytest.mark.parametrize(
    ("call", "kind", "words"), MODELS_OF_PARTICLES + MODELS_OF_STONESOUP + MODELS_OF_FUNCTIONS
)
def test_messages_say_what_is_wrong(call, kind, words):
    with pytest.raises(kind, match=words):
        call()
