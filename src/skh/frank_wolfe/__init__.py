"""Algorithm 1, FW-Quad: quadrature of a mixture by Frank-Wolfe optimisation of the MMD.

`fw_quad` is the paper's listing, `iterate` its loop, `steps`, `pairwise` and `fully_corrective` its
variants; `vertex_search` finds the next point, `single_precision_search` faster; `reference` is
plain NumPy, `default` the default rule.  Imports `gaussians`, `kernels` and `rules`.
"""
