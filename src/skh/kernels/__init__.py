"""Kernels, their closed forms for Gaussian mixtures, and optimal weights of given points.

`base` has the protocol, `gaussian_kernel` the kernel and the MMD, `mean_map` its expectation,
`adaptive` the default kernel; `simplex_qp` and `quadrature_weights` solve for weights.
Imports `gaussians`.
"""
