"""Simulated drives of robots, for tests."""

import numpy as np

from skh.geometry import Pose


def simulated(motion, sensor, start, controls, chart, rng):
    """A path, and what the sensor observes from it."""
    states, ys = [start], [sensor.observe(start, rng)]
    stack = (
        (lambda s: s[None])
        if not isinstance(start, Pose)
        else (lambda s: Pose(*(a[None] for a in s)))
    )
    for control in controls:
        means, S = motion.move(stack(states[-1]), control)
        noise = np.linalg.cholesky(S[0] + 1e-15 * np.eye(len(S[0]))) @ rng.standard_normal(
            len(S[0])
        )
        mean = means[0] if not isinstance(start, Pose) else Pose(*(a[0] for a in means))
        states.append(chart.plus(mean, noise))
        ys.append(sensor.observe(states[-1], rng))
    return states, ys
