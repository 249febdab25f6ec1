r"""UAV model of section 4.3: the pose in the particles, everything else in Kalman filters.

With time step T, z up, R from body to world and g = (0, 0, -9.81):

.. math::

    p^+ &= p + T v + \tfrac{T^2}{2} a + w_p, & R^+ &= R\, \mathrm{Exp}(T \omega + w_\theta), \\
    v^+ &= v + T a + w_v, & a^+ &= \alpha_a a + w_a, \\
    && \omega^+ &= \alpha_\omega \omega + w_\omega

with random walks as biases.  Given the path of the pose, (v, a, b_a) and (omega, b_omega) are
linear and Gaussian: the increment :math:`\xi = (p^+ - p, \mathrm{Log}(R^\top R^+))` of a chosen
pose is a measurement of them, and so are

.. math::

    y_{acc} = R^\top (a - g) + b_a + e, \quad y_{gyr} = \omega + b_\omega + e, \quad
    y_{bar} = p_z + e, \quad y_j = f (x/z, y/z) + e

with :math:`(x, y, z) = \mathrm{diag}(1, -1, -1) R^\top (m_j - p)` for each tracked landmark m_j,
which has an extended Kalman filter in every particle.  The likelihood of a particle is the product
of the Gaussian densities of all innovations (paper, appendix A); for pixels and heights beyond the
gate it is that at the gate.

The three axes of (omega, b_omega) are independent with equal noises, so they share one 2 x 2
covariance.  States are poses; `skh.geometry.Charted` makes this a model in R^6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import log, pi
from typing import Any, NamedTuple

import numpy as np

from skh._typing import Array, Integers
from skh.filtering.carried_records import Ancestors, scatter
from skh.geometry.charts import SE3, Pose
from skh.models.uav_navigation import kernels as compiled
from skh.models.uav_navigation.observation import Observation
from skh.models.uav_navigation.parameters import GRAVITY, Parameters, Start
from skh.models.uav_navigation.tracks import assign, ray_is_flat, weak_tracks
from skh.models.uav_navigation.turn_kernels import advance_turn, measure_turn

# Columns of Carry.report: normalised squared innovations per dimension of the pose increment and of
# the sensors (NaN without measurement), then numbers of landmarks.
INNOVATIONS = ("position", "rotation", "accelerometer", "gyroscope", "barometer", "camera")
REPORT = (*INNOVATIONS, "tracked", "gated", "started", "waiting")
POSITION, ROTATION, ACCELEROMETER, GYROSCOPE, BAROMETER, CAMERA = range(len(INNOVATIONS))
LANDMARKS = slice(len(INNOVATIONS), None)


class Carry(NamedTuple):
    """Records that particles carry besides their poses, one row per particle."""

    linear: Array  # (n, 9): mean of v, a, b_a
    linear_covariance: Array  # (n, 9, 9)
    turn: Array  # (n, 6): mean of omega, b_omega
    turn_covariance: Array  # (n, 3): (omega, omega), (omega, b), (b, b) of each axis
    landmarks: Array  # (n, slots, 3)
    landmark_covariances: Array  # (n, slots, 6), packed
    tracks: Integers  # (n, slots): track number in each slot or -1; the same in all rows
    report: Array  # (n, 10): see REPORT


@dataclass(frozen=True, eq=False)
class UavModel:
    """The UAV model on poses, a `CarryingModel` up to its chart."""

    parameters: Parameters = Parameters()
    start: Start = field(default_factory=Start)

    def prior(self) -> tuple[Pose, Array]:
        """The start pose, with zero covariance."""
        return self.start.pose, np.zeros((6, 6))

    def initial_carry(self, states: Pose) -> Carry:
        """Records at the start, equal in all particles."""
        n, q = len(states.position), self.parameters
        linear = np.concatenate([self.start.velocity, self.start.acceleration, np.zeros(3)])
        turn = np.array([q.initial_turn**2, 0.0, q.initial_gyroscope_bias**2])
        return Carry(
            linear=np.tile(linear, (n, 1)),
            linear_covariance=np.tile(np.diag(q.initial_linear), (n, 1, 1)),
            turn=np.zeros((n, 6)),
            turn_covariance=np.tile(turn, (n, 1)),
            landmarks=np.zeros((n, q.slots, 3)),
            landmark_covariances=np.zeros((n, q.slots, 6)),
            tracks=np.full((n, q.slots), -1),
            report=_empty_report(n),
        )

    def transition(self, t: int, states: Pose, carry: Carry) -> tuple[Pose, Array]:
        """Expected next poses, and the covariance A P A' + Q of the increments."""
        q = self.parameters
        n, noise = len(carry.linear), (q.linear_variances[0], q.turn_variances[0])
        xi, S = np.empty((n, 6)), np.empty((n, 6, 6))
        compiled.expect(*carry[:4], q.dt, *noise, xi, S)
        return SE3().plus(states, xi), S

    def move(self, t: int, states: Pose, carry: Carry, next_states: Pose) -> Carry:
        """Condition velocities and turn rates on the chosen poses, then predict them."""
        q = self.parameters
        xi = SE3().minus(next_states, states)
        m, P = np.empty_like(carry.linear), np.empty_like(carry.linear_covariance)
        nis = compiled.advance(
            *(m, P, carry.linear, carry.linear_covariance, np.ascontiguousarray(xi[:, :3])),
            *(q.dt, q.acceleration_decay, q.linear_variances),
        )
        turn, covariance = np.empty_like(carry.turn), np.empty_like(carry.turn_covariance)
        turn_nis = advance_turn(
            *(turn, covariance, carry.turn, carry.turn_covariance),
            *(np.ascontiguousarray(xi[:, 3:]), q.dt, q.turn_decay, q.turn_variances),
        )
        report = _empty_report(len(m))
        report[:, POSITION], report[:, ROTATION] = nis / 3, turn_nis / 3
        return carry._replace(
            linear=m,
            linear_covariance=P,
            turn=turn,
            turn_covariance=covariance,
            report=report,
        )

    def displaced(self, carry: Carry, ancestors: Ancestors) -> Carry:
        """Records of moved particles: velocities, turn rates, biases and landmarks move along."""
        return ancestors.rows(carry)._replace(
            linear=ancestors.moved(carry.linear),
            turn=ancestors.moved(carry.turn),
            landmarks=ancestors.moved(carry.landmarks),
        )

    def blurred(self, carry: Carry, others: Sequence[Carry]) -> Carry:
        """Add the scatter of ``others`` to the covariances."""
        turn = scatter(by_axis(carry.turn), [by_axis(other.turn) for other in others])
        turn = turn.mean(axis=1)  # the axes share one covariance
        landmarks = scatter(carry.landmarks, [other.landmarks for other in others])
        return carry._replace(
            linear_covariance=carry.linear_covariance
            + scatter(carry.linear, [other.linear for other in others]),
            turn_covariance=carry.turn_covariance + turn[..., *np.triu_indices(2)],
            landmark_covariances=carry.landmark_covariances + landmarks[..., *np.triu_indices(3)],
        )

    def log_likelihood(self, t: int, states: Pose, y: Any, carry: Carry) -> tuple[Array, Carry]:
        """Log-density of all innovations, and the updated records."""
        if not isinstance(y, Observation):
            raise TypeError(f"y at t={t} must be an Observation of the UAV, got {y!r}")
        log_l, report = np.zeros(len(states.position)), carry.report.copy()
        linear = self._accelerometer(states, y, carry, log_l, report)
        turn = self._gyroscope(y, carry, log_l, report)
        self._barometer(states, y, log_l, report)
        m, C, tracks = self._camera(states, y, carry, log_l, report)
        return log_l, Carry(*linear, *turn, m, C, tracks, report)

    def _accelerometer(
        self, states: Pose, y: Observation, carry: Carry, log_l: Array, report: Array
    ) -> tuple[Array, Array]:
        m, P = carry.linear, carry.linear_covariance
        if np.isnan(y.accelerometer[0]):
            return m, P
        new_m, new_P = np.empty_like(m), np.empty_like(P)
        R, variance = np.ascontiguousarray(states.rotation), self.parameters.accelerometer**2
        nis = compiled.accelerometer(
            *(new_m, new_P, m, P, R, y.accelerometer, GRAVITY, variance, log_l)
        )
        report[:, ACCELEROMETER] = nis / 3
        return new_m, new_P

    def _gyroscope(
        self, y: Observation, carry: Carry, log_l: Array, report: Array
    ) -> tuple[Array, Array]:
        m, C = carry.turn, carry.turn_covariance
        if np.isnan(y.gyroscope[0]):
            return m, C
        new_m, new_C, variance = np.empty_like(m), np.empty_like(C), self.parameters.gyroscope**2
        nis, S = measure_turn(*(new_m, new_C, m, C, y.gyroscope[None], 1.0, 1.0, variance))
        log_l -= 0.5 * (nis + 3 * np.log(2 * pi * S))
        report[:, GYROSCOPE] = nis / 3
        return new_m, new_C

    def _barometer(self, states: Pose, y: Observation, log_l: Array, report: Array) -> None:
        if np.isnan(y.barometer):
            return
        q = self.parameters
        with np.errstate(over="ignore"):  # an infinite NIS is gated or has zero density
            nis = (y.barometer - states.position[:, 2]) ** 2 / q.barometer**2
        log_l -= 0.5 * np.minimum(nis, q.gate) + log((2 * pi) ** 0.5 * q.barometer)
        report[:, BAROMETER] = nis

    def _camera(
        self, states: Pose, y: Observation, carry: Carry, log_l: Array, report: Array
    ) -> tuple[Array, Array, Integers]:
        """Update known tracks, start new ones (without likelihood), end the others."""
        q = self.parameters
        if y.tracks is None:
            return carry.landmarks, carry.landmark_covariances, carry.tracks
        p, R = np.ascontiguousarray(states.position), np.ascontiguousarray(states.rotation)
        m, C = carry.landmarks.copy(), carry.landmark_covariances.copy()
        tracks, pixels, seen, new = assign(carry.tracks[0], y.tracks, y.pixels)
        nis, gated = compiled.camera(
            *(p, R, m, C, pixels, seen, q.focal, q.pixel**2, q.gate, log_l)
        )
        for slot in new:
            if ray_is_flat(R, pixels[slot], q.focal):
                tracks[slot] = -1
            else:
                compiled.start(p, R, pixels[slot], q.focal, q.pixel**2, q.ground, slot, m, C)
        refused = gated.sum(axis=1)
        used, started = seen.sum() - refused, np.count_nonzero(tracks[new] >= 0)
        report[:, CAMERA] = np.where(used > 0, nis / (2 * np.maximum(used, 1)), np.nan)
        waiting = len(y.tracks) - seen.sum() - started
        report[:, LANDMARKS] = np.stack(np.broadcast_arrays(used, refused, started, waiting), 1)
        tracks[weak_tracks(gated, log_l)] = -1
        return m, C, np.broadcast_to(tracks, (len(log_l), len(tracks)))

    def joined(self, carry: Carry) -> Carry:
        """The records of several looks; a track ends if they disagree about its slot."""
        tracks = np.where((carry.tracks == carry.tracks[0]).all(axis=0), carry.tracks[0], -1)
        return carry._replace(tracks=np.broadcast_to(tracks, carry.tracks.shape))

    def hidden_moments(self, carry: Carry) -> tuple[Array, Array]:
        """Mean (n, 15) and covariance of (v, a, b_a, omega, b_omega)."""
        P = np.empty((len(carry.linear), 15, 15))
        compiled.hidden_covariances(P, carry.linear_covariance, carry.turn_covariance)
        return np.concatenate([carry.linear, carry.turn], axis=1), P


def _empty_report(n: int) -> Array:
    """A report without innovations and landmarks."""
    report = np.full((n, len(REPORT)), np.nan)
    report[:, LANDMARKS] = 0.0
    return report


def by_axis(turn: Array) -> Array:
    """(omega, b_omega) of each axis, (n, 3, 2)."""
    return np.stack([turn[:, :3], turn[:, 3:]], axis=-1)
