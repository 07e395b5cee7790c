"""Files beside the tests can be imported by their names, and so can the cases of the metrics."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "metrics")]
