r"""FastSLAM: poses are particles, and each particle has a Kalman filter for every landmark.

Given the path of the robot, landmarks are independent of each other (Montemerlo, Thrun, Koller and
Wegbreit, 2002).  The record of a particle is its own map: mean :math:`m_j` and covariance
:math:`P_j` of each landmark seen so far.  A sighting z of it has the likelihood
:math:`N(z \mid h(x, m_j), G P_j G^\top + R)`, with the derivative G of the measurement h by the
landmark, and updates the record as an extended Kalman filter does.  A landmark seen for the first
time is put where it was seen.  The map before is unknown and uniform, so that sighting says
nothing about the pose.

With a share of false sightings, a record becomes the mean and covariance of the mixture of both
cases, updated and not.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log, pi
from typing import Any, NamedTuple, Protocol

import numpy as np

from skh._typing import Array, Indices
from skh.filtering.belief import Belief
from skh.filtering.carried_records import Ancestors, scatter
from skh.gaussians.linear_algebra import symmetric
from skh.geometry.charted import Charted
from skh.geometry.charted_records import carry_of
from skh.geometry.charts import SE2, SE3
from skh.geometry.stack import rows_of
from skh.robotics.localization import Localization, Motion, is_in_space
from skh.robotics.sensors.outliers import floored, information_factor


class MappingSensor(Protocol):
    """A sensor of landmarks whose positions follow from one sighting."""

    outliers: float

    @property
    def covariance(self) -> Array:
        """Covariance R (k, k) of the errors of a sighting."""
        ...

    @property
    def log_uniform(self) -> float:
        """Log-density of a false sighting."""
        ...

    def features(self, y: Any) -> tuple[Indices, Array]:
        """Ids (m,) and values (m, k) of the landmarks in view."""
        ...

    def project(self, states: Any, landmarks: Array) -> Array:
        """Values (n, m, k) of landmarks (n, m, l) without errors."""
        ...

    def difference(self, values: Array, predicted: Array) -> Array:
        """Errors of values; angles wrap."""
        ...

    def jacobian(self, states: Any, landmarks: Array) -> Array:
        """Derivatives (n, m, k, d) of values by increments of the states."""
        ...

    def landmark_jacobian(self, states: Any, landmarks: Array) -> Array:
        """Derivatives (n, m, k, l) of values by the landmarks."""
        ...

    def triangulate(self, states: Any, values: Array) -> Array:
        """Positions (n, m, l) of landmarks with values (m, k)."""
        ...


class LandmarkMap(NamedTuple):
    """The maps of n particles: the same landmarks, in the order of their first sightings."""

    ids: Indices  # (n, L), all rows the same
    means: Array  # (n, L, l)
    covariances: Array  # (n, L, l, l)


class _Update(NamedTuple):
    """Sightings of known landmarks, whitened by R: what an update and the information need."""

    error: Array  # (n, m, k)
    G: Array  # (n, m, k, l)
    P: Array  # (n, m, l, l)
    S: Array  # (n, m, k, k): I + G P G'


class FastSLAM:
    """A model of poses and maps for `skh.geometry.Charted`; see `fastslam_model`."""

    def __init__(
        self, prior: Any, motion: Motion, sensor: MappingSensor, controls: Sequence[Any]
    ) -> None:
        if not callable(getattr(sensor, "triangulate", None)):
            raise TypeError(f"sensor must be a RangeBearing or a StereoCamera, got {sensor!r}")
        self._driven = Localization(prior, motion, sensor, controls)  # type: ignore[arg-type]
        self.sensor = sensor
        self._whitening = np.asarray(np.linalg.inv(np.linalg.cholesky(sensor.covariance)))

    def prior(self) -> Any:
        """The distribution of the first pose."""
        return self._driven.prior()

    def initial_carry(self, states: Any) -> LandmarkMap:
        """Empty maps."""
        n, size = rows_of(states), 3 if isinstance(states, tuple) else 2
        ids = np.empty((n, 0), dtype=np.intp)
        return LandmarkMap(ids, np.empty((n, 0, size)), np.empty((n, 0, size, size)))

    def transition(self, t: int, states: Any, carry: LandmarkMap) -> tuple[Any, Array]:
        """Next poses and covariances; the map does not matter."""
        return self._driven.transition(t, states)

    def move(self, t: int, states: Any, carry: LandmarkMap, next_states: Any) -> LandmarkMap:
        """Landmarks stay."""
        return carry

    def log_likelihood(
        self, t: int, states: Any, y: Any, carry: LandmarkMap
    ) -> tuple[Array, LandmarkMap]:
        """Likelihood of the landmarks seen before, and maps with all that are seen."""
        ids, values = self.sensor.features(y)
        slot = _slots(carry, ids)
        known = slot >= 0
        total = np.zeros(rows_of(states))
        if known.any():
            seen = self._seen(states, values[known], carry, slot[known])
            log_p, carry = self._updated(seen, carry, slot[known])
            total = log_p.sum(axis=1)
        if not known.all():
            carry = self._extended(states, ids[~known], values[~known], carry)
        return total, carry

    def information(self, t: int, states: Any, y: Any, carry: LandmarkMap | None) -> Array:
        """Information of the landmarks seen before about increments of each pose."""
        ids, values = self.sensor.features(y)
        slot = np.full(len(ids), -1) if carry is None else _slots(carry, ids)
        d = 6 if isinstance(states, tuple) else 3
        if carry is None or not (slot >= 0).any():
            return np.zeros((rows_of(states), d, d))
        slot, values = slot[slot >= 0], values[slot >= 0]
        seen = self._seen(states, values, carry, slot)
        H = self._whitening @ self.sensor.jacobian(states, carry.means[:, slot])
        F = np.einsum("nmki,nmkj->nij", H, np.linalg.solve(seen.S, H))
        return symmetric(self._factor * F)

    def displaced(self, carry: LandmarkMap, ancestors: Ancestors) -> LandmarkMap:
        """Maps of displaced particles move with them."""
        rows = ancestors.rows(carry)
        if carry.means.shape[1] == 0:
            return rows
        return rows._replace(means=ancestors.moved(carry.means))

    def blurred(self, carry: LandmarkMap, others: Sequence[LandmarkMap]) -> LandmarkMap:
        """Maps of particles with uncertain displacements."""
        S = scatter(carry.means, [other.means for other in others])
        return carry._replace(covariances=carry.covariances + S)

    def _seen(self, states: Any, values: Array, carry: LandmarkMap, slot: Indices) -> _Update:
        """Errors and derivatives of sightings of the landmarks in ``slot``."""
        m, P, W = carry.means[:, slot], carry.covariances[:, slot], self._whitening
        error = self.sensor.difference(values, self.sensor.project(states, m)) @ W.T
        G = W @ self.sensor.landmark_jacobian(states, m)
        S = np.eye(len(W)) + G @ P @ G.swapaxes(-1, -2)
        return _Update(error, G, P, S)

    def _updated(
        self, seen: _Update, carry: LandmarkMap, slot: Indices
    ) -> tuple[Array, LandmarkMap]:
        """Log-likelihoods (n, m) of sightings, and the maps after them."""
        error, G, P, S = seen
        K = np.linalg.solve(S, G @ P).swapaxes(-1, -2)  # gain
        square = np.einsum("nmk,nmk->nm", error, np.linalg.solve(S, error[..., None])[..., 0])
        log_g = -0.5 * (square + np.linalg.slogdet(S)[1]) + self._log_norm
        log_p = floored(log_g, self.sensor.outliers, self.sensor.log_uniform)
        share = np.exp(log_g + np.log1p(-self.sensor.outliers) - log_p)[..., None]  # no outlier
        step = np.einsum("nmlk,nmk->nml", K, error)
        A = np.eye(P.shape[-1]) - K @ G
        after = A @ P @ A.swapaxes(-1, -2) + K @ K.swapaxes(-1, -2)
        between = share * (1.0 - share) * step
        means, covariances = carry.means.copy(), carry.covariances.copy()
        means[:, slot] += share * step
        covariances[:, slot] = symmetric(
            P + share[..., None] * (after - P) + between[..., None] * step[..., None, :]
        )
        return log_p, LandmarkMap(carry.ids, means, covariances)

    def _extended(
        self, states: Any, ids: Indices, values: Array, carry: LandmarkMap
    ) -> LandmarkMap:
        """Maps with landmarks seen for the first time."""
        m = self.sensor.triangulate(states, values)
        G = self._whitening @ self.sensor.landmark_jacobian(states, m)
        P = symmetric(np.asarray(np.linalg.inv(G.swapaxes(-1, -2) @ G), dtype=np.float64))
        new = np.broadcast_to(ids, (len(m), len(ids)))
        parts = zip(carry, (new, m, P), strict=True)
        return LandmarkMap(*(np.concatenate(pair, axis=1) for pair in parts))

    @property
    def _log_norm(self) -> float:
        W = self._whitening
        return float(np.log(W.diagonal()).sum() - len(W) / 2 * log(2 * pi))

    @property
    def _factor(self) -> float:
        whitened = self.sensor.log_uniform - float(np.log(self._whitening.diagonal()).sum())
        return information_factor(len(self._whitening), self.sensor.outliers, whitened)


def _slots(carry: LandmarkMap, ids: Indices) -> Indices:
    """Places of landmarks in the maps, -1 for new ones."""
    places = {int(known): slot for slot, known in enumerate(carry.ids[0])}
    return np.array([places.get(int(i), -1) for i in ids], dtype=np.intp)


def fastslam_model(
    prior: Any, motion: Motion, sensor: MappingSensor, controls: Sequence[Any]
) -> Charted:
    """Return a model for `skh.particle_filter`: a pose and a map of landmarks with known ids.

    Arguments are those of `skh.robotics.localization_model`; the sensor is a `RangeBearing` or a
    `StereoCamera`, whose own landmarks are not used and may be empty.  Landmarks need not be known
    in number: a new id is a new landmark.  `landmark_map` returns the map of a belief.

    >>> import skh
    >>> from skh.robotics import OdometryStep, OmniDrive, RangeBearing
    >>> sensor = RangeBearing(np.empty((0, 2)), range_noise=0.1, bearing_noise=0.02)
    >>> start = [0.0, 0.0, 0.0], np.zeros((3, 3))
    >>> model = fastslam_model(start, OmniDrive(), sensor, [OdometryStep(0.0, 1.0, 0.0)])
    >>> pf = skh.ParticleFilter(model, n=50, rng=0)
    >>> _ = pf.step([[7, 5.0, 0.0]])
    >>> ids, means, _ = landmark_map(pf.step([[7, 4.0, 0.0], [3, 2.0, 1.0]]))
    >>> ids, means[0].round(1)
    (array([7, 3]), array([5., 0.]))
    """
    model = FastSLAM(prior, motion, sensor, controls)
    return Charted(model, SE3() if is_in_space(prior) else SE2())


def landmark_map(belief: Belief) -> tuple[Indices, Array, Array]:
    """Ids (L,), means (L, l) and covariances (L, l, l) of the landmarks over all particles."""
    carry = carry_of(belief).inner
    if not isinstance(carry, LandmarkMap):
        raise TypeError(f"belief must be that of a fastslam_model, got records {carry!r}")
    means = np.einsum("n,nli->li", belief.w, carry.means)
    error = carry.means - means
    spread = np.einsum("n,nli,nlj->lij", belief.w, error, error)
    return carry.ids[0], means, np.einsum("n,nlij->lij", belief.w, carry.covariances) + spread
