"""How numbers of a shift report are written: points with intervals, slopes in points per level, captions."""

from openworld.report.figures.figure import percent, signed
from openworld.report.shifts.numbers import Number, Slope
from openworld.report.shifts.run import ShiftRun
from openworld.report.tables import bracketed
from openworld.report.verdict import listed

LEVELS = "Levels count from 0, the nearest to the training pictures"
NAMED = 3  # models or detectors that a sentence names
PICTURES, LINE = "over pictures", "of the straight line through the levels"


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
    interval = f" [{signed(told.interval[0])} {signed(told.interval[1])}]" if told.interval else ""
    return signed(told.value) + interval


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


def over(run: ShiftRun, one_seed: str) -> str:
    """Over what intervals are; `one_seed` says so for a model of one seed.

    >>> over(ShiftRun(({"model": "resnet-8", "seed": 0}, {"model": "resnet-8", "seed": 1})), "over pictures")
    '[95 % over the seeds]'
    """
    several = {len(run.seeds(model)) > 1 for model in run.models}
    told = {(True,): "over the seeds", (False,): one_seed}
    return f"[95 % {told.get(tuple(several), f'over the seeds; of one seed {one_seed}')}]"


def counted(run: ShiftRun) -> str:
    """Which pictures the main tables count."""
    known = run.told[0]["pool"]["known"]
    if not known:
        return "no picture of the pool is of an in-distribution class"
    kept = "counted" if run.cells.id_kept else "left out"
    return f"the pool's {known:,} pictures of in-distribution classes are {kept}"


def caption(run: ShiftRun) -> str:
    """What the numbers of the main table are."""
    cells = run.cells
    return (
        f"AUROC, percent, against the whole pool {over(run, PICTURES)} and at the nearest → farthest level, mean of "
        f"its cells; slopes in points per level {over(run, LINE)}, over all cells that are there and over common ones, "
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
