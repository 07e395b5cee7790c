"""How the cells and column heads of a table beside ours are written: units and digits as the paper prints them."""

from collections.abc import Iterator, Sequence
from math import floor, log10

from openworld.evaluations.recognition.paper import BOTH_SIDES, CROSSED, SIDES
from openworld.papers import AVERAGE, METRICS
from openworld.reproduction.comparison.cells import Column, Pair
from openworld.reproduction.comparison.compare import Beside
from openworld.results import Interval

SHORT = {
    SIDES["forward"]: "Fwd",
    SIDES["backward"]: "Bwd",
    BOTH_SIDES: "",
    CROSSED: "",
    "open-world recognition": "recognition",
    "open-world recognition (imbalanced test sets)": "imbalance",
    "domain adaption (column name as printed)": "domain adaption",
    "complexity": "",
    "entire ImageNet-21K (with labeling issues)": "entire pool",
    "subsets with larger semantic shift (fewer labeling issues)": "larger semantic shift",
}
MINUS = "\u2212"


def number(value: float | None, metric: str, *, screen: bool = False) -> str:
    """A number with the paper's digits; percentages with one decimal on screen; a dash where there is none.

    >>> number(60.942, "OpenworldAUC"), number(60.942, "OpenworldAUC", screen=True), number(0.4891, "AUC")
    ('60.94', '60.9', '0.489')
    """
    if value is None:
        return "–"
    told = METRICS[metric]
    if told.unit == "seconds" and 0 < value < 1e-4:
        return f"{value:.{1 - floor(log10(value))}f}"  # two figures
    if metric == "Final_rank":
        return f"{value:g}"
    return f"{value:,.{_digits(metric, screen)}f}".replace("-", MINUS)


def difference(value: float | None, metric: str, *, screen: bool = False) -> str:
    """A difference with its sign; empty where there is none.

    >>> difference(-0.061, "HM"), difference(0.0004, "AUC")
    ('−0.06', '0.000')
    """
    if value is None:
        return ""
    told = f"{value:+,.{_digits(metric, screen)}f}"
    return told[1:] if not float(told.replace(",", "")) else told.replace("-", MINUS)


def bracketed(interval: tuple[float, float] | None, metric: str, *, screen: bool = False) -> str:
    """The two ends in brackets; empty where there is no interval."""
    return "" if interval is None else f"[{' '.join(number(end, metric, screen=screen) for end in interval)}]"


def title(shown: Beside, column: Column) -> str:
    """The head of a column: whatever tells it from the others."""
    dataset = column.dataset if column.dataset != AVERAGE else "" if column.task else _average(shown, column)
    axes = [column.method, dataset, *(SHORT.get(told, told) for told in (column.task, column.setting))]
    parts = [part for part in axes if part]
    symbol = METRICS[column.metric].symbol
    if not parts or len({other.metric for other in shown.columns}) > 1 or column.printed_only:
        parts.append(symbol)
    return " ".join(parts) + (", printed" if column.printed_only else "")


def rows_title(shown: Beside) -> str:
    """What the rows are, as the head of their column."""
    return {"dataset": "data set"}.get(shown.table.rows, shown.table.rows)


def row_title(row: str) -> str:
    """The head of a row: a method, or a setting in fewer words.

    >>> row_title("variance over the ten ratios"), row_title("GMoP")
    ('variance', 'GMoP')
    """
    return row.removesuffix(" over the ten ratios")


def caption(shown: Beside) -> str:
    """What the cells hold, and what the intervals are over."""
    units = dict.fromkeys(METRICS[column.metric].unit for column in shown.columns)
    firsts = [pair.ours.intervals[0] for pair in shown.pairs.values() if pair.ours and pair.ours.intervals]
    ours = "ours [95 %]" if firsts else "ours"
    parts = f"{ours}, printed, ours minus printed" if shown.same_data else f"{ours}; printed ones are called so"
    if not shown.same_data and any(_both(pair) for pair in shown.pairs.values()):
        parts = f"{ours}, and printed on the paper's data"
    over = " or ".join(_all_over(firsts))
    means = sorted({len(pair.ours.per_seed) for pair in shown.pairs.values() if pair.ours and pair.ours.per_seed})
    seeds = f" Means of {' or '.join(map(str, means))} seed{'s' * (means != [1])}." if means else ""
    told = f" Intervals are over {over}." if over else ""
    return f"{_capital(' and '.join(units))}: {parts}.{seeds}{told}"


def explained(pair: Pair) -> str:
    """All that is known of one cell, in a line: every interval, the printed deviation, the verdict."""
    metric = pair.ours.metric if pair.ours else ""
    told = (
        [f"{bracketed((one.low, one.high), metric)} over {_over(one)}" for one in pair.ours.intervals]
        if pair.ours
        else []
    )
    deviation = [] if pair.std is None else [f"printed deviation {pair.std:g}"]
    corrected = [f"{pair.words} (p {pair.p:.2g})"] if pair.words else []
    return "; ".join([*told, *deviation, *corrected])


def _digits(metric: str, screen: bool) -> int:
    return 1 if screen and METRICS[metric].unit == "percent" else METRICS[metric].digits


def _average(shown: Beside, column: Column) -> str:
    counts = {len(pair.ours.datasets) for (_, own), pair in shown.pairs.items() if own == column and pair.ours}
    return f"{AVERAGE} of {' or '.join(map(str, sorted(counts)))}" if counts else AVERAGE


def _all_over(intervals: Sequence[Interval]) -> Iterator[str]:
    """What the intervals are over, each once, with every number of them."""
    for over in dict.fromkeys(one.over for one in intervals):
        counts = sorted({one.n for one in intervals if one.over == over})
        yield f"{over} (n = {', '.join(map(str, counts))})"


def _over(interval: Interval) -> str:
    return f"{interval.over} (n = {interval.n})"


def _both(pair: Pair) -> bool:
    return pair.ours is not None and pair.published is not None


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
