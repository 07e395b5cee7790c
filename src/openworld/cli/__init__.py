"""The command line: parses first, imports late, and has no logic of its own."""

import os

from openworld.cli import console
from openworld.cli.app import app
from openworld.runs.allocator import keep_freed_memory


def main() -> None:
    """Entry point of `openworld`.

    Exit codes: 0 done, 1 failed while working, 2 wrong use, 130 interrupted, 143 terminated.
    """
    # NumPy's matrices are small here: several threads of its BLAS take three times the processor's time and no less of
    # ours, in every worker. Set before NumPy is imported; workers inherit it.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    keep_freed_memory()
    console.heed_terminate()
    app()
