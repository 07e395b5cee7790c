"""Images in order, cut into periods as `Settings` says, and each of these judged: of a target, or of a watch.

What is found of a period depends on the source, on its own images in their order, and on what alarms added up before
it: not on how the images were cut into files. Its likely cause rests on features where source and target hold
`embeddings` beside their scores; else logits alone speak.
"""

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.estimators import FittedEstimator, Outputs
from openworld.estimators.quote.causes import fit_causes
from openworld.estimators.quote.decision import without_number
from openworld.estimators.quote.shift_signs import shift_signs
from openworld.estimators.streaming import Span, spans
from openworld.label_free.estimate.accuracy_estimate import Period, PeriodCause, PeriodImage, ShiftAlarm
from openworld.label_free.estimate.quotes import LABELLED, Quoting
from openworld.label_free.estimate.reading import ScoreBlock, ScoreTable
from openworld.label_free.settings import Settings

MILLISECONDS = 1e11  # seconds since 1970 stay below this until the year 5138
EXAMPLES = 8  # images that carry a cause
NAMES, IMAGES = ("id", "ids"), ("image", "path")  # columns that say which image a row is, and where it lies
SHIFTED = "a shift alarm stands: over time the images are no longer like the source's"
Times = dict[int, tuple[str, str]]
"""When the first and the last image of a period came, by its key."""

_ZONE = re.compile(r"[T ]\d\d.*?(Z|[+-]\d\d(:?\d\d)?)$")


def judge(
    quoting: Quoting,
    fitted: Mapping[str, FittedEstimator],
    span: Span,
    before: Period | None,  # the last period that ended: its alarms go on
    label: str = "",
    images: np.ndarray | None = None,  # names of the images of the span's sample
    *,
    ends: bool = True,  # one that has not ended has no alarm and no cause
    beside: bool = True,  # whether it is measured what the quoted method says of the source
) -> Period:
    """Return what is found of a period."""
    outputs, n = span.sample.outputs, span.sample.n
    estimates = {name: method.estimate(outputs, interval=False) for name, method in fitted.items()}
    quote = quoting.quote(outputs, n, estimates)
    signs = quote.signs or shift_signs(quoting.source, outputs, seed=quoting.settings.seed)
    statistic = 0.0 if before is None or before.alarm is None else before.alarm.ratio
    shift_statistic = 0.0 if before is None or before.shift_alarm is None else before.shift_alarm.statistic
    shift = None
    if ends:
        test = quoting.shift_test(outputs.n)
        score, sign = test.score(signs, outputs.n)
        shift_statistic = test.statistic(shift_statistic, score)
        shift = ShiftAlarm(score, sign, shift_statistic)
    if shift_statistic > 1 and quoting.first is None and quote.rule != LABELLED:
        quote = without_number(quote, SHIFTED)  # one by labelled shifts or by name stays
    return Period(
        number=0 if before is None else before.number + 1,
        label=label,
        first=span.first,
        n=n,
        sampled=None if span.sample.whole else outputs.n,
        methods={name: estimate.accuracy for name, estimate in estimates.items()},
        unlabelled=quote,
        signs=signs,
        accuracy=None if outputs.labels is None else 1 - outputs.mistakes / outputs.n,
        source_like=quoting.of_source(quote.method, n) if beside else None,
        alarm=quoting.alarm(quote.tested, outputs.n, statistic) if ends else None,
        shift_alarm=shift,
        cause=_cause(quoting.source, span, images) if ends else None,
    )


def _cause(source: Outputs, span: Span, images: np.ndarray | None) -> PeriodCause:
    outputs = span.sample.outputs
    both = outputs.features is not None
    home = source if both else replace(source, features=None)
    likely = source.once(("causes", both), lambda: fit_causes(home)).read(outputs, count=EXAMPLES)
    rows = span.first + span.sample.rows
    names = {row: "" if images is None else str(images[row]) for row in likely.rows}
    return PeriodCause(likely, tuple(PeriodImage(int(rows[row]), name) for row, name in names.items()))


def judge_all(
    quoting: Quoting, fitted: Mapping[str, FittedEstimator], blocks: Iterable[ScoreBlock], n: int
) -> list[Period]:
    """Return what is found of every period of a target of n images."""
    settings, periods, times = quoting.settings, [], Times()
    pieces = ((block.outputs, keys) for block, keys in keyed(blocks, settings, n, times))
    for span in spans(pieces, seed=settings.seed):
        label = name_of(settings, span, times.get(span.key, ("",))[0])
        periods.append(judge(quoting, fitted, span, periods[-1] if periods else None, label))
    return periods


