"""Algorithm 1, FW-Quad: quadrature of a mixture by Frank-Wolfe optimisation of the MMD.

`fw_quad` is the listing of the paper, `steps` and `pairwise` are its variants, `vertex_search` and
`single_precision_search` find the next point, `reference` is the same in plain NumPy, and `default`
is the rule of a filter that is given none.  Imports `gaussians`, `kernels` and `rules`.
"""
