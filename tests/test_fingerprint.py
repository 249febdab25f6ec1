"""What counts as another version of an experiment, and what does not."""

from dataclasses import replace

import pytest

from skh.experiments import fingerprint as fingerprints
from skh.experiments.fingerprint import closure, fingerprint, machine
from small import MIXTURE, SYNTHETIC


def test_only_what_an_experiment_imports_counts():
    needed = closure("skh.experiments.synthetic")
    assert {
        "skh.frank_wolfe.fw_quad",
        "skh.models.jump_markov",
        "skh.models.exact_filters",
    } <= needed
    assert any(name.startswith("skh._compiled") for name in needed)
    assert not {name for name in needed if name.startswith(("skh.claims", "skh.figures"))}
    assert not {"skh.cli", "skh.report_html", "skh.experiments.engine"} & needed


def test_every_field_of_the_configuration_counts():
    known = fingerprint(MIXTURE)
    assert known == fingerprint(MIXTURE)
    assert known != fingerprint(replace(MIXTURE, search_points=201))
    assert known["code"] != fingerprint(SYNTHETIC)["code"]
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
    assert (fingerprints._meaning(first) == fingerprints._meaning(second)) is same
