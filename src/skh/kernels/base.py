r"""The protocol of kernels for `FWQuad`.

In coordinates of its own choice a kernel must be a positive sum of Gaussians of the distance,

.. math:: \kappa(x, x') = \sum_s a_s \exp(-r_s |X - X'|^2), \qquad \sum_s a_s = 1,

with a closed-form expectation under Gaussian mixtures.  Every radial kernel that is positive
definite in all dimensions is such a sum or a limit of such sums (Schoenberg, 1938).  For Matern,
rational quadratic and inverse multiquadric kernels use a `GaussianKernel` (docs/kernels.md).
"""

from __future__ import annotations

from typing import Protocol

from skh._typing import Array
from skh.gaussians.mixture import GaussianMixture

MEMBERS = ("scales", "coordinates_of", "mean_map_at", "mean_norm2")


def check_kernel_protocol(name: str, value: object) -> None:
    """Raise a TypeError that names what ``value`` lacks unless it is a `Kernel`."""
    missing = [member for member in MEMBERS if not hasattr(value, member)]
    if missing or isinstance(value, type):
        lacks = f" without {', '.join(missing)}" if missing else ", a class"
        raise TypeError(f"{name} must be a GaussianKernel or another Kernel, got {value!r}{lacks}")


class Kernel(Protocol):
    """A kernel for `FWQuad`; `GaussianKernel` is one."""

    @property
    def scales(self) -> Array:
        """Rates r_s and weights a_s of the Gaussians, ``(2, S)``."""
        ...

    def coordinates_of(self, x: Array) -> Array:
        """Map rows ``x`` to contiguous columns ``(k, n)`` in the kernel's coordinates."""
        ...

    def mean_map_at(self, p: GaussianMixture, X: Array) -> Array:
        """Expectation of the kernel under ``p`` at columns ``X`` in these coordinates, (n,)."""
        ...

    def mean_norm2(self, p: GaussianMixture) -> float:
        """Expectation of the kernel between two independent draws from ``p``."""
        ...
