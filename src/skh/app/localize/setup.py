"""Read what a scenario names and make the model: a robot's log as a filtering problem."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skh._typing import Array
from skh.app.input_error import InputError, one_line
from skh.app.localize.scenario import MOTIONS_OF, SENSORS_OF, LocalizeScenario
from skh.geometry.charts import Pose
from skh.models.robot_sensors.grid_map import GridMap
from skh.robotics import (
    BeamModel,
    DifferentialDrive,
    ImuRates,
    LikelihoodFieldModel,
    OmniDrive,
    PlanarPath,
    RangeBearing,
    StereoCamera,
    Timeline,
    VelocityMotion,
    read_carmen_log,
    read_landmark_log,
    read_map,
    read_mrclam,
    read_stereo_log,
    timeline_of,
)
from skh.trajectory import read_tum

LASER_DEFAULTS = {  # as if of 4.5 beams: neither beams nor scans are independent
    **{"max_range": 8.0, "max_beams": 45, "power": 0.1},
    **{"z_hit": 0.9, "z_rand": 0.1, "sigma_hit": 0.25},
}
DRIVE_ALPHAS = (0.01, 0.01, 0.02, 0.01, 0.01)
MRCLAM_NOISE = (0.3, 0.0, 0.9)  # of velocities kept for 10 ms: 3 cm and 0.09 rad in a second
MRCLAM_SENSOR = {"range_noise": 0.54, "bearing_noise": 0.054, "outliers": 0.036, "longest": 10.0}
START_DEVIATIONS = {2: (0.1, 0.1, 0.1), 3: (0.05,) * 6}


@dataclass(frozen=True, eq=False)
class Setup:
    """A scenario with its log read and its models made."""

    scenario: LocalizeScenario
    timeline: Timeline
    motion: Any
    sensor: Any
    prior: Any  # (state, covariance); None: anywhere
    grid: GridMap | None
    landmarks: Array | None
    notes: tuple[str, ...]

    @property
    def in_space(self) -> bool:
        """Whether poses are in space, not in the plane."""
        return self.scenario.format == "stereo-mat"

    @property
    def truth(self) -> Any:
        """True poses at the steps, NaN where unknown; None for a log without a truth."""
        return self.timeline.truth


def set_up(scenario: LocalizeScenario) -> Setup:
    """Read the log and the map, and make the models; nothing is written."""
    check_outputs(scenario)
    log = _read_log(scenario)
    grid = None
    if scenario.map_path is not None:
        with bad_file(scenario, "map"):
            grid = read_map(scenario.map_path)
    log = _with_truth(scenario, log)
    try:
        timeline = timeline_of(log, **scenario.steps)
    except ValueError as error:  # values of [steps] are checked: it is the log
        raise InputError(one_line(error), scenario.log_path) from error
    if "steps" in scenario.log:
        timeline = timeline.first(scenario.log["steps"])
    with bad_value(scenario, "motion"):
        motion = MOTIONS[_model(scenario, "motion", MOTIONS_OF)](scenario, log)
    with bad_value(scenario, "sensor"):
        sensor = SENSORS[_model(scenario, "sensor", SENSORS_OF)](scenario, log, grid)
    if scenario.sensor.get("ids") == "unknown":
        timeline = _without_ids(timeline)
    landmarks = getattr(log, "landmarks", None)
    return Setup(
        scenario,
        timeline,
        motion,
        sensor,
        _prior(scenario, timeline),
        grid,
        None if landmarks is None else landmarks.positions,
        log.notes + timeline.notes,
    )


def check_outputs(scenario: LocalizeScenario) -> None:
    """Refuse outputs that would replace an input or need a folder where a file is."""
    folder = scenario.folder / scenario.outputs.folder
    for part in (folder, *folder.parents):
        if part.exists() and not part.is_dir():
            raise InputError("the outputs need a folder here, but this is a file", part)
    inputs = [scenario.log_path, scenario.map_path, scenario.place.path]
    taken = {path.resolve() for path in inputs if path is not None}
    for kind, path in scenario.output_files().items():
        if path.resolve() in taken:
            raise InputError(f"the {kind} would replace this input", path)


@contextmanager
def bad_file(scenario: LocalizeScenario, section: str, key: str = "file") -> Iterator[None]:
    """Turn errors of a reader into one line; readers name the file themselves."""
    try:
        yield
    except OSError as error:
        what = f"cannot be read: {error.strerror or one_line(error)}: {error.filename}"
        raise scenario.error(section, key, what) from error
    except (ValueError, ImportError) as error:
        raise InputError(one_line(error)) from error


@contextmanager
def bad_value(scenario: LocalizeScenario, section: str) -> Iterator[None]:
    """Turn errors of values into one line that names the section."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise scenario.error(section, None, one_line(error)) from error


