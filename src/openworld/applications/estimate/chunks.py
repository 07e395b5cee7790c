"""How a target in order is cut into spans: by rows, into equal parts, or by the calendar; and what they are called."""

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from openworld._errors import OpenworldError
from openworld.applications.estimate.score_tables import Block
from openworld.estimators import Outputs
from openworld.estimators.quote.spans import Span

UNITS = {"min": "m", "h": "h", "d": "D", "w": "D", "month": "M", "year": "Y"}
MILLISECONDS = 1e11  # seconds since 1970 stay below this until the year 5138
_ZONE = re.compile(r"[T ]\d\d.*?(Z|[+-]\d\d(:?\d\d)?)$")


@dataclass(frozen=True)
class Cut:
    """How to cut. One of: parts, rows of each span, or a period of the calendar such as "6h", "1d", "2w", "1month".

    times: whether there are time stamps, which name the spans.

    Raises:
        OpenworldError: none of the three or several, a period without time stamps, or that is none.
    """

    parts: int = 0
    rows: int = 0
    period: str = ""
    times: bool = False

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


class Keyed:
    """Blocks of a target, each image with the number of the span that it is in; iterate over it once.

    Args:
        blocks: of the target. cut: how. n: images of the target.
    Raises:
        OpenworldError: more parts than images; while iterating, time stamps that fall or are missing.
    """

    def __init__(self, blocks: Iterable[Block], cut: Cut, n: int):
        if cut.parts > n:
            raise OpenworldError(f"--chunks {cut.parts} is more than the target's {n:,} images.")
        self.blocks, self.cut, self._keys_of = blocks, cut, _by_period(cut.period) if cut.period else _by_row(cut, n)
        self._began: dict[int, np.datetime64] = {}

    def __iter__(self) -> Iterator[tuple[Outputs, np.ndarray]]:
        row, last = 0, None
        for block in self.blocks:
            times = None if block.times is None else as_times(block.times)
            keys = self._keys_of(np.arange(row, row + block.outputs.n), times)
            if times is not None:
                _require_order(times, last, row)
                self._note(keys, times)
                last = times[-1]
            yield block.outputs, keys
            row += block.outputs.n

    def name(self, span: Span) -> str:
        """What a span is called: its beginning in time where that is known, else its rows, counted from 1."""
        if self.cut.period:
            return _beginning(self.cut.period, span.key)
        if span.key in self._began:
            return f"from {_written(self._began[span.key])}"
        return f"{span.first + 1:,} to {span.first + span.sample.n:,}"

    def _note(self, keys: np.ndarray, times: np.ndarray) -> None:
        for key, place in zip(*np.unique(keys, return_index=True), strict=True):
            self._began.setdefault(int(key), times[place])


def as_times(values: np.ndarray) -> np.ndarray:
    """Time stamps as datetime64[s]: dates, text in ISO 8601, or seconds since 1970; in UTC where they have a zone.

    Raises:
        OpenworldError: missing or unreadable time stamps, numbers that can be no seconds, zones in some rows alone.

    >>> as_times(np.array(["2024-02-29T12:00"])), as_times(np.array([86400]))
    (array(['2024-02-29T12:00:00'], dtype='datetime64[s]'), array(['1970-01-02T00:00:00'], dtype='datetime64[s]'))
    """
    values = np.asarray(values)
    if values.dtype.kind in "iuf":
        if not np.isfinite(values).all() or np.abs(values).max() > MILLISECONDS:
            raise OpenworldError(
                f"time stamps such as {values.max():g} are missing or no seconds since 1970; give seconds or dates."
            )
        return values.astype("datetime64[s]")
    _require_one_clock(values)
    try:
        with warnings.catch_warnings():  # NumPy converts to UTC, and warns that it does not keep the zone
            warnings.filterwarnings("ignore", "no explicit representation of timezones", UserWarning)
            found = values.astype("datetime64[s]")
    except (ValueError, TypeError) as error:
        raise OpenworldError(
            f"time stamps cannot be read ({error}); give dates, or text such as 2024-02-29T12:00."
        ) from error
    if np.isnat(found).any():
        raise OpenworldError(f"{int(np.isnat(found).sum())} time stamp(s) are missing; fill them in, or drop the rows.")
    return found


def _require_one_clock(values: np.ndarray) -> None:
    """Refuse text of which some has a zone and some has none: nobody knows how far the two are apart."""
    if values.dtype.kind not in "UO":
        return
    zoned = np.array([_ZONE.search(str(value)) is not None for value in values], bool)
    if zoned.any() and not zoned.all():
        bare, other = values[np.flatnonzero(~zoned)[0]], values[np.flatnonzero(zoned)[0]]
        raise OpenworldError(
            f"some time stamps have a zone and some have none, such as {other} and {bare}; give all of them one, or "
            "none."
        )


def _require_order(times: np.ndarray, last: np.datetime64 | None, row: int) -> None:
    before = times[:-1] if last is None else np.r_[last, times[:-1]]
    falls = np.flatnonzero(times[len(times) - len(before) :] < before)
    if falls.size:
        place = int(falls[0]) + len(times) - len(before)
        raise OpenworldError(
            f"time stamps must not fall: row {row + place:,} is of {times[place]}, after {before[falls[0]]}; sort the "
            "target by time."
        )


Keys = Callable[[np.ndarray, np.ndarray | None], np.ndarray]


def _by_row(cut: Cut, n: int) -> Keys:
    if cut.rows:
        return lambda rows, times: rows // cut.rows
    edges = np.cumsum([n // cut.parts + (part < n % cut.parts) for part in range(cut.parts)])
    return lambda rows, times: np.searchsorted(edges, rows, side="right")


def _by_period(period: str) -> Keys:
    count, unit = _period(period)
    return lambda rows, times: (times.astype(f"datetime64[{UNITS[unit]}]").astype(np.int64) + _shift(unit)) // count


def _beginning(period: str, key: int) -> str:
    count, unit = _period(period)
    return str(np.datetime64(key * count - _shift(unit), UNITS[unit]))


def _period(period: str) -> tuple[int, str]:
    """How many of which unit; a week is seven days."""
    found = re.fullmatch(rf"(\d*)\s*({'|'.join(UNITS)})s?", period.strip().lower())
    if found is None or found[1] == "0":
        raise OpenworldError(
            f"the period {period!r} is none; give a number and one of {', '.join(UNITS)}, such as 6h or 1month."
        )
    count = int(found[1] or 1)
    return (7 * count, "w") if found[2] == "w" else (count, found[2])


def _shift(unit: str) -> int:
    """Days by which weeks that begin on Mondays are ahead: 1 January 1970 was a Thursday."""
    return 3 if unit == "w" else 0


def _written(time: np.datetime64) -> str:
    return str(time).replace("T", " ").removesuffix(":00").removesuffix(" 00:00")
