"""Stone Soup: its models through `skh.from_stonesoup` against its own values; prints JSON.

A linear model is compared with its Kalman filter; of a nonlinear one, its functions, covariances
and log-densities are compared at random states, across the cut of the bearing included.
"""

import json
from datetime import datetime, timedelta

import numpy as np
from stonesoup.models.measurement.linear import LinearGaussian
from stonesoup.models.measurement.nonlinear import CartesianToBearingRange
from stonesoup.models.transition.linear import (
    CombinedLinearGaussianTransitionModel,
    ConstantVelocity,
)
from stonesoup.models.transition.nonlinear import ConstantTurn
from stonesoup.predictor.kalman import KalmanPredictor
from stonesoup.types.array import StateVector, StateVectors
from stonesoup.types.detection import Detection
from stonesoup.types.hypothesis import SingleHypothesis
from stonesoup.types.state import GaussianState, State
from stonesoup.updater.kalman import KalmanUpdater

import skh

START = datetime(2025, 1, 1)
SECONDS = [1.0, 2.0, 2.5, 4.0, 5.0, 7.0, 8.0, 8.5, 9.0, 12.0]  # of the observations after START


def linear():
    """Kalman filter of Stone Soup and default of this library, at unequal times."""
    motion = CombinedLinearGaussianTransitionModel([ConstantVelocity(0.2), ConstantVelocity(0.1)])
    sensor = LinearGaussian(4, (0, 2), np.diag([0.5, 0.3]))
    prior = GaussianState([[0.0], [1.0], [5.0], [-1.0]], np.diag([1.0, 0.5, 2.0, 0.5]), START)
    times = [START + timedelta(seconds=s) for s in SECONDS]
    rng = np.random.default_rng(0)
    state, ys = prior.state_vector.ravel() + rng.standard_normal(4) * [1.0, 0.7, 1.4, 0.7], []
    before = START
    for time in times:
        dt = time - before
        F, Q = motion.matrix(time_interval=dt), motion.covar(time_interval=dt)
        state = F @ state + rng.multivariate_normal(np.zeros(4), Q)
        ys.append(state[[0, 2]] + rng.standard_normal(2) * np.sqrt([0.5, 0.3]))
        before = time
    means, evidence = kalman(motion, sensor, prior, times, ys)
    model = skh.from_stonesoup(motion, sensor, prior, timestamps=times)
    detections = [Detection(StateVector(y), timestamp=t) for y, t in zip(ys, times, strict=True)]
    ours = [skh.particle_filter(model, detections, n=50, rng=s) for s in range(5)]
    return {
        "ys": np.array(ys).tolist(),
        "means": means,
        "log_evidence": evidence,
        "ours": [float(r.log_evidence) for r in ours],
        "error of the means": float(np.abs(np.array(ours[0].means) - means).max()),
    }


def kalman(motion, sensor, prior, times, ys):
    """Means and log-evidence by Stone Soup's Kalman filter."""
    predictor, updater = KalmanPredictor(motion), KalmanUpdater(sensor)
    state, means, evidence = prior, [], 0.0
    for y, time in zip(ys, times, strict=True):
        prediction = predictor.predict(state, timestamp=time)
        expected = updater.predict_measurement(prediction)
        r = y - np.asarray(expected.state_vector, dtype=float).ravel()
        S = np.asarray(expected.covar, dtype=float)
        evidence -= 0.5 * (r @ np.linalg.solve(S, r) + np.linalg.slogdet(2 * np.pi * S)[1])
        detection = Detection(StateVector(y), timestamp=time)
        state = updater.update(SingleHypothesis(prediction, detection))
        means.append(np.asarray(state.mean, dtype=float).ravel().tolist())
    return means, float(evidence)


def nonlinear():
    """Functions and densities at random states: Stone Soup's and ours."""
    motion = ConstantTurn(np.array([0.1, 0.2]), 0.01)
    covariance = np.diag([0.01, 0.25])
    sensor = CartesianToBearingRange(
        5, (0, 2), covariance, translation_offset=np.array([[1.0], [2.0]])
    )
    model = skh.from_stonesoup(motion, sensor, (np.zeros(5), np.eye(5)), time_interval=0.5)
    rng = np.random.default_rng(1)
    x = rng.standard_normal((6, 5)) * [5.0, 1.0, 5.0, 1.0, 0.3] + [-8.0, 0.0, 2.0, 0.0, 0.0]
    y = np.array([3.1, 9.0])  # near the cut of the bearing, where states lie on both sides
    dt = timedelta(seconds=0.5)
    states = State(StateVectors(x.T))
    moved = np.asarray(motion.function(states, noise=False, time_interval=dt), dtype=float).T
    theirs = {
        "f": moved.tolist(),
        "Q": np.asarray(motion.covar(time_interval=dt), dtype=float).tolist(),
        "log_likelihood": [
            float(sensor.logpdf(State(StateVector(y)), State(StateVector(row)))) for row in x
        ],
        "h": np.asarray(sensor.function(states, noise=False), dtype=float).T.tolist(),
    }
    means, Q = model.transition(0, x)
    ours = {"f": means, "Q": Q, "log_likelihood": model.log_likelihood(0, x, y), "h": model.h(0, x)}
    gaps = {k: float(np.abs(ours[k] - np.array(v)).max()) for k, v in theirs.items()}
    return {"x": x.tolist(), "y": y.tolist(), **theirs, "gaps": gaps}


if __name__ == "__main__":
    print(json.dumps({"linear": linear(), "nonlinear": nonlinear()}))
