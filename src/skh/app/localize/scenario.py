"""What ``skh localize`` is to do: a log, a map, models by name, a start and outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skh.app import values
from skh.app.input_error import InputError, did_you_mean, listed
from skh.app.sections import Place, Section, Sections, checked_sections, read_toml

FORMATS = ("carmen", "mrclam", "landmark-mat", "stereo-mat")
START_WORDS = ("anywhere", "truth")
LASER_KEYS = (
    *("max_range", "z_hit", "z_short", "z_max", "z_rand", "sigma_hit", "lambda_short"),
    *("max_beams", "power", "max_distance"),
)
SENSOR_KEYS = {
    "likelihood_field": LASER_KEYS,
    "beam": LASER_KEYS[:-1],
    "range_bearing": ("range_noise", "bearing_noise", "outliers", "longest", "view", "ids"),
    "stereo": ("outliers", "pixel_covariance"),
}
MOTION_KEYS = {
    "differential": ("alpha",),
    "omni": ("alpha",),
    "velocity": ("alpha", "noise"),
    "rates": ("noise",),
}
SENSORS_OF = {  # the first is the default
    "carmen": ("likelihood_field", "beam"),
    "mrclam": ("range_bearing",),
    "landmark-mat": ("range_bearing",),
    "stereo-mat": ("stereo",),
}
MOTIONS_OF = {
    "carmen": ("differential", "omni"),
    "mrclam": ("velocity",),
    "landmark-mat": ("velocity",),
    "stereo-mat": ("rates",),
}
LOG_KEYS = {"carmen": ("laser", "truth"), "mrclam": ("robot", "truth"), "landmark-mat": ("truth",)}


def start_pose(value: Any) -> str | tuple[float, ...]:
    """A pose of the start, or a word for it."""
    if value in START_WORDS:
        return str(value)
    try:
        return values.numbers(3)(value)
    except ValueError:
        raise ValueError("must be [x, y, heading], 'anywhere' or 'truth'") from None


LOCALIZE_SECTIONS: Sections = {
    "log": {
        "format": values.one_of(*FORMATS),
        "file": values.text,
        "robot": values.positive,
        "laser": values.text,
        "steps": values.positive,
        "truth": values.text,
    },
    "map": {"file": values.text},
    "motion": {
        "model": values.one_of(*MOTION_KEYS),
        "alpha": values.numbers(4, 5, 6, least=0),
        "noise": values.numbers(3, 6, least=0),
    },
    "sensor": {
        "model": values.one_of(*SENSOR_KEYS),
        "max_range": values.above_zero,
        "z_hit": values.above_zero,
        "z_short": values.not_below_zero,
        "z_max": values.not_below_zero,
        "z_rand": values.not_below_zero,
        "sigma_hit": values.above_zero,
        "lambda_short": values.above_zero,
        "max_beams": values.positive,
        "power": values.above_zero,
        "max_distance": values.above_zero,
        "range_noise": values.above_zero,
        "bearing_noise": values.above_zero,
        "outliers": values.share,
        "longest": values.above_zero,
        "view": values.above_zero,
        "ids": values.one_of("known", "unknown"),
        "pixel_covariance": values.one_of("measured", "stated"),
    },
    "start": {
        "pose": start_pose,
        "deviation": values.numbers(3, 6, least=0),
        "n": values.positive,
    },
    "filter": {
        "rule": values.rule_name,
        "n": values.positive,
        "seed": values.whole,
        "on_zero_likelihood": values.one_of("raise", "skip"),
    },
    "steps": {
        "min_way": values.not_below_zero,
        "min_turn": values.not_below_zero,
        "max_wait": values.seconds,
        "min_wait": values.seconds,
        "max_gap": values.seconds,
        "window": values.not_below_zero,
    },
    "outputs": {
        "folder": values.text,
        "trajectory": values.file_name(".tum", ".txt"),
        "covariances": values.file_name(".csv"),
        "metrics": values.file_name(".json"),
        "path": values.file_name(".png", ".svg", ".pdf"),
        "errors": values.file_name(".png", ".svg", ".pdf"),
        "report": values.file_name(".html"),
        "animation": values.file_name(".html"),
    },
}


@dataclass(frozen=True)
class StartChoice:
    """Where the robot is at first."""

    pose: str | tuple[float, ...] | None = None  # None: the truth if the log has it, or anywhere
    deviation: tuple[float, ...] | None = None
    n: int = 20_000  # points of a start anywhere


@dataclass(frozen=True)
class FilterSettings:
    """How to filter."""

    rule: str = "default"
    n: int = 50
    seed: int = 0
    on_zero_likelihood: str = "raise"


@dataclass(frozen=True)
class LocalizeOutputs:
    """Files to write, within a folder; None: not written."""

    folder: Path = Path("localize")
    trajectory: str | None = "trajectory.tum"
    covariances: str | None = "covariances.csv"
    metrics: str | None = "metrics.json"
    path: str | None = "path.png"
    errors: str | None = "errors.png"
    report: str | None = "run.html"
    animation: str | None = "particles.html"

    def files(self) -> dict[str, Path]:
        """The paths of the files to write, by kind."""
        kinds = [kind for kind in LOCALIZE_SECTIONS["outputs"] if kind != "folder"]
        names = {kind: getattr(self, kind) for kind in kinds}
        return {kind: self.folder / name for kind, name in names.items() if name}


@dataclass(frozen=True)
class LocalizeScenario:
    """All that ``skh localize`` needs to know; paths are absolute or relative to ``folder``."""

    log: Section
    motion: Section = field(default_factory=dict)
    sensor: Section = field(default_factory=dict)
    map: Path | None = None
    start: StartChoice = StartChoice()
    filter: FilterSettings = FilterSettings()
    steps: Section = field(default_factory=dict)
    outputs: LocalizeOutputs = LocalizeOutputs()
    place: Place = Place(None, "")

    @property
    def format(self) -> str:
        """Format of the log."""
        return str(self.log["format"])

    @property
    def folder(self) -> Path:
        """Folder of the scenario's file."""
        return Path() if self.place.path is None else self.place.path.parent

    @property
    def log_path(self) -> Path:
        """Where the log is."""
        return self.folder / str(self.log["file"])

    @property
    def truth_path(self) -> Path | None:
        """Where the true path is, if it is not in the log."""
        return self.folder / str(self.log["truth"]) if "truth" in self.log else None

    @property
    def map_path(self) -> Path | None:
        """Where the map is."""
        return None if self.map is None else self.folder / self.map

    def output_files(self) -> dict[str, Path]:
        """Where the outputs go, by kind."""
        return {kind: self.folder / path for kind, path in self.outputs.files().items()}

    def error(self, section: str, key: str | None, message: str) -> InputError:
        """Return an error about a key."""
        return self.place.error(section, key, f"[{section}] {f'{key} ' if key else ''}{message}")


