"""Kernels, their closed forms for Gaussian mixtures, and the best weights of given points.

`gaussian_kernel` has the kernel and the MMD, `mean_map` its expectation under a mixture,
`adaptive` the kernel that the default rule makes for each mixture.  `simplex_qp` and
`quadrature_weights` solve for weights on the simplex.  Imports `gaussians`.
"""
