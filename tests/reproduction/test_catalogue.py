"""All experiments, their claims and their imports."""

import subprocess
import sys
from dataclasses import replace

from skh.reproduction.catalogue import EXPERIMENTS, STUDIES
from skh.reproduction.claim import Claim, together


def test_verdicts_of_parts_are_combined():
    assert together([True, True]) is True
    assert together([True, None]) is None
    assert together([None, False]) is False
    assert together([]) is None


def test_claim_names_are_unique():
    names = [claim.name for entry in STUDIES for claim in entry.claims]
    assert len(set(names)) == len(names) > 20
    assert all(isinstance(c, Claim) and c.words for entry in STUDIES for c in entry.claims)


def test_quick_and_full_are_the_same_experiments():
    names = {entry.name for entry in STUDIES}
    assert {
        "mixture",
        "search-points",
        "runtime",
        "synthetic",
        "default",
        "second-look",
        "rendering",
        "uav",
    } <= names
    assert {*names, "demo"} == set(EXPERIMENTS)
    for entry in EXPERIMENTS.values():
        quick, full = (entry.experiment(quick=quick) for quick in (True, False))
        assert len(quick.tasks()) < len(full.tasks())
    synthetic = EXPERIMENTS["synthetic"].experiment(quick=False)
    assert len(synthetic.tasks()) == 4 * 7 * 30
    assert replace(synthetic, batches=1).tasks() == synthetic.tasks()[:28]


def test_experiments_and_claims_need_neither_matplotlib_nor_typer():
    """Workers of a cluster import the experiments but do not draw."""
    program = "import sys, skh.reproduction.catalogue; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert not {"matplotlib", "PIL", "typer"} & set(run.stdout.decode().split())
