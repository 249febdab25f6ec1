"""Compiled sphere tracing in a voxel map of distances, and the errors of images so rendered.

All lengths are in voxels.  Every ray is traced alone and every sum runs over the pixels of one
image in their order, so results do not depend on how many poses are given at once.
"""

from __future__ import annotations

from math import log1p

import numpy as np

from skh._numba.compiling import compiled

TOUCHING = 0.01  # voxels; a ray nearer to a surface has arrived
MOST_MARCHES = 200  # of a ray; those along a wall take many


@compiled
def distance_at(distances, x, y, z):
    """Trilinear interpolation; places outside the map have the distance of its nearest cell."""
    a, b, c = distances.shape
    x = min(max(x, 0.0), a - 1.000001)
    y = min(max(y, 0.0), b - 1.000001)
    z = min(max(z, 0.0), c - 1.000001)
    i, j, k = int(x), int(y), int(z)
    x, y, z = x - i, y - j, z - k
    low = (1.0 - z) * distances[i, j, k] + z * distances[i, j, k + 1]
    right = (1.0 - z) * distances[i, j + 1, k] + z * distances[i, j + 1, k + 1]
    ahead = (1.0 - z) * distances[i + 1, j, k] + z * distances[i + 1, j, k + 1]
    both = (1.0 - z) * distances[i + 1, j + 1, k] + z * distances[i + 1, j + 1, k + 1]
    return (1.0 - x) * ((1.0 - y) * low + y * right) + x * ((1.0 - y) * ahead + y * both)


@compiled
def trace(distances, x, y, z, dx, dy, dz, farthest):
    """Way along a ray of unit length to the first surface, at most ``farthest``.

    Goes on by the distance to the nearest surface, which nothing on the ray can be nearer than.
    """
    way = 0.0
    for _ in range(MOST_MARCHES):
        free = distance_at(distances, x + way * dx, y + way * dy, z + way * dz)
        way += free
        if free < TOUCHING or way > farthest:
            break
    return min(max(way, 0.0), farthest)


@compiled
def turned(R, u):
    """The direction R u."""
    return (
        R[0, 0] * u[0] + R[0, 1] * u[1] + R[0, 2] * u[2],
        R[1, 0] * u[0] + R[1, 1] * u[1] + R[1, 2] * u[2],
        R[2, 0] * u[0] + R[2, 1] * u[1] + R[2, 2] * u[2],
    )


@compiled
def average_lines(result, image, half):
    """Average an image (rows, columns) along its rows over 2 half + 1 pixels, fewer at the ends."""
    rows, columns = image.shape
    for i in range(rows):
        for j in range(columns):
            first, last = max(j - half, 0), min(j + half, columns - 1)
            total = 0.0
            for k in range(first, last + 1):
                total += image[i, k]
            result[i, j] = total / (last + 1 - first)


@compiled
def average_windows(image, other, turned_image, turned_other, half):
    """Average an image twice over square windows, in place; the other arrays are for work."""
    average_lines(other, image, half)
    average_lines(image, other, half)
    turned_image[:] = image.T
    average_lines(turned_other, turned_image, half)
    average_lines(turned_image, turned_other, half)
    image[:] = turned_image.T


@compiled
def inverse_depths(image, distances, place, R, rays, forward, nearest, farthest):
    """Set the inverse depths of an image (rows, columns), 1 / (forward way), at one pose.

    ``forward`` (k,) is the length of a voxel on each ray along the optical axis.
    """
    rows, columns = image.shape
    x, y, z = place
    for i in range(rows):
        for j in range(columns):
            b = i * columns + j
            dx, dy, dz = turned(R, rays[b])
            way = trace(distances, x, y, z, dx, dy, dz, farthest)
            image[i, j] = 1.0 / (forward[b] * max(way, nearest))


@compiled
def render_all(images, distances, places, rotations, rays, forward, nearest, farthest, half):
    """Set ``images`` (n, rows, columns) at n poses, averaged over windows."""
    rows, columns = images.shape[1:]
    other, a, b = np.empty((rows, columns)), np.empty((columns, rows)), np.empty((columns, rows))
    for k in range(len(images)):
        image, R = images[k], rotations[k]
        inverse_depths(image, distances, places[k], R, rays, forward, nearest, farthest)
        average_windows(image, other, a, b, half)


@compiled
def image_errors(totals, images, y, scale, freedom):
    r"""Set ``totals`` (n,) to :math:`\sum \log(1 + r^2 / (\nu s^2))` over pixels but NaN."""
    for k in range(len(images)):
        image, total = images[k], 0.0
        for i in range(image.shape[0]):
            for j in range(image.shape[1]):
                residual = (y[i, j] - image[i, j]) / scale
                if residual == residual:
                    total += log1p(residual * residual / freedom)
        totals[k] = total
