"""Gaussian mixtures and the linear algebra of Gaussians.

`mixture` is the predictive distribution of a particle filter with Gaussian transitions (paper,
eq. 4), `linear_algebra` has factors, densities and conditioning, `hilbert_curve` the order in which
sorted quasi-Monte Carlo goes through components.  Imports nothing but `_numba` and `_runtime`.
"""
