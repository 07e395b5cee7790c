"""What a process keeps of the memory that it frees."""

import subprocess
import sys

import pytest

_FAULTS_OF_A_SECOND_ROUND = """
import resource
import numpy as np
from openworld.runs.allocator import keep_freed_memory
keep_freed_memory()
def use(): [np.ones(2**20, np.float64) for _ in range(20)]
use()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
use()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other C libraries have other allocators")
def test_memory_that_was_freed_is_used_again_without_the_system():
    found = subprocess.run(
        [sys.executable, "-c", _FAULTS_OF_A_SECOND_ROUND], capture_output=True, text=True, check=True
    )
    assert int(found.stdout) < 2000  # of 40,960 pages
