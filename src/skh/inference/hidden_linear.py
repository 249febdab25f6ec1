r"""Smoothing of Rao-Blackwellized models: paths of x, and a Kalman smoother of z along each.

Given x_{0:t}, z_t is Gaussian, but the future of x depends on it: only (x, z) together is Markov.
So paths of both are drawn backwards (Fong, Godsill, Doucet and West, 2002): with a particle's
N(m, P) for z_t, its x_{t+1} and z_{t+1} are jointly Gaussian, which gives the backward weight, and
then z_t given both is Gaussian, too.  Given the path of x, a Kalman filter and smoother forget the
z that were drawn; without the observations, z_t keeps its Gaussian given the drawn z_{t+1}.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skh._numba.resampling import systematic
from skh._typing import Array
from skh.filtering.belief import Belief
from skh.filtering.clock import ModelOverTime
from skh.filtering.observations import as_series, is_missing
from skh.filtering.rao_blackwell import Linearised, ZBelief
from skh.gaussians.linear_algebra import apply, factorize, right_divide, symmetric, transpose
from skh.gaussians.mixture import GaussianMixture
from skh.inference.smoothing_result import SmoothedStep
from skh.rules.ancestor_sampling import sample_ancestors


@dataclass(frozen=True, eq=False)
class JointChain:
    """The beliefs of a filter of a Rao-Blackwellized model."""

    models: ModelOverTime
    beliefs: tuple[Belief, ...]

    def model(self, t: int) -> Any:
        """The model of the step from belief t to t + 1."""
        return self.models.until(self.beliefs[t], self.beliefs[t + 1].time)

    def smoothed(
        self, m: int, ys: Iterable[Any] | None, rng: np.random.Generator
    ) -> tuple[SmoothedStep, ...]:
        """Return m equally weighted paths as the particles of each step, with moments of z."""
        paths, z = self.draw(m, rng)
        if ys is not None:
            z = self.smoothed_along(paths, ys)
        w, steps = np.full(m, 1.0 / m), []
        for t, moments in enumerate(z):
            x, cross = paths[:, t], None
            if t + 1 < len(z):
                x_next = paths[:, t + 1]
                cross = (x_next - x_next.mean(axis=0)).T @ (x - x.mean(axis=0)) / m
            steps.append(SmoothedStep(x, w, None, cross, z=(moments.mean, moments.covariance)))
        return tuple(steps)

    def draw(self, m: int, rng: np.random.Generator) -> tuple[Array, list[ZBelief]]:
        """Draw paths of x (m, T, d); return also the moments of z_t given the z_{t+1} drawn."""
        last = self.beliefs[-1]
        chosen = systematic(np.ascontiguousarray(last.w), m, rng.random())
        x, given = last.x[chosen], ZBelief(*(part[chosen] for part in last.carry))
        path, moments = [x], [given]
        for t in range(len(self.beliefs) - 2, -1, -1):
            b, following = self.beliefs[t], np.hstack([x, drawn(given, rng)])
            joint = self.model(t).joint_dynamics(b.t, b.x, b.carry)
            S, gain = joint_covariance(joint, b.carry.covariance)
            i = sample_ancestors(GaussianMixture(b.w, joint.value, S), following, rng)
            mean = b.carry.mean[i] + apply(gain[i], following - joint.value[i])
            covariance = rest_of(joint, b.carry.covariance, gain)[i]
            x, given = b.x[i], ZBelief(mean, covariance)
            path.append(x)
            moments.append(given)
        return np.stack(path[::-1], axis=1), moments[::-1]

    def smoothed_along(self, paths: Array, ys: Iterable[Any]) -> list[ZBelief]:
        """Kalman filter and smoother of z along given paths of x."""
        ys, model, x = as_series(ys), self.models.model, paths[:, 0]
        if len(ys) != len(self.beliefs):
            raise ValueError(f"ys must hold the {len(self.beliefs)} observations, got {len(ys)}")
        carry, filtered = model.initial_carry(x), []
        for t, y in enumerate(ys):
            if t > 0:
                carry = self.model(t - 1).move(self.beliefs[t - 1].t, x, carry, paths[:, t])
                x = paths[:, t]
            if not is_missing(y):
                carry = model.log_likelihood(self.beliefs[t].t, x, y, carry)[1]
            filtered.append(carry)
        return self._backwards(paths, filtered)

    def _backwards(self, paths: Array, filtered: list[ZBelief]) -> list[ZBelief]:
        """Go back as Rauch, Tung and Striebel do; x_{t+1} is known, z_{t+1} smoothed."""
        d, after = paths.shape[2], filtered[-1]
        smoothed = [after]
        for t in range(len(filtered) - 2, -1, -1):
            m, P = filtered[t]
            joint = self.model(t).joint_dynamics(self.beliefs[t].t, paths[:, t], filtered[t])
            _, gain = joint_covariance(joint, P)
            following = np.hstack([paths[:, t + 1], after.mean])
            of_z = gain[:, :, d:]
            covariance = rest_of(joint, P, gain) + of_z @ after.covariance @ transpose(of_z)
            after = ZBelief(m + apply(gain, following - joint.value), symmetric(covariance))
            smoothed.append(after)
        return smoothed[::-1]

    def paths(self, m: int, rng: np.random.Generator) -> Array:
        """Draw paths of x, (m, T, d)."""
        return self.draw(m, rng)[0]

    def mean_states(self, steps: tuple[SmoothedStep, ...]) -> None:
        """Return None: states are vectors."""
        return


def joint_covariance(joint: Linearised, P: Array) -> tuple[Array, Array]:
    """Covariance S of (x_{t+1}, z_{t+1}), and the gain of z_t given both."""
    cross = P @ transpose(joint.matrix)
    S = symmetric(joint.matrix @ cross + joint.noise)
    return S, right_divide(cross, S)


def rest_of(joint: Linearised, P: Array, gain: Array) -> Array:
    """Covariance of z_t given (x_{t+1}, z_{t+1}), in Joseph's form."""
    keep = np.eye(P.shape[-1]) - gain @ joint.matrix
    return symmetric(keep @ P @ transpose(keep) + gain @ joint.noise @ transpose(gain))


def drawn(z: ZBelief, rng: np.random.Generator) -> Array:
    """Draw z of each row."""
    return z.mean + apply(factorize(z.covariance)[1], rng.standard_normal(z.mean.shape))
