"""Changes that give an experiment another fingerprint, and changes that do not."""

from dataclasses import replace

import pytest

import skh
from skh.reproduction.catalogue import EXPERIMENTS
from skh.reproduction.engine import fingerprint
from skh.reproduction.engine.fingerprint import closure, fingerprint_of, machine
from small import MIXTURE, SYNTHETIC


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_only_modules_imported_by_the_tasks_count(name):
    tasks = EXPERIMENTS[name].kind.__module__
    needed = closure(tasks)
    assert {tasks, "skh.reproduction.rules", skh.FWQuad.__module__} <= needed
    assert any("._numba." in module for module in needed)
    studies = [module for module in needed if module.startswith("skh.reproduction.")]
    last = {module.rpartition(".")[2] for module in studies}
    assert not last & {"claims", "claim", "statistics", "figures", "style", "entry", "catalogue"}
    assert not last & {"cli", "executor", "store", "page"}


def test_indirect_imports_count():
    needed = closure("skh.reproduction.runtime.tasks")
    library = {skh.models.jmls.__module__, skh.kalman_filter.__module__}
    assert {*library, "skh.reproduction.mixture.tasks"} <= needed


def test_every_field_of_the_configuration_counts():
    known = fingerprint_of(MIXTURE)
    assert known == fingerprint_of(MIXTURE)
    assert known != fingerprint_of(replace(MIXTURE, search_points=201))
    assert known["code"] != fingerprint_of(SYNTHETIC)["code"]
    assert set(known["versions"]) == {"python", "numpy", "scipy", "numba", "llvmlite"}
    assert all(machine().values())


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (
            '"""Another."""\n\n\ndef f(x):\n    """Other words."""\n    # why\n    return x + 1\n',
            True,
        ),
        ('"""A module."""\n\n\ndef f(x):\n    """Words."""\n    return x + 2\n', False),
    ],
)
def test_comments_and_docstrings_do_not_count(tmp_path, text, same):
    first, second = tmp_path / "first.py", tmp_path / "second.py"
    first.write_text('"""A module."""\n\n\ndef f(x):\n    """Words."""\n    return x + 1\n')
    second.write_text(text)
    assert (fingerprint._meaning(first) == fingerprint._meaning(second)) is same
