"""Calm and rough times: a level whose noise switches, and when it did, given all data.

A jump-Markov model: particles carry the probabilities of their modes, and smoothing gives those of
each time given all data.  For the first ten observations all sequences of modes can be summed
over: that is the exact answer.

    python examples/regimes.py --out .     # writes regimes.png; some seconds
"""

import argparse
from pathlib import Path

import numpy as np

import skh

EXACT_STEPS = 10  # two to this power are the sequences of modes


def switching_level(calm=0.1, rough=0.8):
    """A level with steps of two sizes, and a regime that stays with probability 0.95."""
    one = np.ones((2, 1, 1))
    Q = np.array([calm**2, rough**2]).reshape(2, 1, 1)
    stay = [[0.95, 0.05], [0.05, 0.95]]
    return skh.models.JumpMarkov(
        A=one,
        C=one,
        Q=Q,
        R=0.04 * one,
        switching=stay,
        initial_modes=[0.5, 0.5],
        initial_mean=np.zeros(1),
        initial_covariance=np.eye(1),
    )


def off_the_exact(model, ys, n=50):
    """Largest error of the smoothed means of the first observations, in standard deviations."""
    few = ys[:EXACT_STEPS]
    exact = skh.jump_markov_smoother(model, few)
    error = skh.smooth(model, few, n=n, rng=0).means - exact.means
    return float(np.abs(error[:, 0] / np.sqrt(exact.covariances[:, 0, 0])).max())


def main():
    """Draw the level and the probability of rough times; print how far from exact it is."""
    from matplotlib.figure import Figure

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path())
    parser.add_argument("--steps", type=int, default=150)
    options = parser.parse_args()
    model = switching_level()
    ys = model.simulate(options.steps, rng=4)[1]
    print(f"off the exact means: {off_the_exact(model, ys):.3f} standard deviations")
    smoothed = skh.smooth(model, ys, n=50, rng=0)
    figure = Figure((9.0, 4.6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    above.plot(ys[:, 0], ".", color="0.6", ms=4, label="observed")
    above.plot(smoothed.means[:, 0], color="C1", label="smoothed level")
    above.legend(frameon=False)
    below.fill_between(range(len(ys)), smoothed.z_means[:, 1], color="C0", alpha=0.5, lw=0)
    below.set(xlabel="time", ylabel="P(rough)", ylim=(0, 1))
    options.out.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out / "regimes.png", dpi=100)


if __name__ == "__main__":
    main()
