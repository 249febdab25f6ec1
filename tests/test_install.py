"""What a user meets first: the README's example, and no second compilation."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
FIRST_CALL = """
import skh
from skh import _compiled, _compiled_bumps, _compiled_qp, _compiled_rough
p = skh.GaussianMixture([0.5, 0.5], [[0.0], [1.0]], 1.0)
for step in (skh.Herding(), skh.FullyCorrective()):
    skh.FWQuad(skh.GaussianKernel(1.0), step, 50)(p, 5, rng=0)
print([sum(f.stats.cache_misses.values()) for f in (
    _compiled_bumps.add_bumps, _compiled_rough.rough_steps,
    _compiled.combine_and_search, _compiled_qp.solve
)])
"""


@pytest.mark.parametrize("page", ["README.md", "docs/rao_blackwell.md"])
def test_examples_in_the_text_run(page, capsys):
    code = re.search(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    scope = {}
    exec(code.group(1), scope)
    assert len(scope["result"].means) > 1
    assert np.isfinite(scope["result"].means).all()
    assert ("[" in capsys.readouterr().out) == ("print(" in code.group(1))


def test_a_second_process_finds_the_compiled_code_on_disk():
    for _ in range(2):
        run = subprocess.run(
            [sys.executable, "-c", FIRST_CALL], capture_output=True, text=True, check=True
        )
    assert run.stdout.split() == ["[0,", "0,", "0,", "0]"]
