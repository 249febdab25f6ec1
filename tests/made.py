"""Made-up records, from which verdicts can be worked out by hand."""

from dataclasses import replace

import numpy as np

from skh.reproduction.engine.record import Record

BASE = Record(experiment="x", model="m", rule="a", sigma2=1.0, n=10, batch=0, seed=0)


def rows(rule, errors, *, field="mmd", noise=0.05, batches=8, **fixed):
    """Records whose field is ``errors[n]`` with some noise that all rules share."""
    rng = np.random.default_rng(0)
    return [
        replace(BASE, rule=rule, n=n, batch=b, **{field: error * f}, **fixed)
        for b, f in enumerate(np.exp(noise * rng.standard_normal(batches)))
        for n, error in errors.items()
    ]


def filters(errors, model="nonlinear", sigma2=1.0, particles=None):
    return [
        r
        for rule, error in errors.items()
        for r in rows(
            *(rule, error),
            field="rmse",
            model=model,
            sigma2=sigma2,
            n_particles=30.0 if rule == particles else 200.0,
        )
    ]
