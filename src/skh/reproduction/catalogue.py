"""All experiments by name.  To add one, make a folder for it and add a line here."""

from __future__ import annotations

from skh.reproduction import (
    default,
    demo,
    mixture,
    mrclam,
    rendering,
    runtime,
    search_points,
    second_look,
    starry_night,
    synthetic,
    uav,
    wean_hall,
    woods,
)
from skh.reproduction.entry import Entry

# What `skh reproduce all` runs.  Short ones come first: an interrupted run has some complete.
STUDIES: tuple[Entry, ...] = (
    mixture.EXPERIMENT,
    search_points.EXPERIMENT,
    runtime.EXPERIMENT,
    synthetic.EXPERIMENT,
    default.EXPERIMENT,
    second_look.EXPERIMENT,
    rendering.EXPERIMENT,
    uav.EXPERIMENT,
    starry_night.EXPERIMENT,
    wean_hall.EXPERIMENT,
    starry_night.SLAM,
    mrclam.EXPERIMENT,
    woods.EXPERIMENT,
)
EXPERIMENTS: dict[str, Entry] = {entry.name: entry for entry in (*STUDIES, demo.EXPERIMENT)}
