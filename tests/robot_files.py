"""Small logs and maps in the formats that `skh.robotics` reads."""

import gzip
import struct

import numpy as np
from scipy.io import savemat

from skh.robotics.controls import dead_reckoned

LANDMARKS = np.array([[3.0, 1.0], [0.0, 3.0], [-2.0, -1.0], [2.0, -2.0]])


def box_map(size=40, resolution=0.1):
    """A room with walls and a pillar: True where occupied, rows along y."""
    occupied = np.zeros((size, size + 10), dtype=bool)
    occupied[[0, -1]] = occupied[:, [0, -1]] = True
    occupied[size // 2 : size // 2 + 4, size - 8 : size - 4] = True
    return occupied


def wean_map(path, occupied, unknown=None, free_is_one=True):
    """Write the text of a CARMEN map: one line per x of ``occupied``, whose rows are along y."""
    cells = np.where(occupied, 0.0, 1.0) if free_is_one else np.where(occupied, 1.0, 0.0)
    if unknown is not None:
        cells[unknown] = -1.0
    columns, rows = cells.T.shape
    lines = [
        "robot_specifications->global_mapsize_x                 5000",
        "robot_specifications->resolution                       10",
        "",
        f"global_map[0]: {columns} {rows}",
        *(" ".join(f"{c:.3f}" for c in column) for column in cells.T),
    ]
    text = "\n".join(lines) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def binary_map(path, probabilities, resolution=0.1, kind="f", named=b""):
    """Write a binary CARMEN map; ``probabilities`` have rows along y."""
    rows, columns = probabilities.shape
    head = struct.pack("<ii" + kind, columns, rows, resolution)
    cells = np.ascontiguousarray(probabilities.T, dtype="<f4" if kind == "f" else "<f8").tobytes()
    body = (named + b"\0" if named else b"") + head + cells
    creator = b"\x20" + struct.pack("<i", 20) + b"CREATOR   " + b"x" * 10
    chunk = bytes([129 if named else 1]) + struct.pack("<i", 10 + len(body)) + b"GRIDMAP   " + body
    path.write_bytes(gzip.compress(b"# a map\n" + b"CARMENMAPFILEv020" + creator + chunk))
    return path


def ros_map(folder, image, text="resolution: 0.05\norigin: [-1.0, -2.0, 0.0]\nnegate: 0\n", **keys):
    """Write a yaml file and a PGM image (P5); ``keys`` are further lines."""
    rows, columns = image.shape
    (folder / "map.pgm").write_bytes(
        b"P5\n# made by hand\n%d %d\n255\n" % (columns, rows) + image.astype(np.uint8).tobytes()
    )
    lines = ["image: map.pgm", text.strip(), *(f"{key}: {value}" for key, value in keys.items())]
    path = folder / "map.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


def circle_drive(T=30, dt=0.2, forward=0.5, turning=0.3):
    """Times, velocities and poses of a robot that drives on a circle from (0, 0, 0)."""
    times = dt * np.arange(T)
    v, w = np.full(T, forward), np.full(T, turning)
    return times, v, w, dead_reckoned(np.diff(times), v[:-1], w[:-1])


def seen(pose, landmark, offset=0.0):
    """Range and bearing of a landmark from a pose."""
    x, y = landmark - pose[:2] - offset * np.array([np.cos(pose[2]), np.sin(pose[2])])
    return np.hypot(x, y), (np.arctan2(y, x) - pose[2] + np.pi) % (2 * np.pi) - np.pi


def mrclam(folder, T=30, start=1_248_446_188.0):
    """Write a MRCLAM data set of one robot, whose landmarks 6 to 9 have barcodes 60 to 63."""
    times, v, w, poses = circle_drive(T)
    head = "# UTIAS\n# by\n# format\n# columns\n"

    def write(name, rows):
        lines = (" \t".join(f"{value:.9g}" for value in row) for row in rows)
        (folder / name).write_text(head + "\n".join(lines) + "\n")

    def stamped(rows):
        return [[f"{start + row[0]:.3f}", *row[1:]] for row in rows]

    def write_stamped(name, rows):
        lines = (" \t".join(str(value) for value in row) for row in stamped(rows))
        (folder / name).write_text(head + "\n".join(lines) + "\n")

    rng = np.random.default_rng(0)
    folder.mkdir(exist_ok=True)
    write("Barcodes.dat", [[1, 5], [2, 14], *([6 + k, 60 + k] for k in range(4))])
    write("Landmark_Groundtruth.dat", [[6 + k, *p, 1e-4, 1e-4] for k, p in enumerate(LANDMARKS)])
    write_stamped("Robot1_Odometry.dat", np.column_stack([times, v, w]).tolist())
    write_stamped("Robot1_Groundtruth.dat", np.column_stack([times, poses]).tolist())
    rows = []
    for k in range(1, T, 2):
        for j in (k % 4, (k + 1) % 4):
            r, b = seen(poses[k], LANDMARKS[j])
            rows.append([times[k], 60 + j, r + 0.05 * rng.normal(), b + 0.01 * rng.normal()])
    rows.append([times[-1], 14, 1.0, 0.0])  # another robot
    rows.append([times[-1], 99, 1.0, 0.0])  # a barcode that nobody has
    write_stamped("Robot1_Measurement.dat", rows)
    return folder


def landmark_mat(path, T=30, **changes):
    """Write a log in the fields of "Lost in the Woods"."""
    times, v, w, poses = circle_drive(T)
    rng, offset = np.random.default_rng(1), 0.2
    exact = np.array([[seen(p, mark, offset) for mark in LANDMARKS] for p in poses])
    r = exact[..., 0] + 0.03 * rng.standard_normal(exact.shape[:2])
    b = exact[..., 1] + 0.02 * rng.standard_normal(exact.shape[:2])
    hidden = rng.random(r.shape) < 0.4
    r[hidden] = b[hidden] = 0.0
    valid = np.ones((T, 1))
    valid[5] = 0
    fields = {
        **{"t": times[:, None], "v": v[:, None], "om": w[:, None], "r": r, "b": b},
        **{"l": LANDMARKS, "d": offset, "true_valid": valid},
        **{"x_true": poses[:, :1], "y_true": poses[:, 1:2], "th_true": poses[:, 2:]},
        **{"v_var": 0.004, "om_var": 0.008, "r_var": 0.0009, "b_var": 0.0004},
    }
    savemat(path, {k: v for k, v in {**fields, **changes}.items() if v is not None})
    return path


def stereo_mat(path, T=12, sign=1.0, **changes):
    """Write a log in the fields of "Starry Night": a camera moves before a wall of landmarks."""
    from scipy.spatial.transform import Rotation

    rng = np.random.default_rng(0)
    velocity, turns = np.tile([0.5, 0.1, 0.0], (T, 1)), np.tile([0.0, 0.0, 0.3], (T, 1))
    r, R = [np.zeros(3)], [Rotation.identity()]
    for k in range(T - 1):
        r.append(r[-1] + 0.1 * R[-1].apply(velocity[k]))
        R.append(R[-1] * Rotation.from_rotvec(0.1 * turns[k]))
    marks = rng.uniform([-1, -1, 2], [2, 1, 4], (20, 3))
    variances = np.array([38.0, 130.0, 42.0, 132.0])
    pixels = np.full((4, T, 20), -1.0)
    for k in range(T):
        x, y, z = R[k].inv().apply(marks - r[k]).T
        exact = np.stack([480 * x / z + 320, 480 * y / z + 240, 480 * (x - 0.24) / z + 320])
        exact = np.concatenate([exact, exact[1:2]])
        pixels[:, k] = exact + np.sqrt(variances)[:, None] * rng.standard_normal((4, 20))
        pixels[:, k, k % 3 :: 3] = -1.0
    pixels[:, 5] = -1.0
    fields = {
        "theta_vk_i": Rotation.concatenate(R).as_rotvec().T,
        "r_i_vk_i": np.array(r).T,
        "t": 0.1 * np.arange(T)[None],
        "v_vk_vk_i": velocity.T,
        "w_vk_vk_i": sign * turns.T,
        **{"v_var": np.full((3, 1), 0.01), "w_var": np.full((3, 1), 0.01), "y_var": variances},
        **{"rho_i_pj_i": marks.T, "y_k_j": pixels},
        **{"C_c_v": np.eye(3), "rho_v_c_v": np.zeros((3, 1))},
        **{"fu": 480.0, "fv": 480.0, "cu": 320.0, "cv": 240.0, "b": 0.24},
    }
    savemat(path, {k: v for k, v in {**fields, **changes}.items() if v is not None})
    return path


def scans_in(grid, poses, angles, mount=0.0, noise=0.02, seed=0):
    """Ranges (T, k) that a laser measures from poses of its robot."""
    rng = np.random.default_rng(seed)
    c, s = np.cos(poses[:, 2]), np.sin(poses[:, 2])
    lasers = poses + mount * np.column_stack([c, s, np.zeros(len(poses))])
    ranges = grid.ranges(lasers, angles, 20.0)
    return np.maximum(ranges + noise * rng.standard_normal(ranges.shape), 0.01), lasers


def wean_log(path, times, poses, lasers, ranges):
    """Write the Wean Hall dialect, in centimetres, with a line O before each L."""
    lines = []
    for t, p, q, r in zip(times, poses, lasers, ranges, strict=True):
        a, b = ([100 * v[0], 100 * v[1], v[2]] for v in (p, q))
        lines.append("O " + " ".join(f"{x:.6f}" for x in [*a, t - 0.01]))
        lines.append("L " + " ".join(f"{x:.6f}" for x in [*a, *b, *(100 * r), t]))
    text = "\n".join(lines) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def carmen_lines(times, poses, lasers, ranges):
    """Lines ODOM and FLASER of a standard log."""
    lines = ["# CARMEN Logfile", "PARAM robot_frontlaser_offset 0.1", "SYNC logger 1.0"]
    for t, p, q, r in zip(times, poses, lasers, ranges, strict=True):
        odom = " ".join(f"{x:.6f}" for x in [*p, 0.5, 0.1, 0.0, t])
        scan = " ".join(f"{x:.4f}" for x in [*r, *q, *p, t])
        lines += [f"ODOM {odom} host {t:.3f}", f"FLASER {len(r)} {scan} host {t:.3f}"]
    return lines
