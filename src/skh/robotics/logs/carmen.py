r"""Logs of CARMEN, and of the Wean Hall dialect: odometry and laser scans, one message per line.

    ODOM x y theta tv rv accel time host logger_time
    FLASER n r_1 .. r_n x y theta odom_x odom_y odom_theta time host logger_time
    RAWLASER1 type start field resolution longest accuracy remission n r_1 .. m e_1 .. time host ..
    ROBOTLASER1 (as RAWLASER1 up to e_m) laser_x laser_y laser_theta x y theta .. time host ..
    TRUEPOS x y theta odom_x odom_y odom_theta time host logger_time
    PARAM name value
    O x y theta time                                              (Wean Hall: centimetres)
    L x y theta laser_x laser_y laser_theta r_1 .. r_k time       (Wean Hall: centimetres)

Other messages are skipped.  Where the poses of the laser and of the robot differ by a fixed mount,
that is the laser's; where they differ by more and more, as in logs corrected by a mapping program,
the first are poses of the robot on the map and become ``truth``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from skh._typing import Array
from skh.geometry.charts import wrap
from skh.robotics.logs.carmen_messages import Message, Messages, messages_of
from skh.robotics.logs.readings import Odometry, PlanarPath, Scans, relative_poses
from skh.robotics.logs.time_order import disorder_notes, in_order, last_of_equal

FARTHEST_MOUNT = 2.0  # metres between a laser and the middle of its robot
LISTED_KINDS, LISTED_LENGTH = 8, 20  # kinds of lines, and letters of each, in an error
MOUNT_SPREAD = 0.02  # metres and radians: differences of poses that are a fixed mount
LASERS = ("FLASER", "ROBOTLASER1", "RAWLASER1", "L")  # by preference
P = TypeVar("P", bound=PlanarPath)


@dataclass(frozen=True, eq=False)
class CarmenLog:
    """Odometry and scans of a log."""

    odometry: Odometry  # of the lines ODOM or O, else of the scans
    scans: Scans
    truth: PlanarPath | None  # of TRUEPOS, or of poses corrected by a mapping program
    notes: tuple[str, ...] = ()


def read_carmen_log(path: str | Path, laser: str | None = None) -> CarmenLog:
    """Read a log, which may be compressed by gzip.

    ``laser`` names the messages to take as scans, such as "FLASER" or "RLASER"; by default the
    first of FLASER, ROBOTLASER1, RAWLASER1 and L that the log has.
    """
    found = messages_of(path)
    name = _laser(path, found, laser)
    scans, corrected, notes = _scans(path, found.of(name), name, found.parameters)
    poses = [m for m in found.of("ODOM") + found.of("O") if m.pose is not None]
    odometry, more = _path(path, poses, "poses by odometry", Odometry)
    if odometry is None:
        odometry = scans.odometry
    if odometry is None:
        raise ValueError(f"{path} must have lines ODOM, or scans with poses, got only {name}")
    truth, most = _path(path, found.of("TRUEPOS"), "true poses", PlanarPath)
    return CarmenLog(odometry, scans, truth or corrected, (*notes, *more, *most))


def _laser(path: str | Path, found: Messages, laser: str | None) -> str:
    """Name of the messages to take as scans."""
    names = LASERS if laser is None else (laser,)
    present = [name for name in names if found.of(name)]
    if not present:
        raise ValueError(
            f"{path} must be a CARMEN log with lines {' or '.join(names)}, got lines: "
            f"{_listed(sorted(found.kinds))}"
        )
    return present[0]


def _listed(kinds: list[str]) -> str:
    """The first kinds of lines: a foreign file has as many as lines."""
    shown = [kind[:LISTED_LENGTH] for kind in kinds[:LISTED_KINDS]]
    more = len(kinds) - len(shown)
    return (", ".join(shown) or "none") + (f" and {more} others" if more else "")


def _scans(
    path: str | Path, messages: list[Message], name: str, parameters: dict[str, str]
) -> tuple[Scans, PlanarPath | None, tuple[str, ...]]:
    """Scans of the messages, and the poses of the robot on a map if the log has them."""
    counts = np.array([len(m.ranges) for m in messages])
    if (counts != counts[0]).any():
        wrong = messages[int((counts != counts[0]).argmax())]
        raise ValueError(
            f"{path}, line {wrong.line}: all scans must have {counts[0]} ranges as the first, "
            f"got {len(wrong.ranges)}"
        )
    times = np.array([m.time for m in messages])
    order = in_order(times, str(path))
    notes = disorder_notes(times, order, "scans")
    kept = [messages[i] for i in order[last_of_equal(times[order])]]
    mount, corrected = _mount(kept, name, parameters)
    poses = None if kept[0].pose is None else np.array([m.pose for m in kept])
    t = np.array([m.time for m in kept])
    longest = kept[0].longest or _number(parameters, "robot_front_laser_max")
    ranges = np.array([m.ranges for m in kept])
    scans = Scans(t, ranges, _angles(kept[0], name, parameters), mount, poses, longest)
    return scans, None if corrected is None else PlanarPath(t, corrected), notes


def _angles(message: Message, name: str, parameters: dict[str, str]) -> Array:
    """Angles of the beams; a resolution among the parameters counts if they are no half circle."""
    side = "rear" if name == "RLASER" else "front"
    degrees = _number(parameters, f"laser_{side}_laser_resolution")
    n = len(message.ranges)
    if name not in ("FLASER", "RLASER") or degrees is None or abs(n * degrees - 180) <= 2 * degrees:
        return message.angles
    return np.asarray(np.deg2rad(degrees) * (np.arange(n) - (n - 1) / 2))


def _mount(
    messages: list[Message], name: str, parameters: dict[str, str]
) -> tuple[tuple[float, float, float], Array | None]:
    """Pose of the laser on the robot, and corrected poses of the robot if they are in its place."""
    rear = name == "RLASER"
    offset = _number(parameters, f"robot_{'rear' if rear else 'front'}laser_offset") or 0.0
    plain = (-offset, 0.0, np.pi) if rear else (offset, 0.0, 0.0)
    if messages[0].pose is None or messages[0].laser_pose is None:
        return plain, None
    lasers = np.array([m.laser_pose for m in messages])
    relative = relative_poses(np.array([m.pose for m in messages]), lasers)
    middle = np.median(relative, axis=0)
    middle[2] = relative[0, 2] + np.median(wrap(relative[:, 2] - relative[0, 2]))
    apart = relative - middle
    apart[:, 2] = wrap(apart[:, 2])
    if abs(apart).max() < MOUNT_SPREAD and np.hypot(*middle[:2]) < FARTHEST_MOUNT:
        if abs(middle).max() < 1e-9:  # the log gives the robot's pose twice
            return plain, None
        return (float(middle[0]), float(middle[1]), float(wrap(middle[2]))), None
    return plain, lasers


def _number(parameters: dict[str, str], name: str) -> float | None:
    """A positive parameter of the log, None if it is missing or not a positive number."""
    try:
        value = float(parameters[name])
    except (KeyError, ValueError):
        return None
    return value if 0 < value < np.inf else None


def _path(
    path: str | Path, messages: Iterable[Message], name: str, kind: type[P]
) -> tuple[P | None, tuple[str, ...]]:
    """Poses of messages in order of time; the last one counts where several have the same time."""
    rows = [(m.time, *m.pose) for m in messages if m.pose is not None]
    if not rows:
        return None, ()
    table = np.array(rows)
    order = in_order(table[:, 0], str(path))
    kept = table[order][last_of_equal(table[order, 0])]
    return kind(kept[:, 0], kept[:, 1:]), disorder_notes(table[:, 0], order, name)
