"""Makes the helpers of these folders importable."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "by_shift"), str(HERE / "detect"), str(HERE.parent / "classifiers")]
