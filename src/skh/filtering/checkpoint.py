"""Checkpoints of a series: the filter and the result so far in one file, for the next process.

The file is rewritten as a whole.  So that long series do not spend their time writing, a file is
written ``every`` so many seconds, but never for more than a tenth of the time since the one before:
if writing takes longer as the result grows, it becomes rarer in proportion, and the total that is
written is proportional to the length of the series.  What a kill costs is at most the last
``every`` seconds, or ten times what the last file took to write.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from os import PathLike
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from skh import _checks
from skh._typing import RNG
from skh.files.atomic import as_path
from skh.files.container import Contents, SavedFileError, read_file, write_file
from skh.files.digests import digest
from skh.files.trees import Encoder
from skh.filtering.observations import is_missing
from skh.filtering.result_files import history_of, with_model_states
from skh.filtering.saving import (
    belief_fields,
    content,
    filter_state,
    look_columns,
    looks_of,
    random_state,
    restored,
)

if TYPE_CHECKING:
    from skh.filtering.particle_filter import ParticleFilter
    from skh.filtering.result_builder import ResultBuilder

WRITING_SHARE = 0.1  # of the time, at most, is spent on writing checkpoints


class NoCheckpoint:
    """The checkpoint of a series that is not saved: no steps are done, and nothing is written."""

    done = 0

    def check(self, t: int, y: Any, time: Any) -> None:
        """Compare an observation with that of the saved run, if there is one."""

    def add(self, y: Any, time: Any) -> None:
        """Note that a step is complete."""

    def try_to_save(self) -> None:
        """Write new steps, if they are saved."""

    def refuse_shorter(self, consumed: int) -> None:
        """Raise if the series ended before that of the saved run."""


class Checkpoint(NoCheckpoint):
    """The file of a series that is being filtered; ``done`` steps were in it at the start."""

    def __init__(
        self,
        path: str | PathLike[str],
        every: float,
        pf: ParticleFilter,
        builder: ResultBuilder,
        rng: RNG,
        **settings: Any,
    ) -> None:
        self._path = as_path("checkpoint", path)
        self._every = _checks.non_negative("checkpoint_every", every)
        self._pf, self._builder = pf, builder
        start = None if rng is None else digest(random_state(pf._rng))
        self._settings = {"n": pf.n, **settings, "rng": start}
        self._digests: list[int] = []
        self._due = monotonic() + self._every
        if self._path.exists():
            self._resume(read_file(self._path, "checkpoint"), rng)
        else:
            self.save()  # so that a path that cannot be written is known before the first step
        self.done = self._written = len(self._digests)

    def _resume(self, file: Contents, rng: RNG) -> None:
        """Set filter and builder to the state in the file."""
        state = content(file, "settings", "filter", "observations", "rows", "looks", "history")
        _refuse_other_settings(file, state["settings"], self._settings)
        restored(self._pf, state["filter"], file, rng)
        if state["rows"] is not None:
            rows = with_model_states(state["rows"], self._pf._model, file)
            history = history_of(state["history"], self._pf._model, file)
            self._builder.restore(rows, looks_of(state["looks"]), history)
        self._digests = state["observations"].tolist()

    def check(self, t: int, y: Any, time: Any) -> None:
        """Validate that an observation is the one that the saved run had at step t."""
        if _digest(y, time) != self._digests[t]:
            raise SavedFileError(
                f"{self._path} belongs to another series: the observation (or its time) at t={t} "
                "differs from the one of the saved run"
            )

    def add(self, y: Any, time: Any) -> None:
        """Note that a step is complete, and write the file if it is time to."""
        self._digests.append(_digest(y, time))
        if monotonic() >= self._due:
            self.try_to_save()

    def try_to_save(self) -> None:
        """Write the file if there are new steps; a full disk is logged and does not end the run."""
        steps = len(self._digests)
        try:
            # Ctrl-C may have come between the step of the filter and its row in the result.
            if self._written < steps == self._pf.t == self._builder.steps:
                self.save()
        except OSError as error:
            logging.getLogger("skh").warning(
                "the checkpoint %s could not be written: %s", self._path, error
            )
            self._due = monotonic() + self._every

    def save(self) -> None:
        """Write the file."""
        began, builder, encoder = monotonic(), self._builder, Encoder()
        state = {
            "settings": self._settings,
            "filter": filter_state(self._pf),
            "observations": np.array(self._digests, dtype=np.uint64),
            "rows": builder.rows_so_far(),
            "looks": look_columns(builder.looks),
            "history": [belief_fields(belief) for belief in builder.beliefs],
        }
        write_file(self._path, "checkpoint", encoder.encode(state), encoder.arrays())
        now, self._written = monotonic(), len(self._digests)
        self._due = now + max(self._every, (now - began) * (1.0 / WRITING_SHARE - 1.0))

    def refuse_shorter(self, consumed: int) -> None:
        """Raise `SavedFileError` if the series ended before the steps in the file."""
        if consumed < self.done:
            raise SavedFileError(
                f"{self._path} has {self.done} steps of another series: ys has {consumed} "
                "observations"
            )


def _digest(y: Any, time: Any) -> int:
    return digest((None if is_missing(y) else y, time))


def _refuse_other_settings(
    file: Contents, saved: Mapping[str, Any], given: Mapping[str, Any]
) -> None:
    """Raise `SavedFileError` for a run that was begun with other arguments."""
    for name, value in given.items():
        if saved.get(name) == value:
            continue
        if name == "rng":
            raise SavedFileError(
                f"{file.path} is of a run with another rng: pass the same seed (or a Generator in "
                "the state that it had at the start), or another path for a new run"
            )
        raise SavedFileError(
            f"{file.path} is of a run with {name}={saved.get(name)!r}, got {name}={value!r}: pass "
            "the same, or another path for a new run"
        )
