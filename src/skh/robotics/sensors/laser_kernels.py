"""Compiled densities of laser scans: beams cast on a grid, and end points on a distance field."""

from __future__ import annotations

from math import cos, erf, exp, expm1, hypot, inf, log, pi, sin, sqrt

from skh._numba.compiling import compiled
from skh.models.robot_sensors.kernels import cast_beam


@compiled
def hit_density(z, expected, sigma, longest):
    """Normal density about the expected range, on [0, longest]."""
    e = (z - expected) / sigma
    inside = 0.5 * (erf((longest - expected) / sigma / sqrt(2.0)) + erf(expected / sigma / sqrt(2)))
    return exp(-0.5 * e * e) / (sqrt(2.0 * pi) * sigma * inside)


@compiled
def beam_densities(z, expected, z_hit, z_short, z_max, z_rand, sigma, decay, longest):
    """Return the density of a range and its part of hits; at ``longest`` a probability."""
    if z >= longest:
        return z_max, 0.0
    hit = z_hit * hit_density(z, expected, sigma, longest)
    rest = z_rand / longest
    within = -expm1(-decay * expected)
    if z < expected and within > 0.0:
        rest += z_short * decay * exp(-decay * z) / within
    return hit + rest, hit


@compiled
def log_or_minus_infinity(density):
    """Logarithm; that of zero is -inf, also where Python runs it."""
    return log(density) if density > 0.0 else -inf


@compiled
def beam_log_likelihoods(values, occupied, places, headings, angles, ranges, scale, parameters):
    """Set ``values`` (n,) for a scan seen from ``places`` (n, 2), (column, row) in cells.

    ``parameters`` are z_hit, z_short, z_max, z_rand, sigma_hit, lambda_short and the longest range;
    ``scale`` is the side of a cell.
    """
    z_hit, z_short, z_max, z_rand, sigma, decay, longest = parameters
    for i in range(len(places)):
        total = 0.0
        for k in range(len(angles)):
            angle = headings[i] + angles[k]
            way = cast_beam(
                *(occupied, places[i, 0], places[i, 1], cos(angle), sin(angle)), longest / scale
            )
            density, _ = beam_densities(
                *(ranges[k], scale * way, z_hit, z_short, z_max, z_rand, sigma, decay, longest)
            )
            total += log_or_minus_infinity(density)
        values[i] = total


@compiled
def hit_shares(shares, expected, ranges, parameters):
    """Set ``shares`` (n, k): probabilities that ranges (k,) are hits, given those expected."""
    z_hit, z_short, z_max, z_rand, sigma, decay, longest = parameters
    for i in range(expected.shape[0]):
        for k in range(expected.shape[1]):
            density, hit = beam_densities(
                *(ranges[k], expected[i, k], z_hit, z_short, z_max, z_rand, sigma, decay, longest)
            )
            shares[i, k] = hit / density if density > 0.0 else 0.0


@compiled
def interpolated(table, column, row):
    """Bilinear interpolation between the centres of cells; outside, the nearest."""
    rows, columns = table.shape
    u = min(max(column - 0.5, 0.0), columns - 1.0)
    v = min(max(row - 0.5, 0.0), rows - 1.0)
    j, i = min(int(u), max(columns - 2, 0)), min(int(v), max(rows - 2, 0))
    a, b = u - j, v - i
    right, up = min(j + 1, columns - 1), min(i + 1, rows - 1)
    low = (1.0 - a) * table[i, j] + a * table[i, right]
    return (1.0 - b) * low + b * ((1.0 - a) * table[up, j] + a * table[up, right])


@compiled
def distance_at(distances, column, row, scale):
    """Distance to the nearest obstacle; outside of the map, on by the way back to it."""
    rows, columns = distances.shape
    across = max(0.0, -column, column - columns)
    down = max(0.0, -row, row - rows)
    return interpolated(distances, column, row) + scale * hypot(across, down)


@compiled
def end_distances(out, distances, cells, scale):
    """Set ``out`` (m,) to the distances at ``cells`` (m, 2), (column, row)."""
    for k in range(len(cells)):
        out[k] = distance_at(distances, cells[k, 0], cells[k, 1], scale)


@compiled
def field_log_likelihoods(values, distances, places, headings, angles, ranges, scale, parameters):
    """Set ``values`` (n,) for the end points of beams on a field of ``distances`` in metres.

    ``parameters`` are the peak of the density of hits, sigma_hit, the floor of random ranges and
    the largest distance.
    """
    peak, sigma, rest, farthest = parameters
    for i in range(len(places)):
        total = 0.0
        for k in range(len(angles)):
            angle, way = headings[i] + angles[k], ranges[k] / scale
            column, row = places[i, 0] + way * cos(angle), places[i, 1] + way * sin(angle)
            e = min(distance_at(distances, column, row, scale), farthest) / sigma
            total += log_or_minus_infinity(peak * exp(-0.5 * e * e) + rest)
        values[i] = total
