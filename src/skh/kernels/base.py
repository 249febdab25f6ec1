r"""What `FWQuad` asks of a kernel.

In coordinates of its own choice a kernel must be a positive sum of Gaussians of the distance,

.. math:: \kappa(x, x') = \sum_s a_s \exp(-r_s |X - X'|^2), \qquad \sum_s a_s = 1,

whose expectation under a Gaussian mixture it knows in closed form.  Every radial kernel that is
positive definite in all dimensions is such a sum or a limit of such sums (Schoenberg, 1938):
Matern, rational quadratic and inverse multiquadric kernels by a quadrature over scales.  For those
a function that returns a `GaussianKernel` is enough; see docs/kernels.md.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from skh._typing import Array
from skh.gaussians.mixture import GaussianMixture


@runtime_checkable
class Kernel(Protocol):
    """A kernel for `FWQuad`; `GaussianKernel` is one."""

    @property
    def scales(self) -> Array:
        """The rates r_s and the weights a_s of the Gaussians, ``(2, S)``."""
        ...

    def coordinates_of(self, x: Array) -> Array:
        """Rows ``x`` as contiguous columns ``(k, n)`` in the kernel's coordinates."""
        ...

    def mean_map_at(self, p: GaussianMixture, X: Array) -> Array:
        """The expectation of the kernel under ``p`` at columns ``X`` in those coordinates, (n,)."""
        ...

    def mean_norm2(self, p: GaussianMixture) -> float:
        """The expectation of the kernel between two independent draws of ``p``."""
        ...
