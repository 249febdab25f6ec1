"""Laws of the package `particles`, made by it or by the classes that stand for it in tests."""

import numpy as np

POINTS = (-0.7, 0.4, 2.0)


def cases(law):
    """Transitions from states x: numbers (n,) or vectors (n, 2)."""
    S = np.array([[2.0, 0.6], [0.6, 0.5]])

    def varying(x):
        return law.VaryingCovNormal(loc=x, cov=(1.0 + x[:, :1, None] ** 2) * S)

    def scaled(x):
        return law.MvNormal(loc=x, scale=1.0 + x**2, cov=S)

    def mixture(x):
        heavy = law.Normal(loc=x, scale=3.0)
        return law.Mixture([0.3, 0.7], heavy, law.Normal(loc=-x, scale=0.5 + x**2))

    def varying_mixture(x):
        p = 1.0 / (1.0 + np.exp(-x))
        pk = np.column_stack([p, 1.0 - p])
        return law.Mixture(pk, law.Normal(loc=x), law.Dirac(loc=2.0 * x))

    return {
        "Normal": (1, lambda x: law.Normal(loc=0.5 * x, scale=2.0)),
        "Normal of varying scale": (1, lambda x: law.Normal(loc=1.0, scale=np.exp(x))),
        "LinearD": (1, lambda x: law.LinearD(law.Normal(loc=x, scale=0.5), a=3.0, b=-1.0)),
        "Student": (1, lambda x: law.Student(df=7.0, loc=x, scale=1.0 + x**2)),
        "Laplace": (1, lambda x: law.Laplace(loc=x, scale=0.5)),
        "Mixture": (1, mixture),
        "Mixture of varying weights": (1, varying_mixture),
        "MvNormal": (2, lambda x: law.MvNormal(loc=x, cov=S)),
        "MvNormal without loc": (2, lambda x: law.MvNormal(cov=S)),
        "MvNormal of varying scale": (2, scaled),
        "VaryingCovNormal": (2, varying),
        "IndepProd": (
            2,
            lambda x: law.IndepProd(
                law.Normal(loc=x[:, 0], scale=0.3), law.Dirac(loc=x[:, 0] + x[:, 1])
            ),
        ),
        "IndepProd of varying scale": (
            2,
            lambda x: law.IndepProd(
                law.Normal(scale=1.0 + x[:, 0] ** 2), law.LinearD(law.Normal(loc=x[:, 1]), a=2.0)
            ),
        ),
    }


def states(d):
    """Three states."""
    x = np.array(POINTS)
    return x if d == 1 else np.column_stack([x, x[::-1]])
