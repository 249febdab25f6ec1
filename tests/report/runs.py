"""Runs whose pages are tested."""

from dataclasses import replace
from functools import cache

import numpy as np

import skh

GAP = range(12, 15)  # steps without an observation
NAMES = ("east [m]", "north [m]")
SEED = 0


@cache
def guided():
    """A robot with precise sensors, filtered by a pilot and further looks."""
    model = skh.models.range_bearing()
    states, ys = model.simulate(40, rng=SEED)
    ys[list(GAP)] = np.nan
    options = {"rng": 1, "history": True, "quantiles": (0.05, 0.25, 0.5, 0.75, 0.95)}
    return (
        skh.particle_filter(model, ys, skh.SecondLook(skh.Stratified()), 40, **options),
        states,
        ys,
    )


@cache
def plain(n=20, T=30, history=True, quantiles=()):
    """A linear Gaussian model of three coordinates, filtered by a plain rule."""
    model = skh.models.lgss3()
    states, ys = model.simulate(T, rng=SEED)
    options = {"rng": 1, "history": history, "quantiles": quantiles}
    return skh.particle_filter(model, ys, skh.Stratified(), n, **options), states, ys


def moved(result, scale, shift):
    """The result in other units."""
    return replace(
        result,
        means=result.means * scale + shift,
        covariances=result.covariances * scale**2,
        quantiles=result.quantiles * scale + shift,
        history=tuple(replace(b, x=b.x * scale + shift) for b in result.history),
    )


class Robot:
    """Drives and turns in the plane; measures the bearing of a beacon."""

    def prior(self):
        return np.array([5.0, 0.0, 3.0]), 0.01 * np.eye(3)

    def transition(self, t, s):
        forward = np.stack([np.cos(s[:, 2]), np.sin(s[:, 2]), np.zeros(len(s))], axis=1)
        return s + forward, np.diag([0.01, 0.01, 0.1])

    def log_likelihood(self, t, s, y):
        bearing = np.arctan2(-s[:, 1], -s[:, 0]) - s[:, 2]
        return -0.5 * skh.geometry.wrap(y - bearing) ** 2 / 0.01
