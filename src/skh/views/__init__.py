"""Results for people: tables, labelled arrays, figures, short texts and HTML.

`tables` has the columns of a result, `labelled` its xarray, `plots`, `particle_plots` and
`residual_plots` the figures, `html` and `text` what notebooks and consoles show, `attributes`
what is recorded about a run.  Results are taken by their attributes, so that nothing is imported
from `filtering`; pandas, xarray and matplotlib are imported where they are used.
"""
