"""Counter-based random numbers: functions of a key and an index, so that threads share the work.

SplitMix64 (Steele, Lea and Flood 2014) scrambles a counter into 64 random bits; the ziggurat of
Marsaglia and Tsang (2000) turns them into normal numbers.  The area under exp(-x^2 / 2) is cut into
LAYERS of equal area: layer i > 0 is a rectangle ``EDGES[i]`` wide between the ``HEIGHTS`` i and
i + 1, layer 0 the lowest rectangle together with the tail beyond ``EDGES[1]``.  A point of a
random layer usually lies under the curve whatever its height.
"""

from __future__ import annotations

from math import erfc, exp, log, pi, sqrt

import numpy as np
from numba import prange

from skh._numba.compiling import compiled
from skh._numba.kernel_rows import BLOCK, count_blocks
from skh._typing import Array

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # step of the counter: 2^64 / golden ratio, made odd
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
BY_30, BY_27, BY_31, BY_11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
LAYERS = 256
LAYER_BITS = np.uint64(LAYERS - 1)
TAIL = 3.6541528853610088  # where the tail starts for 256 layers of equal area


def _ziggurat() -> tuple[Array, Array]:
    """Edges of the layers, decreasing, and exp(-x^2 / 2) at them."""
    edges = np.zeros(LAYERS + 1)
    area = TAIL * exp(-0.5 * TAIL**2) + sqrt(pi / 2) * erfc(TAIL / sqrt(2))
    edges[0], edges[1] = area / exp(-0.5 * TAIL**2), TAIL
    for i in range(2, LAYERS):
        edges[i] = sqrt(-2 * log(area / edges[i - 1] + exp(-0.5 * edges[i - 1] ** 2)))
    return edges, np.exp(-0.5 * edges**2)


EDGES, HEIGHTS = _ziggurat()


@compiled
def scrambled(counter):
    """The finaliser of SplitMix64: 64 random bits of a counter."""
    z = (counter ^ (counter >> BY_30)) * FIRST
    z = (z ^ (z >> BY_27)) * SECOND
    return z ^ (z >> BY_31)


@compiled
def random_bits(key, index):
    """The 64 random bits of a key and an index."""
    return scrambled(key + np.uint64(index + 1) * GOLDEN)


@compiled
def uniform(bits):
    """Uniform number in [0, 1) from the upper 53 bits."""
    return (bits >> BY_11) * 2.0**-53


@compiled
def normal(bits):
    """Standard normal number from 64 random bits; one in a hundred takes more bits."""
    while True:
        layer = np.intp(bits & LAYER_BITS)
        x = np.int64(bits) * 2.0**-63 * EDGES[layer]
        if abs(x) < EDGES[layer + 1]:
            return x
        bits = scrambled(bits + GOLDEN)
        if layer == 0:
            return tail(bits) if x > 0.0 else -tail(bits)
        height = HEIGHTS[layer] + uniform(bits) * (HEIGHTS[layer + 1] - HEIGHTS[layer])
        if height < exp(-0.5 * x * x):
            return x
        bits = scrambled(bits + GOLDEN)


@compiled
def tail(bits):
    """Normal number above TAIL, by rejection (Marsaglia 1964)."""
    while True:
        x = -log(1.0 - uniform(bits)) / TAIL
        bits = scrambled(bits + GOLDEN)
        if -2.0 * log(1.0 - uniform(bits)) >= x * x:
            return TAIL + x
        bits = scrambled(bits + GOLDEN)


@compiled
def fill_uniform(out, key):
    """Fill ``out`` with uniform numbers in [0, 1)."""
    for b in prange(count_blocks(out.size)):
        for i in range(b * BLOCK, min((b + 1) * BLOCK, out.size)):
            out[i] = uniform(random_bits(key, i))


@compiled
def fill_normal(out, key):
    """Fill ``out`` with standard normal numbers."""
    for b in prange(count_blocks(out.size)):
        for i in range(b * BLOCK, min((b + 1) * BLOCK, out.size)):
            out[i] = normal(random_bits(key, i))
