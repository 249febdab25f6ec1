"""Save a filter at any step, and go on from the file with the numbers of an uninterrupted run.

A file holds the last belief with all that later steps depend on (records, learned information, the
time), the state of the random numbers, n, t, the rule and a fingerprint of the model, which is not
in it; nor is a rule of the user's own.  `skh.files.container` describes the format.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from os import PathLike
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import numpy as np
from numpy.random import Generator

from skh import _checks
from skh._typing import RNG
from skh.files.container import Contents, SavedFileError, damaged, read_file, write_file
from skh.files.trees import Encoder, decoded, with_classes_of
from skh.filtering.belief import Belief
from skh.filtering.conversation import Dialogue
from skh.filtering.described_rules import described_plan, refuse_other_rule, restored_rule
from skh.filtering.fingerprint import described_model, records_template, refuse_other_model
from skh.filtering.likelihood_information import LearnedInformation
from skh.filtering.model_protocols import Carry, CarryingModel, Model
from skh.filtering.plans import Look, Plan
from skh.rules.base import Rule

if TYPE_CHECKING:
    from skh.filtering.particle_filter import ParticleFilter

FILTER_PARTS = ("t", "n", "rule", "model", "random", "belief")
BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")


class Saving:
    """The part of a `ParticleFilter` that writes it to files and reads it from them."""

    def save(self, path: str | PathLike[str]) -> None:
        """Write the filter to a file, from which `load` goes on with the same numbers.

        An earlier file is replaced as a whole or not at all, whatever happens.  Between `ask` and
        the last `tell` of a step a filter cannot be saved.
        """
        pf: Any = self  # a ParticleFilter, of which this is a part
        with pf._alone:
            if pf._dialogue.question is not None:
                pf._dialogue.refuse("it is saved")
            encoder = Encoder()
            tree = encoder.encode(filter_state(pf))
            write_file(path, "filter", tree, encoder.arrays())

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        model: Model | CarryingModel,
        rule: Rule | Plan | None = None,
        *,
        rng: RNG = None,
    ) -> ParticleFilter:
        """Read a filter of this model, as `save` wrote it.

        The rule is that of the file; ``rule`` is needed only if it was a function or class of your
        own.  Raises `skh.SavedFileError` if the file is damaged or newer than this version, or if
        model or rule are others.  A ``rng`` is set to the saved state.

        >>> import skh
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> model = skh.models.lgss3()
        >>> pf = skh.ParticleFilter(model, n=20, rng=0)
        >>> belief = pf.step(0.3)
        >>> with TemporaryDirectory() as folder:
        ...     pf.save(Path(folder) / "filter.npz")
        ...     again = skh.ParticleFilter.load(Path(folder) / "filter.npz", model)
        >>> bool((again.step(0.1).x == pf.step(0.1).x).all())
        True
        """
        file = read_file(path, "filter")
        state = content(file, *FILTER_PARTS)
        make: Any = cls
        rule = restored_rule(state["rule"], file) if rule is None else rule
        return restored(make(model, rule, state["n"], rng=rng), state, file, rng)


def content(file: Contents, *parts: str) -> dict[str, Any]:
    """Return the content of a file, a dict that has these parts."""
    try:
        found = decoded(file.tree, file.arrays)
        if not isinstance(found, dict) or not found.keys() >= set(parts):
            raise ValueError(f"it must have {', '.join(parts)}")
        return found
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise damaged(file.path, f"its description does not fit its arrays ({error!r})") from error


def filter_state(pf: ParticleFilter) -> dict[str, Any]:
    """Return all that the next steps of a filter depend on, apart from the model."""
    belief = pf.belief
    return {
        "t": pf.t,
        "n": pf.n,
        "rule": described_plan(pf._plan),
        "model": described_model(pf._model),
        "random": random_state(pf._rng),
        "belief": None if belief is None else belief_fields(belief),
    }


def restored(
    pf: ParticleFilter, state: Mapping[str, Any], file: Contents, rng: RNG
) -> ParticleFilter:
    """Give a new filter the state in a file."""
    refuse_other_rule(state["rule"], pf._plan, file)
    refuse_other_model(state["model"], pf._model, file)
    generator = generator_of(state["random"], rng)
    if state["belief"] is not None:
        pf._belief = as_belief(state["belief"], records_template(pf._model), file)
    pf._first, pf._n, pf._rng, pf._dialogue = state["t"], state["n"], generator, Dialogue(generator)
    return pf


def random_state(rng: Generator) -> dict[str, Any]:
    """Return the state of a generator of random numbers."""
    return {"name": type(rng.bit_generator).__name__, "state": rng.bit_generator.state}


def generator_of(saved: Mapping[str, Any], rng: RNG) -> Generator:
    """Return a generator in a saved state: ``rng``, if one is given, or a new one."""
    name = saved["name"]
    if rng is None:
        if name not in BIT_GENERATORS:
            raise TypeError(
                f"rng must be a Generator of {name}, whose state was saved: numpy does not have it"
            )
        generator = Generator(getattr(np.random, name)(0))
    else:
        generator = _checks.generator(rng)
        if type(generator.bit_generator).__name__ != name:
            raise ValueError(f"rng must be a Generator of {name}, as it was saved, got {rng!r}")
    generator.bit_generator.state = saved["state"]
    return generator


def belief_fields(belief: Belief) -> dict[str, Any]:
    """Return the fields of a belief as a tree."""
    values = {field.name: getattr(belief, field.name) for field in fields(Belief)}
    learned = belief.information
    if learned is not None:
        names = [field.name for field in fields(LearnedInformation)]
        values["information"] = {name: getattr(learned, name) for name in names}
    values["looks"] = look_columns([belief.looks])
    return values


def as_belief(values: Mapping[str, Any], records: Carry, file: Contents) -> Belief:
    """Return the belief with these fields; its records have the classes of ``records``."""
    known = {field.name for field in fields(Belief)}
    values = {name: value for name, value in values.items() if name in known}
    if values["information"] is not None:
        values["information"] = LearnedInformation(**values["information"])
    values["looks"] = looks_of(values["looks"])[0]
    if records is not None:
        try:
            values["carry"] = with_classes_of(records, values["carry"])
        except TypeError as error:
            raise SavedFileError(
                f"{file.path} has other records than the model given: {error}"
            ) from error
    return Belief(**with_own_classes(Belief, values))


def look_columns(looks: Sequence[tuple[Look, ...]]) -> dict[str, Any]:
    """Return the looks of several steps as columns."""
    flat = [look for step in looks for look in step]
    reasons = list(dict.fromkeys(look.reason for look in flat))
    return {
        "count": np.array([len(step) for step in looks], dtype=np.int64),
        "n": np.array([look.n for look in flat], dtype=np.int64),
        "ess": np.array([look.ess for look in flat], dtype=np.float64),
        "error": np.array([look.error for look in flat], dtype=np.float64),
        "reason": np.array([reasons.index(look.reason) for look in flat], dtype=np.int64),
        "reasons": reasons,
    }


def looks_of(columns: Mapping[str, Any]) -> tuple[tuple[Look, ...], ...]:
    """Return the looks of several steps."""
    reasons = [columns["reasons"][i] for i in columns["reason"]]
    numbers = (columns[name].tolist() for name in ("n", "ess"))
    flat = list(map(Look, *numbers, reasons, columns["error"].tolist()))
    ends = np.cumsum(columns["count"]).tolist()
    return tuple(
        tuple(flat[end - n : end]) for end, n in zip(ends, columns["count"].tolist(), strict=True)
    )


def with_own_classes(of: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Give named tuples among the fields of a dataclass the classes that it declares."""
    declared = {
        name: kind
        for name, hint in get_type_hints(of).items()
        for kind in (*get_args(hint), hint)
        if hasattr(kind, "_fields")
    }
    return {
        name: declared[name](*value) if name in declared and value is not None else value
        for name, value in values.items()
    }
