"""Surrogates of a likelihood, fitted to its values: Gaussian-shaped functions of the state.

`fit_surrogate` returns a `Parabola` of the log-likelihood: through all points where that explains
them (`parabola`), else near the best ones only (`envelope`).
"""
