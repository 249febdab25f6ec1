"""Surrogates of a likelihood, fitted to its values (`base.Surrogate`).

`fit_surrogate` returns a `Parabola` of the log-likelihood: through all points where that explains
them (`parabola`), else near the best ones only (`envelope`).  `fit_process` returns a Gaussian
process (`process`), for floors, ridges and several peaks.
"""
