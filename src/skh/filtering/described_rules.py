"""Rules and plans in saved files: as values, so that a filter can be restored without them.

The rules of this library, their steps and their kernels are frozen dataclasses.  One of them is
described by the name of its class and its fields, which are numbers, texts, arrays, tuples and
further descriptions.  Reading a description makes nothing but the classes in ``CLASSES``: a rule
that has anything else in it, such as a user's function, is known by its words alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from skh.files.container import Contents, SavedFileError, damaged
from skh.filtering.plans import OneLook, Plan
from skh.filtering.second_look import SecondLook
from skh.frank_wolfe.fully_corrective import FullyCorrective
from skh.frank_wolfe.fw_quad import FWQuad
from skh.frank_wolfe.pairwise import BlendedPairwise, Pairwise
from skh.frank_wolfe.steps import Herding, LineSearch, OpenLoop
from skh.kernels.gaussian_kernel import GaussianKernel
from skh.rules.base import Rule
from skh.rules.matched import Matched
from skh.rules.refined import Refine, Refined
from skh.rules.regularized import Regularized
from skh.rules.sampling import MonteCarlo, QuasiMonteCarlo, Stratified, Systematic
from skh.rules.smoothed import Smoothed
from skh.rules.wrappers import Measured

RULES = (MonteCarlo, Stratified, Systematic, QuasiMonteCarlo, FWQuad, SecondLook, OneLook)
WRAPPERS = (Matched, Measured, Refined, Regularized, Smoothed)
PARTS = (BlendedPairwise, FullyCorrective, Herding, LineSearch, OpenLoop, Pairwise)
CLASSES = {kind.__name__: kind for kind in (*RULES, *WRAPPERS, *PARTS, GaussianKernel, Refine)}
PLAIN_VALUES = (bool, int, float, str, type(None))
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # of an object, in its repr


def described_plan(plan: Plan) -> dict[str, Any]:
    """Return the rule or plan in words, and as a value if it is made of the library's classes.

    >>> described_plan(OneLook(QuasiMonteCarlo()))["value"]
    {'class': 'QuasiMonteCarlo', 'fields': {'order': 'hilbert'}}
    """
    rule = plan.rule if isinstance(plan, OneLook) else plan
    try:
        value = described(rule)
    except TypeError:
        value = None
    return {"words": ADDRESS.sub("", repr(rule)), "value": value}


def described(value: Any) -> Any:
    """Return a value as a tree without objects; raise TypeError for any that is not known."""
    if CLASSES.get(type(value).__name__) is type(value):
        parts = {field.name: described(getattr(value, field.name)) for field in fields(value)}
        return {"class": type(value).__name__, "fields": parts}
    if type(value) in (tuple, list):
        return type(value)(described(part) for part in value)
    if type(value) in PLAIN_VALUES or isinstance(value, np.generic | np.ndarray):
        return value
    raise TypeError(f"{type(value).__name__} must be one of {', '.join(CLASSES)}")


def restored_rule(saved: Mapping[str, Any], file: Contents) -> Rule | Plan:
    """Return the rule or plan of a file."""
    if saved["value"] is None:
        raise SavedFileError(
            f"{file.path} was saved with rule={saved['words']}, which is not made of rules of skh "
            "alone and so is not in the file: pass it as rule="
        )
    try:
        return restored_value(saved["value"])  # type: ignore[no-any-return]
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(file.path, f"its rule, {saved['words']}, cannot be made ({error})") from error


def restored_value(tree: Any) -> Any:
    """Return the value that was described."""
    if isinstance(tree, Mapping):
        parts = {name: restored_value(part) for name, part in tree["fields"].items()}
        return CLASSES[tree["class"]](**parts)
    if isinstance(tree, tuple | list):
        return type(tree)(restored_value(part) for part in tree)
    return tree


def refuse_other_rule(saved: Mapping[str, Any], plan: Plan, file: Contents) -> None:
    """Raise `SavedFileError` if the rule is not the one of the file."""
    given = described_plan(plan)
    key = "words" if saved["value"] is None or given["value"] is None else "value"
    if not same(saved[key], given[key]):
        raise SavedFileError(
            f"{file.path} was saved with rule={saved['words']}: pass this rule, got "
            f"rule={given['words']}"
        )


def same(a: Any, b: Any) -> bool:
    """Whether two descriptions are equal."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return bool(a == b)
