"""How to see that a filter is lost: signs of it, measured on a robot behind the wrong door.

A robot drives along a corridor and sees the doors beside it, which all look the same: every 6 m, up
to one that is 9 m from the next.  A detection is false in 5% of the cases.  The lost filter starts
6 m too far, one door ahead.  Each sign gets the threshold that 1% of the filters with the right
start exceed on one set of drives; on another set, the program counts the alarms of both.

    python examples/lost.py     # prints a table; two to three minutes
"""

import argparse

import numpy as np

import skh

DOORS = np.array([3.0, 9.0, 15.0, 21.0, 27.0, 36.0, 42.0])  # m along the corridor
START, AHEAD = 4.0, 6.0  # m; the lost filter starts AHEAD of the robot
SPEED, WHEELS = 0.25, 0.02  # m per step, and its noise
VIEW, NOISE = 2.0, 0.05  # m: how far a door is seen, and how exactly
MISSED, FALSE = 0.1, 0.05
WINDOW = 20  # steps, 5 m
MOMENTS = {"equal doors": 80, "past the odd one": 104}  # after how many steps to ask
FAR = 1.5  # m: a filter farther from the robot is lost
ELSEWHERE = "weight that a wide restart gives to other places"
RULE, N = skh.Smoothed(skh.Matched(skh.QuasiMonteCarlo())), 50


def nearest(x):
    """The offset of the nearest door from each position."""
    offsets = DOORS - np.asarray(x)[..., None]
    return np.take_along_axis(offsets, np.abs(offsets).argmin(-1)[..., None], -1)[..., 0]


def log_likelihood(t, x, y):
    """The log-density of what is seen: no door, y of shape (0,), or one at an offset, (1,)."""
    offset = nearest(x[:, 0])
    in_view = np.abs(offset) < VIEW
    if len(y) == 0:
        return np.log(np.where(in_view, MISSED, 1 - FALSE))
    at_door = np.exp(-0.5 * ((y[0] - offset) / NOISE) ** 2) / (NOISE * np.sqrt(2 * np.pi))
    anywhere = FALSE / (2 * VIEW)
    return np.log(np.where(in_view, (1 - MISSED - FALSE) * at_door + anywhere, anywhere))


def robot(prior):
    """The model, from a start or from a mixture of many."""
    return skh.model_from_functions(prior, lambda t, x: (x + SPEED, WHEELS**2), log_likelihood)


def drive(T, rng):
    """Simulate what a robot sees in T steps."""
    x = START + np.cumsum(SPEED + WHEELS * rng.standard_normal(T)) - SPEED
    return [see(place, rng) for place in x]


def see(x, rng):
    """A door, nothing, or a false sighting."""
    offset, chance = nearest(x), rng.random()
    if chance < FALSE:
        return rng.uniform(-VIEW, VIEW, 1)
    missed = chance < FALSE + MISSED
    return np.array([] if missed or abs(offset) > VIEW else [offset + NOISE * rng.normal()])


EVERYWHERE = robot(skh.GaussianMixture(np.ones(45), np.arange(45.0)[:, None], 0.25))


def follow(sightings, start, rng):
    """Filter a drive from a start."""
    return skh.particle_filter(robot((start, 0.04)), sightings, RULE, N, rng=rng)


def restart(sightings, rng):
    """Filter the last steps from anywhere; return the log-evidence and the last belief."""
    rule = skh.QuasiMonteCarlo()
    result = skh.particle_filter(EVERYWHERE, sightings, rule, 500, rng=rng, history=True)
    return result.log_evidence, result.history[-1]


