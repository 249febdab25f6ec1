"""Algorithm 2: a particle filter whose sampling step is any rule.

`particle_filter` is the algorithm, `series` runs it over many observations, `belief` has the
results, `model_protocols` the interface of models.  `plans` decide where a step evaluates its
likelihood, `conversation` has its questions and answers.  `carried_records` updates the records of
particles, `likelihood_information` learns the Fisher information of observations,
`rao_blackwell` runs a Kalman filter in each particle.
Imports `gaussians`, `rules` and, for the default rule, `frank_wolfe`.
"""
