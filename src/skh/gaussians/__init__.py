"""Gaussian mixtures, linear algebra of Gaussians, Hilbert curves.

`mixture` is the predictive distribution of a filter, `densities` has those of its components,
`predictive` adds what a filter tells its rule, `linear_algebra` has factors, densities and
conditioning, independent of `units`, and `hilbert_curve` sorts components.
Imports `_numba`, `_runtime` and `_checks`.
"""
