"""How long `import openworld` and `openworld --help` take, beside an empty Python and `import torch`.

    python bench/startup.py

Prints medians of fresh processes, interleaved, and their ratio to the empty Python of the same run.
"""

import statistics
import subprocess
import sys
import time

REPEATS = 11
COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import openworld": ["-c", "import openworld"],
    "import openworld.metrics": ["-c", "import openworld.metrics"],
    "openworld --help": ["-m", "openworld", "--help"],
    "openworld run --help": ["-m", "openworld", "run", "--help"],
    "import torch": ["-c", "import torch"],
}


def seconds(arguments: list[str]) -> float:
    """Wall-clock time of one fresh process."""
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    return time.perf_counter() - started


def main() -> None:
    """Measure and print."""
    taken = {name: [] for name in COMMANDS}
    for _ in range(REPEATS):
        for name, arguments in COMMANDS.items():
            taken[name].append(seconds(arguments))
    medians = {name: statistics.median(values) for name, values in taken.items()}
    print(f"{'process':26} {'median s':>9} {'x empty Python':>15}")
    for name, median in medians.items():
        print(f"{name:26} {median:9.3f} {median / medians['python -c pass']:15.1f}")


if __name__ == "__main__":
    main()