def _read_log(scenario: LocalizeScenario) -> Any:
    path, log = scenario.log_path, scenario.log
    readers: dict[str, Callable[[], Any]] = {
        "carmen": lambda: read_carmen_log(path, log.get("laser")),
        "mrclam": lambda: read_mrclam(path, log.get("robot", 1)),
        "landmark-mat": lambda: read_landmark_log(path),
        "stereo-mat": lambda: read_stereo_log(path),
    }
    with bad_file(scenario, "log"):
        return readers[scenario.format]()


def _with_truth(scenario: LocalizeScenario, log: Any) -> Any:
    """The log with the true path of a TUM file, if the scenario names one."""
    if scenario.truth_path is None:
        return log
    with bad_file(scenario, "log", "truth"):
        path = read_tum(scenario.truth_path)
    return replace(log, truth=PlanarPath(path.times, flat(Pose(path.positions, path.rotations))))


def _model(scenario: LocalizeScenario, section: str, choices: dict[str, tuple[str, ...]]) -> str:
    return str(getattr(scenario, section).get("model", choices[scenario.format][0]))


def _given(section: Any) -> dict[str, Any]:
    return {key: value for key, value in section.items() if key != "model"}


def _drive(kind: type[DifferentialDrive | OmniDrive], count: int) -> Any:
    def make(scenario: LocalizeScenario, log: Any) -> Any:
        alphas = scenario.motion.get("alpha", DRIVE_ALPHAS[:count])
        if len(alphas) != count:
            raise ValueError(f"alpha must have {count} numbers, got {len(alphas)}")
        return kind(*alphas)

    return make


def _velocity(scenario: LocalizeScenario, log: Any) -> VelocityMotion:
    alphas = scenario.motion.get("alpha", ())
    noise = scenario.motion.get("noise")
    if noise is None:
        noise = MRCLAM_NOISE
        if scenario.format == "landmark-mat":
            ahead = log.forward_variance**0.5  # and aside: real robots slip, or look askew
            noise = (ahead, ahead, log.turning_variance**0.5)
    if len(noise) != 3:
        raise ValueError(f"noise must have 3 numbers: ahead, left, turning, got {len(noise)}")
    names = [f"alpha{k}" for k in range(1, len(alphas) + 1)]
    return VelocityMotion(**dict(zip(names, alphas, strict=True)), noise=noise)


def _rates(scenario: LocalizeScenario, log: Any) -> ImuRates:
    noise = scenario.motion.get("noise")
    if noise is None:
        return ImuRates(log.velocity_variances, log.turn_rate_variances)
    if len(noise) != 6:
        raise ValueError(f"noise must have 6 numbers, 3 of velocities first, got {len(noise)}")
    variances = np.square(noise)
    return ImuRates(variances[:3], variances[3:])


def _laser(kind: type[LikelihoodFieldModel | BeamModel]) -> Any:
    def make(scenario: LocalizeScenario, log: Any, grid: GridMap) -> Any:
        settings: dict[str, Any] = {**LASER_DEFAULTS, **_given(scenario.sensor)}
        return kind(grid, log.scans.angles, mount=log.scans.mount, **settings)

    return make


