"""Small logs in the formats of the data sets, as `skh.reproduction` looks for them."""

import numpy as np
from scipy.io import savemat

from robot_files import stereo_mat

HEADER = "# made up\n" * 4
MARKS = np.array([[3.0, 2.0], [4.0, -1.0], [-1.0, 3.0], [1.0, -3.0]])


def write_stereo_log(folder, steps=14):
    """A camera that moves sideways before a wall of landmarks: starry_night/dataset3.mat."""
    (folder / "starry_night").mkdir()
    stereo_mat(folder / "starry_night" / "dataset3.mat", steps)


def driven(steps, dt):
    """Poses of a robot that drives an arc, and what it sees of `MARKS`."""
    turn = 0.2 * dt * np.arange(steps)
    poses = np.stack([5 * np.sin(turn), 5 - 5 * np.cos(turn), turn], axis=1)  # 1 m/s
    d = MARKS - poses[:, None, :2]
    bearings = np.arctan2(d[..., 1], d[..., 0]) - poses[:, 2:]
    return poses, np.hypot(d[..., 0], d[..., 1]), (bearings + np.pi) % (2 * np.pi) - np.pi


def write_mrclam(folder, steps=60):
    """A robot that sees two landmarks every fifth of its steps: mrclam/MRCLAM_Dataset7."""
    path, rng, times = folder / "mrclam" / "MRCLAM_Dataset7", np.random.default_rng(1), None
    path.mkdir(parents=True)
    times = 100.0 + 0.1 * np.arange(steps)
    poses, ranges, bearings = driven(steps, 0.1)
    seen = []
    for k in range(0, steps, 5):
        for j in (k // 5 % 4, (k // 5 + 1) % 4):
            noise = (0.05, 0.01) * rng.standard_normal(2)
            seen.append((times[k], 60 + j, ranges[k, j] + noise[0], bearings[k, j] + noise[1]))
    tables = {
        "Barcodes": [(6 + j, 60 + j) for j in range(4)],
        "Landmark_Groundtruth": [(6 + j, *MARKS[j], 0.001, 0.001) for j in range(4)],
        "Robot1_Odometry": [(t, 1.0, 0.2) for t in times],
        "Robot1_Measurement": seen,
        "Robot1_Groundtruth": np.column_stack([times, poses]),
    }
    for name, rows in tables.items():
        lines = "\n".join(" ".join(f"{value:.10g}" for value in row) for row in rows)
        (path / f"{name}.dat").write_text(HEADER + lines + "\n")


def write_woods(folder, steps=80):
    """A robot whose laser, 0.2 m ahead, sees all landmarks: lost_in_the_woods/dataset2.mat."""
    rng, (poses, _, _) = np.random.default_rng(2), driven(steps, 0.1)
    ahead = np.stack([np.cos(poses[:, 2]), np.sin(poses[:, 2])], axis=1)
    d = MARKS - (poses[:, :2] + 0.2 * ahead)[:, None]
    bearings = np.arctan2(d[..., 1], d[..., 0]) - poses[:, 2:]
    column = np.ones((steps, 1))
    fields = {
        "t": 0.1 * np.arange(steps)[:, None],
        "v": column + 0.05 * rng.standard_normal((steps, 1)),
        "om": 0.2 * column + 0.05 * rng.standard_normal((steps, 1)),
        "r": np.hypot(d[..., 0], d[..., 1]) + 0.03 * rng.standard_normal((steps, 4)),
        "b": bearings + 0.02 * rng.standard_normal((steps, 4)),
        "l": MARKS,
        **{"d": 0.2, "v_var": 0.0025, "om_var": 0.0025, "r_var": 0.0009, "b_var": 0.0004},
        **{name: poses[:, [k]] for k, name in enumerate(("x_true", "y_true", "th_true"))},
        "true_valid": column,
    }
    (folder / "lost_in_the_woods").mkdir()
    savemat(folder / "lost_in_the_woods" / "dataset2.mat", fields)
