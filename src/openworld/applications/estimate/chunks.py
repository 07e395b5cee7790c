"""How a target in order is cut into chunks: by rows, into equal parts, or by the calendar; and what they are called."""

import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from openworld._errors import OpenworldError
from openworld.applications.estimate.score_tables import ScoreBlock
from openworld.estimators import Outputs
from openworld.estimators.quote.spans import Span

UNITS = {"min": "m", "h": "h", "d": "D", "w": "D", "month": "M", "year": "Y"}
AHEAD = {"w": 3}  # days by which weeks that begin on Mondays are ahead: 1 January 1970 was a Thursday
MILLISECONDS = 1e11  # seconds since 1970 stay below this until the year 5138
_ZONE = re.compile(r"[T ]\d\d.*?(Z|[+-]\d\d(:?\d\d)?)$")


@dataclass(frozen=True)
class Chunking:
    """How to cut: into parts, by rows of each chunk, or by a period of the calendar such as "6h", "2w", "1month"."""

    parts: int = 0
    rows: int = 0
    period: str = ""
    times: bool = False  # whether there are time stamps, which name the chunks

    def __post_init__(self):
        given = [name for name in ("parts", "rows", "period") if getattr(self, name)]
        if len(given) > 1:
            raise OpenworldError("--chunks, --chunk-rows and --period exclude one another; give one.")
        if self.times and not given:
            raise OpenworldError("--timestamps needs to know how to cut: add --period 1d, --chunks 10 or --chunk-rows.")
        if self.period:
            if not self.times:
                raise OpenworldError("--period needs time stamps: name their column with --timestamps.")
            _period(self.period)

    def __bool__(self) -> bool:
        return bool(self.parts or self.rows or self.period)

    def keys(self, rows: np.ndarray, times: np.ndarray | None, n: int) -> np.ndarray:
        """Return the chunk of every image, int64[m], from its row int64[m], its time [m], and n images in all."""
        if self.rows:
            return rows // self.rows
        if self.parts:
            edges = np.cumsum([n // self.parts + (part < n % self.parts) for part in range(self.parts)])
            return np.searchsorted(edges, rows, side="right")
        count, unit = _period(self.period)
        return (times.astype(f"datetime64[{UNITS[unit]}]").astype(np.int64) + AHEAD.get(unit, 0)) // count

    def beginning(self, key: int) -> str:
        """Return when a period of the calendar begins."""
        count, unit = _period(self.period)
        return str(np.datetime64(key * count - AHEAD.get(unit, 0), UNITS[unit]))


def _period(period: str) -> tuple[int, str]:
    """Return how many of which unit; a week is seven days."""
    match = re.fullmatch(rf"(\d*)\s*({'|'.join(UNITS)})s?", period.strip().lower())
    if match is None or match[1] == "0":
        raise OpenworldError(f"the period {period!r} is none; give a number and one of {', '.join(UNITS)}, as 6h.")
    count = int(match[1] or 1)
    return (7 * count, "w") if match[2] == "w" else (count, match[2])


class Keyed:
    """Blocks of a target, each image with the number of the chunk that it is in; iterate over it once."""

    def __init__(self, blocks: Iterable[ScoreBlock], chunking: Chunking, n: int, row: int = 0):
        if chunking.parts > n:
            raise OpenworldError(f"--chunks {chunking.parts} is more than the target's {n:,} images.")
        self.blocks, self.chunking, self.n, self.row = blocks, chunking, n, row
        self._began: dict[int, np.datetime64] = {}

    def __iter__(self) -> Iterator[tuple[Outputs, np.ndarray]]:
        row, last = self.row, None
        for block in self.blocks:
            times = None if block.times is None else as_times(block.times)
            keys = self.chunking.keys(np.arange(row, row + block.outputs.n), times, self.n)
            if times is not None:
                _require_order(times, last, row - self.row)
                for key, place in zip(*np.unique(keys, return_index=True), strict=True):
                    self._began.setdefault(int(key), times[place])
                last = times[-1]
            yield block.outputs, keys
            row += block.outputs.n

    def name(self, span: Span) -> str:
        """Return what a chunk is called: its beginning in time where that is known, else its rows, counted from 1."""
        if self.chunking.period:
            return self.chunking.beginning(span.key)
        if span.key in self._began:
            time = str(self._began[span.key]).replace("T", " ")
            return f"from {time.removesuffix(':00').removesuffix(' 00:00')}"
        return f"{span.first + 1:,} to {span.first + span.sample.n:,}"


def as_times(values: np.ndarray) -> np.ndarray:
    """Return datetime64[s]: of dates, text in ISO 8601, or seconds since 1970; in UTC where they have a zone."""
    values = np.asarray(values)
    if values.dtype.kind in "iuf":
        if not np.isfinite(values).all() or np.abs(values).max() > MILLISECONDS:
            raise OpenworldError(
                f"the time {values.max():g} is missing or no seconds since 1970; give seconds or dates."
            )
        return values.astype("datetime64[s]")
    _require_one_clock(values)
    try:
        with warnings.catch_warnings():  # NumPy converts to UTC, and warns that it does not keep the zone
            warnings.filterwarnings("ignore", "no explicit representation of timezones", UserWarning)
            stamps = values.astype("datetime64[s]")
    except (ValueError, TypeError) as error:
        raise OpenworldError(f"time stamps cannot be read ({error}); give dates, such as 2024-02-29T12:00.") from error
    if np.isnat(stamps).any():
        raise OpenworldError(f"{np.isnat(stamps).sum()} time stamp(s) are missing; fill them in, or drop the rows.")
    return stamps


def _require_one_clock(values: np.ndarray) -> None:
    """Refuse text of which some has a zone and some has none: nobody knows how far the two are apart."""
    if values.dtype.kind not in "UO":
        return
    zoned = np.array([_ZONE.search(str(value)) is not None for value in values], bool)
    if zoned.any() and not zoned.all():
        bare, other = values[np.flatnonzero(~zoned)[0]], values[np.flatnonzero(zoned)[0]]
        raise OpenworldError(f"some time stamps have a zone and some none: {other} and {bare}; give all of them one.")


def _require_order(times: np.ndarray, last: np.datetime64 | None, row: int) -> None:
    before = times[:-1] if last is None else np.r_[last, times[:-1]]
    falls = np.flatnonzero(times[len(times) - len(before) :] < before)
    if falls.size:
        place = int(falls[0]) + len(times) - len(before)
        raise OpenworldError(
            f"time stamps must not fall: row {row + place:,} is of {times[place]}, after {before[falls[0]]}; sort the "
            "target by time."
        )
