"""Rules: a rule turns a Gaussian mixture into n weighted points (step 3 of Algorithm 2).

`base` has the protocol and `WeightedPoints`, `sampling` the random and quasi-random rules.
`refined`, `matched` and `smoothed` wrap another rule; `ancestor_sampling` draws the components of
points that a rule has moved.  Imports `gaussians` and `kernels`.
"""
