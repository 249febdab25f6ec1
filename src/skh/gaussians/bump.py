r"""Gaussian-shaped functions :math:`\exp(c + b^\top (x - m) - (x - m)^\top H (x - m) / 2)`.

With H positive semi-definite, the product of a Gaussian mixture and a bump is again a mixture
(`GaussianMixture.times`).  For a component with mean :math:`\mu` and covariance
:math:`L L^\top`, and with :math:`M M^\top = I + L^\top H L`, the product is
:math:`Z\, \mathcal N(\mu + R h,\; R R^\top)` with

.. math:: R = L M^{-\top}, \quad h = R^\top (b - H (\mu - m)), \quad
          \log Z = \log\text{bump}(\mu) + \tfrac12 h^\top h - \log\det M.

No inverse of a covariance or of H is needed, so both may be singular; L has the units of x, and M
has none, so the result does not depend on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np

from skh import _checks
from skh._numba.parabolas import values_of_parabola
from skh._typing import Array
from skh.gaussians.linear_algebra import check_covariance
from skh.gaussians.units import correlations


@dataclass(frozen=True, eq=False)
class Bump:
    """``exp(c + b' (x - m) - (x - m)' H (x - m) / 2)``, H (d, d) positive semi-definite.

    ``m`` (d,) is any point near those of interest: far from the origin, the coefficients of a
    polynomial in x itself would lose all digits.

    >>> bump = Bump(0.0, np.zeros(1), np.array([[4.0]]), np.zeros(1))
    >>> bump.log(np.array([[0.0], [1.0]]))
    array([ 0., -2.])
    """

    c: float
    b: Array
    H: Array
    m: Array

    def __post_init__(self) -> None:
        b = _checks.shaped("b", self.b, "d")
        H = _checks.shaped("H", self.H, len(b), len(b))
        m = _checks.shaped("m", self.m, len(b))
        if not (_checks.is_number(self.c) and isfinite(self.c)):
            raise ValueError(f"c must be a finite number, got {self.c!r}")
        check_covariance("H", correlations(H)[1])
        self.__dict__.update(b=b, H=H, m=m)

    @classmethod
    def known(cls, c: float, b: Array, H: Array, m: Array) -> Bump:
        """Build a bump from arrays that need no checks."""
        bump = object.__new__(cls)
        bump.__dict__.update(c=c, b=b, H=H, m=m)
        return bump

    def log(self, x: Array) -> Array:
        """Logarithm of the bump at the rows of ``x``."""
        return np.asarray(values_of_parabola(x - self.m, self.c, self.b, self.H))

    def power(self, beta: float) -> Bump:
        """Return the bump raised to ``beta`` >= 0."""
        beta = _checks.non_negative("beta", beta)
        return self.known(beta * self.c, beta * self.b, beta * self.H, self.m)
