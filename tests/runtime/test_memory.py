"""Freed memory that a process keeps is not mapped and cleared again."""

import platform
import subprocess
import sys

import pytest

SCRIPT = """
import resource
import numpy as np
from skh._runtime import memory as _memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(5):
        np.ones(1 << 23)  # 64 MiB
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

returned = faults()
_memory.keep_all_freed_memory()
faults()
print(returned, faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="about the C library of GNU")
def test_keep_all_freed_memory_avoids_page_faults_of_large_blocks():
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    returned, kept = map(int, run.stdout.split())
    assert returned > 100  # 5 blocks of 32 large pages, or of 16,384 small ones
    assert kept < 10
