"""How numbers of a shift report are written: points with intervals, slopes in points per level, captions."""

from collections.abc import Iterable

from openworld.evaluations.ood_detection.numbers import Number, Slope, overall, slope
from openworld.evaluations.ood_detection.run import ShiftRun
from openworld.report.sentences import listed
from openworld.report.shift_axes import AXES
from openworld.report.text import bracketed, percent, signed

LEVELS = "Levels count from 0, the nearest to the training pictures"
NAMED = 3  # models or detectors that a sentence names
LINE = "of the straight line through the levels"


def number(one: Number) -> str:
    """A fraction in percent with its interval.

    >>> number(Number(0.912, (0.9, 0.925)))
    '91.2 [90.0 92.5]'
    """
    return f"{percent(one.value)} {bracketed(one.interval)}".strip()


def sloped(one: Slope) -> str:
    """A slope in points per level with its interval.

    >>> sloped(Slope(Number(0.062, (0.05, 0.074)), 0.98, 8))
    '+6.2 [+5.0 +7.4]'
    """
    told = one.slope
    if told.value is None:
        return "–"
    return f"{signed(told.value)} {bracketed_points(told)}".rstrip()


def bracketed_points(one: Number) -> str:
    """The interval of a difference or slope, signed points; "" where there is none.

    >>> bracketed_points(Number(0.062, (0.05, 0.074)))
    '[+5.0 +7.4]'
    """
    return f"[{signed(one.interval[0])} {signed(one.interval[1])}]" if one.interval else ""


def correlated(one: Slope) -> str:
    """Pearson's correlation with two decimals; a dash where it is undefined."""
    if one.correlation is None:
        return "–"
    told = f"{one.correlation:+.2f}"
    return "0.00" if float(told) == 0 else told.replace("-", "−")


def spanned(ends: tuple[float | None, float | None]) -> str:
    """The nearest and the farthest level.

    >>> spanned((0.502, 0.97))
    '50.2 → 97.0'
    """
    return f"{percent(ends[0])} → {percent(ends[1])}"


def over(numbers: Iterable[Number]) -> str:
    """Over what the intervals of a table are; "" where it has none.

    >>> over([Number(0.5, (0.4, 0.6), "pictures"), Number(0.5)])
    '[95 % over pictures]'
    """
    kinds = dict.fromkeys(one.over for one in numbers if one.interval)
    told = [LINE if kind == "levels" else f"over {kind}" for kind in kinds]
    return f"[95 % {' or '.join(told)}]" if told else ""


def over_slopes(run: ShiftRun, metric: str = "auroc") -> str:
    """Over what the intervals of all slopes of a metric are."""
    kinds = [(axis, common) for axis in AXES for common in (False, True)]
    found = (slope(run.cells, one, axis, metric, common=common) for one in run.judged for axis, common in kinds)
    return over(one.slope for one in found)


def counted(run: ShiftRun) -> str:
    """Which pictures the main tables count."""
    known = run.told[0]["pool"]["known"]
    if not known:
        return "no picture of the pool is of an in-distribution class"
    kept = "counted" if run.cells.id_kept else "left out"
    return f"the pool's {known:,} pictures of in-distribution classes are {kept}"


def caption(run: ShiftRun) -> str:
    """What the numbers of the main table are."""
    cells, whole = run.cells, over(overall(run, one) for one in run.judged)
    sure = f" {over_slopes(run)}".rstrip()
    return (
        f"AUROC, percent, against the whole pool {whole} and at the nearest → farthest level, mean of its cells; "
        f"slopes in points per level{sure}, over all cells that are there and over common ones, "
        f"of levels of the other axis that all levels share. {LEVELS}; N/A cells (fewer than {run.least} pictures: "
        f"{int((~cells.present).sum())} of {cells.present.size}) count nowhere; {counted(run)}."
    )


def seeds_told(run: ShiftRun) -> str:
    """Seeds of every model, those that are alike together.

    >>> seeds_told(ShiftRun(({"model": "resnet-8", "seed": 0}, {"model": "resnet-8", "seed": 1})))
    '2 seeds'
    """
    by_count: dict[int, list[str]] = {}
    for model in run.models:
        by_count.setdefault(len(run.seeds(model)), []).append(model)
    told = [f"{count} seed{'s' * (count > 1)}" for count in by_count]
    if len(told) == 1:
        return told[0]
    whose = [listed(models) if len(models) <= NAMED else f"{len(models)} models" for models in by_count.values()]
    return listed([f"{one} of {models}" for one, models in zip(told, whose, strict=True)])
