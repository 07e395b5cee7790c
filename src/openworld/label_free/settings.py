"""What is asked of the images after a source: by which methods, cut into which periods, tested by which alarms.

An estimate takes it from its call, a watch keeps it in the file that it was fitted into.
"""

import re
from dataclasses import dataclass

import numpy as np

from openworld.core.errors import OpenworldError, present
from openworld.core.types import Share, checked
from openworld.estimators import find_estimator
from openworld.estimators.quote.alarm import Rate

RATE = 0.05  # of false alarms of either kind
UNITS = {"min": "m", "h": "h", "d": "D", "w": "D", "month": "M", "year": "Y"}
AHEAD = {"w": 3}  # days by which weeks that begin on Mondays are ahead: 1 January 1970 was a Thursday


@checked
@dataclass(frozen=True)
class Settings:
    """What is asked; what does not go together is refused. Without a cut a target is one period, as is a file."""

    estimators: tuple[str, ...] = ()  # the first is quoted; none for those that can be had
    chunks: int = 0  # how many equal periods a target is cut into
    chunk_rows: int = 0  # images of a period
    timestamps: str = ""  # the column of time stamps, which name the periods
    period: str = ""  # of the calendar, such as "6h", "2w", "1month"
    alert: Share | None = None  # accuracy below which somebody wants to know, in [0, 1]
    false_alarms: Rate = RATE  # share of years of 365 periods, or of targets that are not cut, with one by chance
    shares: str = "unknown"  # class shares "same" as on the source, or "other" and nothing else has changed
    seed: int = 0

    def __post_init__(self) -> None:
        for name in self.estimators:
            if hasattr(find_estimator(name), "score"):
                raise OpenworldError(
                    f"{name} orders sets by accuracy and gives none: it needs labelled shifted sets beside the source. "
                    "In Python: openworld.estimators.ScoreRegression."
                )
        if self.shares != "unknown" and self.estimators:
            raise OpenworldError(
                f"--{self.shares}-shares says how the rules read class shares, and --estimator quotes a method "
                "whatever they say; leave one of the two out."
            )
        if sum(map(bool, (self.chunks, self.chunk_rows, self.period))) > 1:
            raise OpenworldError("--chunks, --chunk-rows and --period exclude one another; give one.")
        if self.timestamps and not self.cuts:
            raise OpenworldError("--timestamps needs to know how to cut: add --period 1d, --chunks 10 or --chunk-rows.")
        if self.period and not self.timestamps:
            raise OpenworldError("--period needs time stamps: name their column with --timestamps.")
        if self.period:
            self._calendar()

    @property
    def cuts(self) -> bool:
        return bool(self.chunks or self.chunk_rows or self.period)

    def keys(self, rows: np.ndarray, times: np.ndarray | None, n: int) -> np.ndarray:
        """Return the period of every image, int64[m], from its row int64[m], its time [m], and n images in all."""
        if self.chunk_rows:
            return rows // self.chunk_rows
        if self.chunks:
            edges = np.cumsum([n // self.chunks + (part < n % self.chunks) for part in range(self.chunks)])
            return np.searchsorted(edges, rows, side="right")
        count, unit = self._calendar()
        times = present(times, "the time stamps of --period")
        return (times.astype(f"datetime64[{UNITS[unit]}]").astype(np.int64) + AHEAD.get(unit, 0)) // count

    def beginning(self, key: int) -> str:
        count, unit = self._calendar()
        return str(np.int64(key * count - AHEAD.get(unit, 0)).astype(f"datetime64[{UNITS[unit]}]"))

    def _calendar(self) -> tuple[int, str]:
        """Return how many of which unit a period is; a week is seven days."""
        match = re.fullmatch(rf"(\d*)\s*({'|'.join(UNITS)})s?", self.period.strip().lower())
        if match is None or match[1] == "0":
            raise OpenworldError(
                f"the period {self.period!r} is none; give a number and one of {', '.join(UNITS)}, as 6h."
            )
        count = int(match[1] or 1)
        return (7 * count, "w") if match[2] == "w" else (count, match[2])
