"""Compiled ray casting: beams on a grid map, and pixels of a scene of boxes and spheres."""

from __future__ import annotations

from math import cos, floor, inf, sin, sqrt

from skh._numba.compiling import compiled


@compiled
def first_crossing(position, direction):
    """Way to the next grid line along one axis, and between two of them; in cells."""
    if direction > 0.0:
        return (floor(position) + 1.0 - position) / direction, 1.0 / direction
    if direction < 0.0:
        return (floor(position) - position) / direction, -1.0 / direction
    return inf, inf


@compiled
def cast_beam(occupied, column, row, dx, dy, longest):
    """Way from a place to the nearest occupied cell on a beam, in cells, at most ``longest``.

    Visits the cells on the beam one after the other.  Outside the map all cells are free.
    """
    i, j = floor(row), floor(column)
    to_column, columns = first_crossing(column, dx)
    to_row, rows = first_crossing(row, dy)
    across, down = (1 if dx > 0.0 else -1), (1 if dy > 0.0 else -1)
    way = 0.0
    while way < longest:
        if 0 <= i < occupied.shape[0] and 0 <= j < occupied.shape[1] and occupied[int(i), int(j)]:
            return way
        if to_column < to_row:
            way, to_column, j = to_column, to_column + columns, j + across
        else:
            way, to_row, i = to_row, to_row + rows, i + down
    return longest


@compiled
def cast_beams(ranges, occupied, places, headings, angles, longest):
    """Set ``ranges`` (n, k) from ``places`` (n, 2), (column, row), all in cells."""
    for a in range(len(places)):
        for b in range(len(angles)):
            angle = headings[a] + angles[b]
            ranges[a, b] = cast_beam(
                occupied, places[a, 0], places[a, 1], cos(angle), sin(angle), longest
            )


@compiled
def box_crossings(low, high, p, u):
    """Ways along a ray to where it enters and leaves a box; a miss enters after it leaves."""
    enter, leave = -inf, inf
    for k in range(3):
        if u[k] == 0.0:
            if p[k] < low[k] or p[k] > high[k]:
                return inf, -inf
            continue
        a, b = (low[k] - p[k]) / u[k], (high[k] - p[k]) / u[k]
        enter, leave = max(enter, min(a, b)), min(leave, max(a, b))
    return enter, leave


@compiled
def sphere_crossing(centre, radius, p, u):
    """Way along a ray of unit length to a sphere, infinite if it misses."""
    along, square = 0.0, 0.0
    for k in range(3):
        between = centre[k] - p[k]
        along += between * u[k]
        square += between * between
    inside = along * along - square + radius * radius
    if inside < 0.0 or along < 0.0:
        return inf
    return max(along - sqrt(inside), 0.0)


@compiled
def render(depths, positions, rays, room, boxes, spheres):
    """Set ``depths`` (n, k) along unit ``rays`` (k, 3) in a room with boxes and spheres.

    Rows of ``boxes`` are two corners (6,), of ``spheres`` centre and radius (4,).
    """
    for a in range(len(positions)):
        for b in range(len(rays)):
            p, u = positions[a], rays[b]
            nearest = max(box_crossings(room[:3], room[3:], p, u)[1], 0.0)
            for box in boxes:
                enter, leave = box_crossings(box[:3], box[3:], p, u)
                if enter <= leave and leave > 0.0:
                    nearest = min(nearest, max(enter, 0.0))
            for sphere in spheres:
                nearest = min(nearest, sphere_crossing(sphere[:3], sphere[3], p, u))
            depths[a, b] = nearest
