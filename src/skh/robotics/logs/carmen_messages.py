"""The lines of a CARMEN log, each parsed on its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import pi
from pathlib import Path

import numpy as np

from skh._typing import Array
from skh.robotics.logs.text_lines import numbers, text_of

Pose3 = tuple[float, ...]
CENTIMETRES = np.array([0.01, 0.01, 1.0])  # of poses in the Wean Hall dialect
HALF_CIRCLE = pi  # field of view of scans whose angles are not in the log


@dataclass(frozen=True, eq=False)
class Message:
    """One line: a pose by odometry, a scan, or both."""

    line: int
    time: float
    pose: Pose3 | None = None  # of the robot
    laser_pose: Pose3 | None = None
    ranges: Array = field(default_factory=lambda: np.empty(0))
    angles: Array = field(default_factory=lambda: np.empty(0))
    longest: float | None = None


@dataclass
class Messages:
    """The messages of a log by name, and its parameters."""

    kinds: dict[str, list[Message]] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)

    def of(self, name: str) -> list[Message]:
        """Messages with this name."""
        return self.kinds.get(name, [])


def messages_of(path: str | Path) -> Messages:
    """Parse all lines of a log; a ValueError names a malformed line."""
    found = Messages()
    for i, line in enumerate(text_of(path).splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] == "PARAM" and len(words) > 2:
            found.parameters[words[1]] = words[2]
            continue
        parse = PARSERS.get(words[0])
        parsed = [parse(words, i, f"{path}, line {i} ({words[0]})")] if parse else []
        found.kinds.setdefault(words[0], []).extend(parsed)
    return found


def _odom(words: list[str], line: int, where: str) -> Message:
    expected = "'ODOM x y theta tv rv accel time ..'"
    row = _numbers(words[1:8], 7, where, expected)
    return Message(line, row[6], pose=tuple(row[:3]))


def _true_position(words: list[str], line: int, where: str) -> Message:
    row = _numbers(words[1:8], 7, where, "'TRUEPOS x y theta odom_x odom_y odom_theta time ..'")
    return Message(line, row[6], pose=tuple(row[:3]))


def _front_laser(words: list[str], line: int, where: str) -> Message:
    expected = f"'{words[0]} n r_1 .. r_n x y theta odom_x odom_y odom_theta time ..'"
    n = _count(words, 1, where, expected)
    row = _numbers(words[2 : n + 9], n + 7, where, expected)
    return Message(
        line,
        row[n + 6],
        pose=tuple(row[n + 3 : n + 6]),
        laser_pose=tuple(row[n : n + 3]),
        ranges=_ranges(row[:n], where),
        angles=half_circle(n),
    )


def _raw_laser(words: list[str], line: int, where: str) -> Message:
    laser, row = _laser_fields(words, where, tail=1)
    return Message(line, row[0], **laser)


def _robot_laser(words: list[str], line: int, where: str) -> Message:
    laser, row = _laser_fields(words, where, tail=12)
    return Message(line, row[11], laser_pose=tuple(row[:3]), pose=tuple(row[3:6]), **laser)


def _laser_fields(words: list[str], where: str, tail: int) -> tuple[dict, list[float]]:  # type: ignore[type-arg]
    """Ranges, angles and longest range of a RAWLASER or ROBOTLASER, and the numbers after them."""
    expected = (
        f"'{words[0]} type start field resolution longest accuracy remission n r_1 .. r_n m "
        "e_1 .. e_m .. time ..'"
    )
    head = _numbers(words[1:8], 7, where, expected)
    n = _count(words, 8, where, expected)
    m = _count(words, 9 + n, where, expected, least=0)
    ranges = _numbers(words[9 : 9 + n], n, where, expected)
    end = 10 + n + m
    laser = {
        "ranges": _ranges(ranges, where),
        "angles": head[1] + head[3] * np.arange(n),
        "longest": head[4] if head[4] > 0 else None,
    }
    return laser, _numbers(words[end : end + tail], tail, where, expected)


def _wean_pose(words: list[str], line: int, where: str) -> Message:
    row = _numbers(words[1:], 4, where, "'O x y theta time'")
    return Message(line, row[3], pose=tuple(CENTIMETRES * row[:3]))


def _wean_scan(words: list[str], line: int, where: str) -> Message:
    expected = "'L x y theta laser_x laser_y laser_theta r_1 .. r_k time'"
    row = numbers(words[1:], where, expected)
    if len(row) < 8:
        raise ValueError(f"{where} must be {expected}, got {len(row)} numbers")
    return Message(
        line,
        row[-1],
        pose=tuple(CENTIMETRES * row[:3]),
        laser_pose=tuple(CENTIMETRES * row[3:6]),
        ranges=0.01 * _ranges(row[6:-1], where),
        angles=half_circle(len(row) - 7),
    )


def half_circle(n: int) -> Array:
    """Angles of n beams from right to left: with an even number, the one at the left is missing.

    >>> half_circle(3), half_circle(2)
    (array([-1.57079633,  0.        ,  1.57079633]), array([-1.57079633,  0.        ]))
    """
    return -HALF_CIRCLE / 2 + HALF_CIRCLE / max(n - n % 2, 1) * np.arange(n, dtype=np.float64)


def _ranges(values: list[float], where: str) -> Array:
    array = np.array(values)
    if (array < 0).any():
        raise ValueError(f"{where}: ranges must not be negative, got {array.min()}")
    return array


def _numbers(words: list[str], count: int, where: str, expected: str) -> list[float]:
    if len(words) < count:
        raise ValueError(f"{where} must be {expected}, got {len(words)} of {count} numbers")
    if len(words) > count:
        raise ValueError(f"{where} must be {expected}, got {len(words)} words")
    return numbers(words, where, expected)


def _count(words: list[str], place: int, where: str, expected: str, least: int = 1) -> int:
    """A number of readings; it must not be more than the words that follow."""
    word = words[place] if place < len(words) else "nothing"
    if not word.isdecimal() or int(word) < least:
        raise ValueError(f"{where} must be {expected}, got {word!r} for the number of readings")
    if int(word) > len(words) - place - 1:
        raise ValueError(
            f"{where} must be {expected}, got {len(words) - place - 1} words after {word} readings "
            "were announced"
        )
    return int(word)


PARSERS: dict[str, Callable[[list[str], int, str], Message]] = {
    "ODOM": _odom,
    "TRUEPOS": _true_position,
    "FLASER": _front_laser,
    "RLASER": _front_laser,
    "O": _wean_pose,
    "L": _wean_scan,
    **{f"RAWLASER{i}": _raw_laser for i in range(1, 6)},
    **{f"ROBOTLASER{i}": _robot_laser for i in range(1, 6)},
}
