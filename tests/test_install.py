"""What a user meets first: the README's example, and no second compilation."""

import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

import skh

ROOT = Path(__file__).parents[1]
FIRST_CALL = """
import skh
from skh import _compiled
p = skh.GaussianMixture([0.5, 0.5], [[0.0], [1.0]], 1.0)
for step in (skh.Herding(), skh.FullyCorrective()):
    skh.FWQuad(skh.GaussianKernel(1.0), step, 50)(p, 5, rng=0)
print([sum(f.stats.cache_misses.values()) for f in (
    _compiled.bumps.add_bumps, _compiled.rough.rough_steps,
    _compiled.base.combine_and_search, _compiled.qp.solve
)])
"""


def on_page(page):
    """What the first piece of code on a page defines."""
    code = re.search(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    scope = {}
    exec(code.group(1), scope)
    return scope


@pytest.mark.parametrize("page", ["README.md", "docs/rao_blackwell.md"])
def test_examples_in_the_text_run(page, capsys):
    result = on_page(page)["result"]
    assert len(result.means) > 1
    assert np.isfinite(result.means).all()
    assert ("[" in capsys.readouterr().out) == (page == "README.md")  # which prints


def in_docstring(module):
    """What the indented lines of a module's docstring define."""
    lines = [line for line in module.__doc__.splitlines() if line.startswith("    ")]
    scope = {"np": np, "skh": skh}
    exec(dedent("\n".join(lines)), scope)
    return scope


def test_examples_in_docstrings_run():
    assert in_docstring(skh)["result"].means.shape == (100, 1)
    gain, rule = in_docstring(skh.model)["RandomGain"](), in_docstring(skh.rule)["antithetic"]
    result = skh.particle_filter(gain, [0.5, 1.0, 0.8], rule, 51, rng=0)
    assert np.isfinite(result.means).all()


def test_the_example_of_the_uav_runs():
    scope = on_page("docs/uav.md")
    truth = scope["flight"].poses.position[-1]
    assert np.linalg.norm(scope["estimate"].position - truth) < 5


def test_a_second_process_finds_the_compiled_code_on_disk():
    for _ in range(2):
        run = subprocess.run(
            [sys.executable, "-c", FIRST_CALL], capture_output=True, text=True, check=True
        )
    assert run.stdout.split() == ["[0,", "0,", "0,", "0]"]
