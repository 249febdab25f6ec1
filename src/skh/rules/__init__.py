"""Rules turn a Gaussian mixture into n weighted points (step 3 of Algorithm 2).

`base` has the protocol, `sampling` the random and quasi-random rules; `refined`, `matched`,
`smoothed`, `regularized` and `wrappers` wrap rules; `ancestor_sampling` draws the components of
moved points.
Imports `gaussians` and `kernels`.
"""