def read_localize_scenario(
    path: Path, overrides: Mapping[str, Section] | None = None
) -> LocalizeScenario:
    """Read and check a file; ``overrides`` are sections that the command line gave."""
    content, text = read_toml(path)
    place = Place(path, text)
    required = {"log": "format"}
    given = checked_sections(content, overrides or {}, LOCALIZE_SECTIONS, required, place)
    if "file" not in given["log"]:
        raise place.error("log", None, "[log] needs the key 'file'")
    outputs = given["outputs"]
    if "folder" in outputs:
        outputs["folder"] = Path(outputs["folder"])
    scenario = LocalizeScenario(
        given["log"],
        given["motion"],
        given["sensor"],
        Path(given["map"]["file"]) if "file" in given["map"] else None,
        StartChoice(**given["start"]),
        FilterSettings(**given["filter"]),
        given["steps"],
        LocalizeOutputs(**outputs),
        place,
    )
    check_format(scenario)
    return scenario


def check_format(scenario: LocalizeScenario) -> None:
    """Refuse keys that the format of the log has no use for."""
    form = scenario.format
    for section, models, keys in (
        ("sensor", SENSORS_OF[form], SENSOR_KEYS),
        ("motion", MOTIONS_OF[form], MOTION_KEYS),
    ):
        given = getattr(scenario, section)
        name = given.get("model", models[0])
        if name not in models:
            what = f"must be one of {listed(map(repr, models))} for the format {form!r}"
            raise scenario.error(section, "model", f"{what}, got {name!r}")
        for key in given:
            if key != "model" and key not in keys[name]:
                known = f"its keys are {listed(keys[name])}{did_you_mean(key, keys[name])}"
                raise scenario.error(section, key, f"is not a key of {name!r}; {known}")
    for key in ("robot", "laser", "truth"):
        if key in scenario.log and key not in LOG_KEYS.get(form, ()):
            raise scenario.error("log", key, f"is not a key of the format {form!r}")
    if (scenario.map is None) == (form == "carmen"):
        word = "needs the key 'file'" if form == "carmen" else "has no use"
        raise scenario.error("map", None, f"{word} with the format {form!r}")
    if form == "stereo-mat" and scenario.steps:
        key = next(iter(scenario.steps))
        raise scenario.error("steps", key, "has no use: there is one step per image")
    if form != "carmen" and scenario.start.pose == "anywhere":
        raise scenario.error("start", "pose", "must be 'truth' or a pose without a map of cells")
