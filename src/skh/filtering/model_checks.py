"""Validation of what a model's methods return; ``where`` names method and step in messages.

``verb`` is "be given" for what the user of a filter passes in place of the model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skh import _checks
from skh._checks import DOUBLE
from skh._numba.array_checks import first_not_below_infinity, first_not_finite
from skh._typing import Array


class ZeroLikelihoodError(ValueError):
    """All particles have likelihood zero; the filter is left unchanged.

    >>> import skh
    >>> pf = skh.ParticleFilter(skh.models.nonlinear_benchmark(), skh.Stratified(), 10, rng=0)
    >>> try:
    ...     pf.step(1e200)
    ... except skh.ZeroLikelihoodError:
    ...     belief = pf.step(None)  # an outlier: go on without it
    """


def zero_likelihood(t: int, n: int) -> ZeroLikelihoodError:
    """Return the error for a likelihood that is zero at all n particles."""
    return ZeroLikelihoodError(
        f"the likelihood of y at t={t} is zero at all {n} particles: pass another "
        "observation, or None for no measurement (a ParticleFilter is left unchanged)"
    )


def check_real_numbers(value: Any, where: str, verb: str = "return") -> NDArray[Any]:
    """Validate an array of floats or integers without masked entries."""
    if type(value) is np.ndarray and value.dtype == DOUBLE:  # the usual case, fast
        return value
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:  # rows of different lengths
        raise ValueError(f"{where} must {verb} an array of numbers, got {value!r}") from error
    if array.dtype.kind not in "fiu" or np.ma.is_masked(value):
        got = f"an array of {array.dtype}" if isinstance(value, np.ndarray) else repr(value)
        got = "a masked array" if isinstance(value, np.ma.MaskedArray) else got
        raise ValueError(f"{where} must {verb} real numbers, got {got}")
    return array


def check_log_likelihoods(value: Any, x: Array, where: str, verb: str = "return") -> Array:
    """Validate log-likelihoods: one number below +inf per particle."""
    values = np.asarray(check_real_numbers(value, where, verb), dtype=np.float64, order="C")
    if values.shape != (len(x),):
        raise ValueError(
            f"{where} must {verb} shape ({len(x)},), one number per particle, got {values.shape}"
        )
    i = first_not_below_infinity(values)
    if i >= 0:
        hint = (
            " (was an entry of y not measured? It is NaN: leave it out)"
            if np.isnan(values[i])
            else ""
        )
        raise ValueError(
            f"{where} must {verb} numbers below +inf, got {values[i]} for particle {i} at x={x[i]}"
            f"{hint}"
        )
    return values


def check_likelihood(returned: Any, carry: Any, x: Array, where: str) -> tuple[Array, Any]:
    """Validate (log-likelihoods, records) of particles that had the records ``carry``."""
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise ValueError(
            f"{where} of a model that carries records must return (log-likelihoods, records), "
            f"got {returned!r}"
        )
    values, after = returned
    return check_log_likelihoods(values, x, where), check_carry(after, len(x), where, carry)


def check_carry(carry: Any, n: int, where: str, before: Any = None, verb: str = "return") -> Any:
    """Validate records: one row for each of n particles, and no part replaced by None."""
    if carry is None and before is None:
        return None
    some_are_none = False
    for part in _parts(carry):
        if part is None:
            some_are_none = True
            continue
        shape = getattr(part, "shape", None)
        if not shape or shape[0] != n:
            got = f"shape {shape}" if shape is not None else repr(part)
            raise ValueError(
                f"{where} must {verb} records with one row for each of the {n} particles: arrays, "
                f"or tuples and dicts of them; got {got}"
            )
    if some_are_none and _lost(before, carry):
        raise ValueError(
            f"{where} must {verb} the records of the {n} particles, got None although there "
            "were records before"
        )
    return carry


def _parts(carry: Any) -> list[Any]:
    """Return the leaves of a carry, which should be arrays or None."""
    if isinstance(carry, dict):
        carry = tuple(carry.values())
    if not isinstance(carry, tuple):
        return [carry]
    parts: list[Any] = []
    for value in carry:
        parts += [value] if type(value) is np.ndarray else _parts(value)
    return parts


def _lost(before: Any, after: Any) -> bool:
    """Whether a part of a carry has become None."""
    if after is None:
        return before is not None
    if isinstance(after, tuple) and isinstance(before, tuple):
        return any(_lost(a, b) for a, b in zip(before, after, strict=False))
    if isinstance(after, dict) and isinstance(before, dict):
        return any(_lost(before.get(key), value) for key, value in after.items())
    return False


def hidden_moments(model: Any, t: int, n: int, carry: Any) -> tuple[Array, Array] | None:
    """Return the model's ``hidden_moments`` of n particles, validated; None without the method."""
    if moments := getattr(model, "hidden_moments", None):
        return check_hidden_moments(moments(carry), n, f"model.hidden_moments at t={t}")
    return None


def check_hidden_moments(returned: Any, n: int, where: str) -> tuple[Array, Array]:
    """Validate means (n, n_z) and covariances (n, n_z, n_z) of the hidden part."""
    if not isinstance(returned, tuple) or len(returned) != 2:
        raise ValueError(f"{where} must return (means, covariances), got {returned!r}")
    m, P = (np.asarray(check_real_numbers(part, where), dtype=np.float64) for part in returned)
    k = m.shape[-1] if m.ndim else 0
    if m.shape != (n, k) or P.shape != (n, k, k):
        raise ValueError(
            f"{where} must return shapes ({n}, n_z) and ({n}, n_z, n_z), got {m.shape}, {P.shape}"
        )
    for name, part in (("means", m), ("covariances", P)):
        i = first_not_finite(part.ravel())
        if i >= 0:
            raise ValueError(
                f"{where} must return finite {name}, got {part.ravel()[i]} for particle "
                f"{i // (part.size // n)}"
            )
    return _checks.read_only(m), _checks.read_only(P)


def check_z_prior(value: Any) -> tuple[Array, Array]:
    """Validate the mean and covariance of z_0."""
    if not isinstance(value, tuple) or len(value) != 2:
        raise TypeError(f"z_prior must be (mean, covariance) or a function, got {value!r}")
    mean, covariance = (_checks.real_array("z_prior", part).copy() for part in value)
    if mean.ndim == 0 or mean.size == 0:
        raise ValueError(
            f"the mean of z_prior must have shape (n, n_z) or (n_z,), got {value[0]!r}"
        )
    return mean, covariance


def check_per_particle(name: str, part: str, t: int, value: Any, shape: tuple[int, ...]) -> Array:
    """Validate a finite array of the given shape, with or without its leading axis."""
    array = np.asarray(value, dtype=np.float64)
    if array.shape not in (shape, shape[1:]):
        raise ValueError(
            f"the {part} of {name} at t={t} must have shape {shape} or {shape[1:]}, "
            f"got {array.shape}"
        )
    if not np.isfinite(array).all():
        raise ValueError(f"the {part} of {name} at t={t} must be finite, got {array}")
    return array
