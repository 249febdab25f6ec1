"""Algorithm 2, the particle filter: a template whose sampling step is any rule.

`particle_filter` is the listing of the paper, `model_protocols` what it asks of a model, `belief`
what it returns.  `carried_records` moves the records of particles along, `likelihood_information`
learns what the likelihood sees, `rao_blackwell` keeps a Kalman filter in each particle.  Imports
`gaussians`, `rules` and, for the default rule, `frank_wolfe`.
"""
