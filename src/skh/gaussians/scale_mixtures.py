r"""Student-t and Laplace distributions as Gaussian mixtures, for transitions with outliers.

Both are scale mixtures: :math:`x = \mu + \sqrt v\, S z` with z standard normal and

- Student-t with :math:`\nu` degrees of freedom: :math:`v = \nu / (2 g)`, g of law Gamma(nu/2);
- Laplace: :math:`v = 2 g`, g of law Gamma(1), exponential.

The integral over :math:`s = \log g` is taken by the trapezoidal rule.  The density of s times that
of a Gaussian, as a function of s, is analytic, and its Fourier transform is known: for the
Student-t law the spacing h has the relative error :math:`2 |\Gamma(b + 2 \pi i / h)| / \Gamma(b)`
with :math:`b = (\nu + 1) / 2`, wherever the density is evaluated; for the Laplace law it has about
that with b = 1/2 near the peak, and less elsewhere.  The range leaves out as much probability at
either end.
"""

from __future__ import annotations

from functools import lru_cache
from math import lgamma, log, pi

import numpy as np
import scipy  # imports its submodules on first use
from numpy.typing import ArrayLike

from skh import _checks
from skh._typing import Array
from skh.gaussians.mixture import GaussianMixture

MIN_DF = 0.5  # with fewer, draws reach beyond 1e20 scales
LOST = (1e-9, 0.2)  # least and largest probability left out at either end
UNDERFLOW = -600.0  # logarithm below which SciPy's inverse of the gamma distribution is zero


def student_t(
    mean: ArrayLike, scale: ArrayLike, df: float, *, components: int = 10
) -> GaussianMixture:
    """Return Student-t distributions around the rows of ``mean``, as a mixture of Gaussians.

    A model's ``transition`` may return it.

    Parameters
    ----------
    mean : (n, d)
    scale : () or (n,) or (d, d) or (n, d, d)
        A row is ``mean + scale @ e``, where e is a standard t vector: all its coordinates are large
        at the same time.  One number for all rows and directions, or one for each row, or matrices.
    df : float
        Degrees of freedom; 1 is the Cauchy distribution.
    components : int
        Number of Gaussians per row.

    Examples
    --------
    >>> p = student_t([[0.0]], 1.0, df=3)
    >>> x = np.array([[0.0], [1.0], [2.0]])
    >>> np.exp(p.log_densities(x)).sum(axis=1).round(3)  # as scipy.stats.t.pdf(x, 3)
    array([0.368, 0.207, 0.068])

    >>> import skh
    >>> model = skh.model_from_functions(
    ...     prior=([0.0], 1.0),
    ...     transition=lambda t, x: skh.student_t(0.9 * x, 0.5, df=3),
    ...     log_likelihood=lambda t, x, y: -0.5 * (x[:, 0] - y) ** 2,
    ... )
    >>> skh.particle_filter(model, [0.1, 0.3, 7.0], n=20, rng=0).means.shape
    (3, 1)
    """
    if not _checks.as_float(df) >= MIN_DF:
        raise ValueError(f"df must be a number of at least {MIN_DF}, got {df!r}")
    m = _checks.positive_int("components", components)
    if np.isinf(df):
        return _mixture(mean, scale, np.ones(1), np.ones(1))
    a = 0.5 * float(df)
    g, w = gamma_nodes(a, a + 0.5, m)
    return _mixture(mean, scale, a / g[::-1], w[::-1])


def laplace(mean: ArrayLike, scale: ArrayLike, *, components: int = 10) -> GaussianMixture:
    """Return Laplace distributions around the rows of ``mean``, as a mixture of Gaussians.

    Arguments are those of `student_t`; the standard deviation of a coordinate is sqrt(2) times its
    ``scale``.  In several dimensions it is the symmetric multivariate Laplace distribution.

    >>> p = laplace([[0.0]], 1.0)
    >>> x = np.array([[0.5], [1.0], [2.0]])
    >>> np.exp(p.log_densities(x)).sum(axis=1).round(2)  # exp(-x) / 2
    array([0.3 , 0.18, 0.07])
    """
    g, w = gamma_nodes(1.0, 0.5, _checks.positive_int("components", components))
    return _mixture(mean, scale, 2.0 * g, w)


def _mixture(mean: ArrayLike, scale: ArrayLike, v: Array, w: Array) -> GaussianMixture:
    """Return the mixture over variances ``v`` with weights ``w``, for each row."""
    mu, S = _checks.points("mean", mean), _checks.real_array("scale", scale)
    (n, d), m = mu.shape, len(v)
    if S.shape not in ((), (n,), (d, d), (n, d, d)):
        raise ValueError(
            f"scale must have shape (), ({n},), ({d}, {d}) or ({n}, {d}, {d}) for {n} means in "
            f"{d} dimensions, got {S.shape}"
        )
    if S.ndim < 2 and S.min() < 0:
        raise ValueError(f"scale must be non-negative, got {S.min()}")
    square = S @ np.swapaxes(S, -1, -2) if S.ndim >= 2 else S**2
    if S.ndim in (0, 2):
        square = np.broadcast_to(square, (n, *square.shape))
    covariances = np.repeat(square, m, axis=0) * np.tile(v, n).reshape(-1, *[1] * (square.ndim - 1))
    return GaussianMixture(np.tile(w, n), np.repeat(mu, m, axis=0), covariances)


@lru_cache(maxsize=64)
def gamma_nodes(a: float, b: float, m: int) -> tuple[Array, Array]:
    """Return m nodes of the law Gamma(a), equally spaced in the logarithm, and their weights.

    The spacing balances the rule's error, which depends on ``b``, and the probability left out.

    >>> g, w = gamma_nodes(2.0, 2.5, 20)
    >>> round(float(w @ g), 3), round(float(w @ g**2), 3)  # a and a (a + 1)
    (2.0, 6.0)
    """
    if m == 1:
        return np.array([a]), np.ones(1)
    widest = float(np.ptp(_ends(a, LOST[0])))

    def excess(h: float) -> float:
        return float(np.ptp(_ends(a, _error(b, h)))) - (m - 1) * h

    h = scipy.optimize.brentq(excess, 1e-3 * widest / m, widest + 1.0)
    s = np.linspace(*_ends(a, _error(b, h)), m)
    w = np.exp(a * s - np.exp(s) - lgamma(a))
    return _checks.read_only(np.exp(s)), _checks.read_only(w / w.sum())


def _error(b: float, h: float) -> float:
    """Relative error of the trapezoidal rule with spacing h, within `LOST`."""
    log_gamma = scipy.special.loggamma
    error = 2.0 * np.exp(log_gamma(b + 2j * pi / h).real - log_gamma(b))
    return float(np.clip(error, *LOST))


def _ends(a: float, lost: float) -> tuple[float, float]:
    """Range of log g beyond which there is the probability ``lost`` at either end."""
    lower = (log(lost) + lgamma(a + 1.0)) / a  # P(g < e^s) = e^(a s) / Gamma(a + 1) for small s
    if lower > UNDERFLOW:
        lower = log(scipy.special.gammaincinv(a, lost))
    return lower, log(scipy.special.gammainccinv(a, lost))