def images_named(periods: Sequence[Period], table: ScoreTable) -> tuple[Period, ...]:
    """Return periods whose causes name their images as columns of the target do, by ids and paths."""
    rows = np.array(sorted({image.row for period in periods for image in period.moved.images}), int)
    columns = (next((name for name in names if name in table.present), "") for names in (NAMES, IMAGES))
    ids, paths = (dict(zip(rows.tolist(), table.entries(key, rows), strict=True)) if key else {} for key in columns)
    renamed = []
    for period in periods:
        places = (image.row for image in period.moved.images)
        images = tuple(PeriodImage(row, ids.get(row, ""), paths.get(row, "")) for row in places)
        renamed.append(replace(period, cause=replace(period.moved, images=images)))
    return tuple(renamed)


def keyed(
    blocks: Iterable[ScoreBlock], settings: Settings, n: int, times: Times, row: int = 0
) -> Iterator[tuple[ScoreBlock, np.ndarray]]:
    """Yield blocks in order, their time stamps as datetime64[s], with the period int64[n] of each of their images."""
    # `n` images in all, where they are cut into so many parts; `row` came before. `times` takes those of every period.
    if settings.chunks > n:
        raise OpenworldError(f"--chunks {settings.chunks} is more than the target's {n:,} images.")
    last, first = None, row
    for block in blocks:
        stamps = None if block.times is None else as_times(block.times)
        keys = settings.keys(np.arange(row, row + block.outputs.n), stamps, n)
        if stamps is not None:
            _require_order(stamps, last, row - first)
            for key in np.unique(keys):
                places = np.flatnonzero(keys == key)
                began = times.get(int(key), (str(stamps[places[0]]),))[0]
                times[int(key)] = began, str(stamps[places[-1]])
            last = stamps[-1]
        yield block._replace(times=stamps), keys
        row += block.outputs.n


def name_of(settings: Settings, span: Span, began: str = "", file: str = "") -> str:
    """Return what a period is called: its beginning where that is known, its rows, counted from 1, or its file."""
    if settings.period:
        return settings.beginning(span.key)
    if began:
        return f"from {began.replace('T', ' ').removesuffix(':00').removesuffix(' 00:00')}"
    return f"{span.first + 1:,} to {span.first + span.sample.n:,}" if settings.cuts else file


def as_times(values: np.ndarray) -> np.ndarray:
    """Return datetime64[s]: of dates, text in ISO 8601, or seconds since 1970; in UTC where they have a zone."""
    values = np.asarray(values)
    if values.dtype.kind in "iuf":
        if not np.isfinite(values).all() or np.abs(values).max() > MILLISECONDS:
            raise OpenworldError(
                f"the time {values.max():g} is missing or no seconds since 1970; give seconds or dates."
            )
        return values.astype("datetime64[s]")
    if values.dtype.kind in "UO":
        zoned = np.array([_ZONE.search(str(value)) is not None for value in values], bool)
        if zoned.any() and not zoned.all():  # nobody knows how far the two clocks are apart
            bare, other = values[np.flatnonzero(~zoned)[0]], values[np.flatnonzero(zoned)[0]]
            raise OpenworldError(
                f"some time stamps have a zone and some none: {other} and {bare}; give all of them one."
            )
    try:
        with warnings.catch_warnings():  # NumPy converts to UTC, and warns that it does not keep the zone
            warnings.filterwarnings("ignore", "no explicit representation of timezones", UserWarning)
            stamps = values.astype("datetime64[s]")
    except (ValueError, TypeError) as error:
        raise OpenworldError(f"time stamps cannot be read ({error}); give dates, such as 2024-02-29T12:00.") from error
    if np.isnat(stamps).any():
        raise OpenworldError(f"{np.isnat(stamps).sum()} time stamp(s) are missing; fill them in, or drop the rows.")
    return stamps


def _require_order(times: np.ndarray, last: np.datetime64 | None, row: int) -> None:
    before = times[:-1] if last is None else np.r_[last, times[:-1]]
    falls = np.flatnonzero(times[len(times) - len(before) :] < before)
    if falls.size:
        place = int(falls[0]) + len(times) - len(before)
        raise OpenworldError(
            f"time stamps must not fall: row {row + place:,} is of {times[place]}, after {before[falls[0]]}; sort the "
            "target by time."
        )