def _range_bearing(scenario: LocalizeScenario, log: Any, grid: None) -> RangeBearing:
    defaults: dict[str, Any] = dict(MRCLAM_SENSOR)
    if scenario.format == "landmark-mat":
        noise = {"range_noise": log.range_variance**0.5, "bearing_noise": log.bearing_variance**0.5}
        defaults = {**noise, "mount": (log.offset, 0.0, 0.0)}
    settings = defaults | {k: v for k, v in _given(scenario.sensor).items() if k != "ids"}
    return RangeBearing(log.landmarks.positions, **settings)


def _stereo(scenario: LocalizeScenario, log: Any, grid: None) -> StereoCamera:
    rig, given = log.rig, _given(scenario.sensor)
    stated = given.pop("pixel_covariance", "measured") == "stated"
    covariance = np.diag(log.pixel_variances) if stated else log.pixel_covariance()
    return StereoCamera(
        log.landmarks.positions,
        *(rig.fu, rig.fv, rig.cu, rig.cv),
        covariance=covariance,
        baseline=rig.baseline,
        rotation=rig.rotation,
        position=rig.position,
        **given,
    )


MOTIONS: dict[str, Callable[[LocalizeScenario, Any], Any]] = {
    "differential": _drive(DifferentialDrive, 4),
    "omni": _drive(OmniDrive, 5),
    "velocity": _velocity,
    "rates": _rates,
}
SENSORS: dict[str, Callable[[LocalizeScenario, Any, Any], Any]] = {
    "likelihood_field": _laser(LikelihoodFieldModel),
    "beam": _laser(BeamModel),
    "range_bearing": _range_bearing,
    "stereo": _stereo,
}


def _without_ids(timeline: Timeline) -> Timeline:
    """The timeline with sightings whose landmarks are unknown."""

    def hidden(y: Any) -> Any:
        return None if y is None else np.column_stack([np.full(len(y), -1.0), y[:, 1:]])

    seen = [hidden(y) for y in timeline.observations]
    return Timeline(timeline.times, timeline.controls, seen, timeline.truth, timeline.notes)


def _prior(scenario: LocalizeScenario, timeline: Timeline) -> Any:
    """The first pose and its covariance; None for a start anywhere."""
    start, in_space = scenario.start, scenario.format == "stereo-mat"
    pose = start.pose or ("anywhere" if timeline.truth is None else "truth")
    if pose == "anywhere" and scenario.format != "carmen":
        raise scenario.error("start", None, "needs the key 'pose': the log has no true poses")
    if pose == "anywhere":
        return None
    deviation = start.deviation or START_DEVIATIONS[3 if in_space else 2]
    d = 6 if in_space else 3
    if len(deviation) != d:
        raise scenario.error("start", "deviation", f"must have {d} numbers, got {len(deviation)}")
    return _first_pose(scenario, timeline, pose), np.diag(np.square(deviation))


def _first_pose(scenario: LocalizeScenario, timeline: Timeline, pose: Any) -> Any:
    if pose != "truth":
        if scenario.format == "stereo-mat":
            raise scenario.error("start", "pose", "must be 'truth' for poses in space")
        return np.array(pose)
    if timeline.truth is None:
        raise scenario.error("start", "pose", "must be a pose: the log has no true poses")
    if isinstance(timeline.truth, Pose):
        return Pose(timeline.truth.position[0], timeline.truth.rotation[0])
    if np.isnan(timeline.truth[0]).any():
        message = f"must be a pose: the truth is unknown at the first step, {timeline.times[0]} s"
        raise scenario.error("start", "pose", message)
    return timeline.truth[0]


def flat(poses: Pose) -> Array:
    """Rows (x, y, heading of the first axis) of poses in space."""
    heading = np.arctan2(poses.rotation[:, 1, 0], poses.rotation[:, 0, 0])
    return np.column_stack([poses.position[:, :2], heading])
