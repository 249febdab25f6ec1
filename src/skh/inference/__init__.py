"""Inference from filters: smoothing, the score and observed information of parameters.

`smoothing` is forward filtering, backward smoothing; `additive` the same for sums over time in one
pass forwards; `score` the gradient of the log-evidence.  All of them start from the particles of a
filter and evaluate transition densities, never the likelihood again, except for its derivatives.
"""
