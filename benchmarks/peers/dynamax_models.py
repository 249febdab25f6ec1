"""dynamax: nonlinear Gaussian models through `skh.gaussian_model`, and its filters; prints JSON.

The model is linear, where its extended Kalman filter is exact, and then mildly nonlinear, where
the bootstrap filter of this library with 20,000 particles is the reference for both.  The caller
sets JAX_ENABLE_X64, for double precision.
"""

import json

import jax
import jax.numpy as jnp
import numpy as np
from dynamax.nonlinear_gaussian_ssm import ParamsNLGSSM, extended_kalman_filter

import skh

A = jnp.array([[0.9, 0.2], [-0.1, 0.95]])
C = jnp.array([[1.0, 0.5]])


def parameters(bend):
    """A model whose observations bend by ``bend``."""
    return ParamsNLGSSM(
        initial_mean=jnp.array([1.0, -1.0]),
        initial_covariance=jnp.eye(2),
        dynamics_function=lambda x: A @ x + 0.1 * bend * jnp.sin(x),
        dynamics_covariance=0.1 * jnp.eye(2),
        emission_function=lambda x: C @ x + bend * jnp.tanh(x[:1]),
        emission_covariance=0.05 * jnp.eye(1),
    )


def ours(p):
    """The model made of the functions of dynamax."""
    f, h = (jax.jit(jax.vmap(g)) for g in (p.dynamics_function, p.emission_function))
    return skh.gaussian_model(
        prior=(np.asarray(p.initial_mean), np.asarray(p.initial_covariance)),
        f=lambda t, x: np.asarray(f(x)),
        Q=np.asarray(p.dynamics_covariance),
        h=lambda t, x: np.asarray(h(x)),
        R=np.asarray(p.emission_covariance),
    )


def compare(bend):
    """Log-evidences of one series."""
    p = parameters(bend)
    model = ours(p)
    _, ys = model.simulate(50, rng=0)
    theirs = extended_kalman_filter(p, jnp.asarray(ys))
    large = skh.particle_filter(model, ys, skh.Systematic(), 20_000, rng=0)
    default = [float(skh.particle_filter(model, ys, n=50, rng=s).log_evidence) for s in range(5)]
    return {
        "extended Kalman": float(theirs.marginal_loglik),
        "bootstrap, N = 20,000": float(large.log_evidence),
        "default, N = 50": default,
    }


if __name__ == "__main__":
    print(json.dumps({"linear": compare(0.0), "nonlinear": compare(1.0)}))
