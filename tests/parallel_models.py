"""Models that worker processes import, and likelihoods that fail in ways they are told to."""

import os
import signal
import time
from pathlib import Path
from uuid import uuid4

import numpy as np

import skh

PRIOR = ([0.0, 0.0], [[1.0, 0.3], [0.3, 2.0]])


def transition(t, x):
    """A damped rotation."""
    return x @ np.array([[0.9, 0.1], [-0.1, 0.9]]), 0.1


def log_likelihood(t, x, y):
    """One particle, one observation; transcendental, so that a bit more or less would show."""
    return float(-0.5 * (y - np.sin(x[0]) * np.exp(0.3 * x[1])) ** 2 / 0.05)


def model(function=log_likelihood, **options):
    """The model with this likelihood, evaluated particle by particle."""
    return skh.model_from_functions(PRIOR, transition, function, batched=False, **options)


class Failing:
    """The likelihood; when a file can be taken away, it fails as told, once per file."""

    def __init__(self, folder, how, pause=0.0):
        self.folder, self.how, self.pause = str(folder), how, pause

    def __call__(self, t, x, y):
        time.sleep(self.pause)
        if self._taken():
            self.fail()
        return log_likelihood(t, x, y)

    def _taken(self):
        for path in Path(self.folder).glob("fail-*"):
            try:
                path.unlink()
            except FileNotFoundError:  # another worker was faster
                continue
            return True
        return False

    def fail(self):
        if self.how == "raise":
            raise ZeroDivisionError("as told")
        if self.how == "odd error":
            raise OddError(1, 2)
        if self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep({"hang": 60.0, "late": 0.5}[self.how])


class OddError(Exception):
    """An error whose pickle cannot be loaded."""

    def __init__(self, a, b):
        super().__init__(f"odd {a} {b}")


class Counting:
    """The likelihood; each call leaves a line in a file."""

    def __init__(self, path):
        self.path = str(path)

    def __call__(self, t, x, y):
        with Path(self.path).open("a") as file:
            file.write(f"{os.getpid()} {t} {x[0].hex()}\n")
        return log_likelihood(t, x, y)


class DiesOnce(Counting):
    """The likelihood; the process that evaluates the k-th particle is killed."""

    def __init__(self, path, k):
        super().__init__(path)
        self.k = k

    def __call__(self, t, x, y):
        value = super().__call__(t, x, y)
        time.sleep(0.02)  # the answers before this one are on their way
        if len(Path(self.path).read_text().splitlines()) == self.k:
            os.kill(os.getpid(), signal.SIGKILL)
        return value


class Noted:
    """The likelihood, after a pause; each call leaves a file in a folder."""

    def __init__(self, folder, pause):
        self.folder, self.pause = str(folder), pause

    def __call__(self, t, x, y):
        Path(self.folder, uuid4().hex).touch()
        time.sleep(self.pause)
        return log_likelihood(t, x, y)
