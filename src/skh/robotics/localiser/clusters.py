"""Clusters of a belief about poses: hypotheses with weight, mean and covariance."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import scipy  # imports its submodules on first use

from skh import _checks
from skh._typing import Array, Indices
from skh.geometry.charts import SE2
from skh.robotics.localiser.bins import Bins

NEGLIGIBLE = 1e-4  # weight of a cluster that is not returned


class Cluster(NamedTuple):
    """One hypothesis: its weight, mean pose (3,) and covariance (3, 3) of the increments."""

    weight: float
    mean: Array
    covariance: Array


def clusters_of(poses: Array, w: Array, bins: Bins | None = None) -> tuple[Cluster, ...]:
    """Return the clusters of weighted poses (n, 3), the heaviest first.

    Poses belong together if their boxes touch, at a corner at least, or are linked by such boxes.

    >>> poses = np.array([[0.0, 0.0, 3.1], [0.2, 0.0, -3.1], [5.0, 0.0, 0.0]])
    >>> found = clusters_of(poses, np.array([0.3, 0.3, 0.4]))
    >>> [(round(c.weight, 2), c.mean.round(2)) for c in found]
    [(0.6, array([0.1 , 0.  , 3.14])), (0.4, array([5., 0., 0.]))]
    """
    poses = _checks.points("poses", poses, 3)
    w = _checks.probabilities("w", w)
    _checks.same_length("w", w, "poses", len(poses))
    label = labels(poses, Bins() if bins is None else bins)
    total = np.bincount(label, w)
    heavy = [k for k in np.argsort(-total, kind="stable") if total[k] > NEGLIGIBLE]
    return tuple(_cluster(poses[label == k], w[label == k]) for k in heavy)


def _cluster(poses: Array, w: Array) -> Cluster:
    chart, weight = SE2(), float(w.sum())
    share = w / weight
    share /= share.sum()
    mean = chart.mean(poses, share)
    apart = chart.minus(poses, mean)
    return Cluster(weight, mean, (share * apart.T) @ apart)


def labels(poses: Array, bins: Bins) -> Indices:
    """Index of the cluster of each pose."""
    boxes, box = np.unique(bins.boxes(poses), axis=0, return_inverse=True)
    place = {tuple(b): i for i, b in enumerate(boxes.tolist())}
    links = []
    for dx, dy, dh in product((-1, 0, 1), repeat=3):
        if (dx, dy, dh) > (0, 0, 0):  # one of the two directions
            near = boxes + np.array([dx, dy, dh])
            near[:, 2] %= bins.headings
            found = [(i, place.get(tuple(b))) for i, b in enumerate(near.tolist())]
            links += [(i, j) for i, j in found if j is not None]
    rows, columns = np.array(links, dtype=np.intp).reshape(-1, 2).T
    shape = (len(boxes), len(boxes))
    graph = scipy.sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=shape)
    _, label = scipy.sparse.csgraph.connected_components(graph, directed=False)
    return np.asarray(label[box.ravel()])