def signs(result, sightings, t, rng):
    """The signs at time t, each the larger the more likely the filter is lost."""
    window = slice(t - WINDOW, t)
    evidence = result.log_evidence_increments[window]
    anew, belief = restart(sightings[window], rng)
    elsewhere = belief.w[np.abs(belief.x[:, 0] - result.means[t - 1, 0]) > FAR].sum()
    other = follow(sightings[:t], result.means[0, 0], rng)
    apart = abs(other.means[-1, 0] - result.means[t - 1, 0])
    return {
        "ESS of the step, low": -result.ess[t - 1],
        "log-evidence of the step, low": -evidence[-1],
        "mean log-evidence of 20 steps, low": -evidence.mean(),
        "median squared innovation of 20 steps": np.median(innovations(result, sightings, window)),
        "a wide restart explains 20 steps better": anew - evidence.sum(),
        "a second filter from the same start differs": apart,
        ELSEWHERE: elsewhere,
    }


def innovations(result, sightings, window):
    """Squared differences of sightings from those predicted, in units of their variance."""
    before = slice(window.start - 1, window.stop - 1)
    means, variances = result.means[before, 0] + SPEED, result.covariances[before, 0, 0] + WHEELS**2
    found = [
        (y[0] - nearest(m)) ** 2 / (NOISE**2 + v)
        for y, m, v in zip(sightings[window], means, variances, strict=True)
        if len(y)
    ]
    return found or [0.0]


def study(drives, t, start, seed):
    """The signs at time t in a number of drives, and the ESS and log-evidence of their steps."""
    found, steps = [], []
    for k in range(drives):
        rng = np.random.default_rng([seed, k])
        sightings = drive(t, rng)
        result = follow(sightings, start, rng)
        found.append(signs(result, sightings, t, rng))
        steps.append([result.ess[-WINDOW:], result.log_evidence_increments[-WINDOW:]])
    return {name: np.array([each[name] for each in found]) for name in found[0]}, np.array(steps)


def alarms(drives, t):
    """For each sign, the shares of alarms with the right start and one door ahead.

    The last row is a mean, not a share of alarms.
    """
    others, _ = study(drives, t, START, 0)
    right, usual = study(drives, t, START, 1)
    lost, ahead = study(drives, t, START + AHEAD, 1)
    limits = {name: np.quantile(values, 0.99) for name, values in others.items()}
    shares = {n: ((right[n] > x).mean(), (lost[n] > x).mean()) for n, x in limits.items()}
    shares[ELSEWHERE] = right[ELSEWHERE].mean(), lost[ELSEWHERE].mean()
    return shares, usual.mean(axis=(0, 2)), ahead.mean(axis=(0, 2))


def seeds_that_differ(drives, t):
    """Whether two filters that start anywhere differ, by whether the first is lost."""
    differ = {"right": [], "lost": []}
    for k in range(drives):
        rng = np.random.default_rng([2, k])
        sightings = drive(t, rng)
        first, second = (
            skh.particle_filter(EVERYWHERE, sightings, skh.QuasiMonteCarlo(), 4 * N, rng=rng)
            for _ in range(2)
        )
        place = first.means[-1, 0]
        is_lost = abs(place - START - SPEED * (t - 1)) > FAR
        differ["lost" if is_lost else "right"].append(abs(place - second.means[-1, 0]) > FAR)
    return differ


def main():
    """Print the alarms at each moment."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--drives", type=int, default=200)
    options = parser.parse_args()
    for moment, t in MOMENTS.items():
        shares, usual, ahead = alarms(options.drives, t)
        print(f"{moment}: mean ESS {usual[0]:.0f} with the right start, {ahead[0]:.0f} if lost;")
        print(f"mean log-evidence of a step {usual[1]:.2f} and {ahead[1]:.2f}")
        print(f"{'share of alarms':48s} right  lost")
        for name, (false, true) in shares.items():
            print(f"{name:48s} {false:5.0%} {true:5.0%}")
        print()
    print("two seeds, start anywhere; how often they end more than 1.5 m apart")
    for kind, differ in seeds_that_differ(options.drives, max(MOMENTS.values())).items():
        print(f"{kind:6s} {len(differ):4d} filters {np.mean(differ):5.0%}")


if __name__ == "__main__":
    main()
