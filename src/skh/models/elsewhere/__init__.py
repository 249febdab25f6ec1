"""Models written for other packages, recognised by their methods: nothing of those is imported.

`particles` has state-space models of the package of that name, `stonesoup` pairs of transition and
measurement models of Stone Soup, `gaussian_functions` models given by two functions and their
noise, as in dynamax and cuthbert.
"""
