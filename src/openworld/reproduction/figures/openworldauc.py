"""OpenworldAUC's figures (Hua et al., 2025): what each shows, from rows of ours and of the printed tables.

The text that is published has neither the figures nor their captions; what a panel shows is what the text says of it.
Where it names data sets for a figure of the main text and one of the appendix together, the former shows the first.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from openworld.evaluations.recognition.charts import miss_hit
from openworld.evaluations.recognition.outcome import Outcome, by_setting, load
from openworld.evaluations.recognition.paper import dataset_of
from openworld.evaluations.recognition.results import AUC
from openworld.papers import AVERAGE, TABLES, PaperTable, published_numbers
from openworld.papers.results import PaperResult, paper_results
from openworld.report.charts import Cloud, Line, LineChart, Quantity, ScatterChart
from openworld.report.figure import Figure
from openworld.report.series_style import series_styles
from openworld.reproduction.figures.sweeps import BASELINE, sweep_figures
from openworld.reproduction.planned_runs import PaperFigure, Runs, by_number
from openworld.reproduction.settings import ADDED
from openworld.results import Value, mean

PAPER = "openworldauc"
ABSENT = {
    "1": "it is a drawing of the method and holds no results",
    "4": "the text that is published neither mentions it nor says what it shows",
}
"""Numbers of figures that hold no results, and what they are."""

OURS, PRINTED = "ours", "printed"
RATIO = "new/base="
DRAWN = ("OverallAcc", "HM", "AUROC", "OpenworldAUC")
PARTS = {"BaseAcc": "base accuracy", "NewAcc": "new accuracy", "AUROC": "AUROC"}
VALUE = Quantity("value", "%", ends=(0, 1))


@dataclass(frozen=True)
class BothSides:
    """Our numbers of tables and the printed ones, by (side, data set, setting, method, metric)."""

    values: Mapping[tuple[str, str, str, str, str], Value]
    datasets: Mapping[str, tuple[str, ...]]  # of ours and of the tables; ours are of theirs where any is

    @classmethod
    def of(cls, runs: Runs, tables: Sequence[PaperTable]) -> "BothSides":
        """Read tables whose data sets are those of the first."""
        values, values_of = {}, {}
        for table in tables:
            printed = published_numbers(PAPER, table.number)
            sides = {OURS: paper_results(PAPER, table.number, runs), PRINTED: printed}
            for side, numbers in sides.items():
                for number in numbers:
                    value = number.value if isinstance(number, PaperResult) else Value(number.in_data)
                    if number.dataset != AVERAGE and value.value is not None:
                        values[side, number.dataset, number.setting, number.method, number.metric] = value
                        values_of.setdefault((side, number.dataset), None)
        listed = dict.fromkeys(name for table in tables for name in table.datasets)
        ours = [name for side, name in values_of if side == OURS and name]
        return cls(values, {OURS: tuple([name for name in listed if name in ours] or ours), PRINTED: tuple(listed)})

    @property
    def same_data(self) -> bool:
        """Whether ours are of the tables' own data sets."""
        return bool({*self.datasets[OURS]} & {*self.datasets[PRINTED]})

    def methods(self, side: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(key[3] for key in self.values if key[0] == side))

    def mean(self, side: str, datasets: Sequence[str], method: str, metric: str) -> float | None:
        """The mean over data sets, or what belongs to none; None where one is missing."""
        means = {
            key[1]: value.value for key, value in self.values.items() if (key[0], *key[3:]) == (side, method, metric)
        }
        return means.get("", mean([means.get(name) for name in datasets]))


def _figure(caption: Sequence[str], charts: Sequence, baseline: str = BASELINE, **names) -> Figure:
    series = list(dict.fromkeys(name for chart in charts for name in chart.series))
    return Figure("", "", tuple(caption), tuple(charts), series_styles(series, [baseline]), **names)


def draw_plane(runs: Runs, tables: Sequence[PaperTable], axes: Mapping[str, Quantity], guide: str,
               caption: str, *, averaged: bool) -> Figure:  # fmt: skip
    """Return a dot per method in the plane of two metrics, on average or by data set, beside the printed one."""
    # Where ours are of the paper's data a thin line leads from a dot to the printed place; else these have panels.
    both, panels = BothSides.of(runs, tables), []
    ours, listed = both.datasets[OURS], both.datasets[PRINTED]
    if averaged and len(ours) > 1:
        panels.append((f"mean of {len(ours)} data sets", OURS, ours))
    else:
        panels += [(name, OURS, (name,)) for name in ours]
    if not both.same_data:
        panels += [(f"printed, mean of {len(listed)} data sets", PRINTED, listed)] if averaged else []
        panels += [(f"{name}, printed", PRINTED, (name,)) for name in listed] if len(ours) == 1 or not averaged else []
    charts = []
    for title, side, datasets in panels:
        clouds = {}
        for method in both.methods(side):
            x, y = (both.mean(side, datasets, method, metric) for metric in axes)
            if x is None or y is None:
                continue
            to_x, to_y = (both.mean(PRINTED, datasets, method, metric) for metric in axes)
            tail = side == OURS and both.same_data and to_x is not None and to_y is not None
            theirs = ((x, y), (to_x, to_y)) if tail else ()
            ends = zip(axes.values(), (to_x, to_y), strict=True)
            columns = {f"printed_{axis.key}": (end if tail else None,) for axis, end in ends}
            clouds[method] = Cloud(((x, y),), theirs, further=columns)
        charts.append(ScatterChart(title, *axes.values(), clouds, guide, named=averaged))
    apart = "A thin line leads to the printed place." if both.same_data else "Printed numbers are of other data."
    mended = "CoOp's printed place is the mean of its rows, which the paper misprints." if averaged else ""
    return _figure((caption, " ".join(filter(None, (apart, mended)))), charts, names=("panel", "method"))


def _beside(
    both: BothSides, lines: Callable[[str, str], Mapping[str, Line]], x: Quantity, caption: Sequence[str], series: str
) -> Figure:
    """Return ours and the printed `lines` (side, data set) in two charts each; of other data ours, then all printed."""
    drawn = {(name, side): lines(side, name) for side, names in both.datasets.items() for name in names}
    drawn = {place: own for place, own in drawn.items() if own}
    shared = [name for name, side in drawn if side == OURS and (name, PRINTED) in drawn] if both.same_data else []
    order = [(name, side) for name in shared for side in (OURS, PRINTED)] or [*drawn]
    charts = [
        LineChart(f"{name}, {side}", x, VALUE, drawn[name, side], named=series == "metric") for name, side in order
    ]
    return _figure(caption, charts, names=("panel", series), together=2)


def draw_profile(runs: Runs, table: PaperTable) -> Figure:
    """Return a line per method over the parts of OpenworldAUC, ours beside the printed ones."""
    both = BothSides.of(runs, (table,))
    analysed = [name for name in both.methods(OURS) if name in both.methods(PRINTED) or name.endswith(ADDED)]
    methods = {OURS: analysed or both.methods(OURS), PRINTED: both.methods(PRINTED)}

    def lines(side: str, name: str) -> dict[str, Line]:
        means = {method: [both.mean(side, (name,), method, part) for part in PARTS] for method in methods[side]}
        return {method: Line(range(len(PARTS)), own) for method, own in means.items() if {*own} != {None}}

    caption = ("What OpenworldAUC is made of: base and new images named right, and how well the two are separated.",)
    return _beside(both, lines, Quantity("part", "", "number", labels=tuple(PARTS.values())), caption, "method")


def draw_mixes(runs: Runs) -> Figure:
    """Return a line per metric over the ratio of new to base images; the band is one deviation of a single draw."""
    both = BothSides.of(runs, _RATIOS)

    def lines(side: str, dataset: str) -> dict[str, Line]:
        drawn = {}
        for metric in DRAWN:
            of = {
                float(setting.removeprefix(RATIO)): value
                for (at, name, setting, method, key), value in both.values.items()
                if (at, name, method, key) == (side, dataset, "TCP", metric) and setting.startswith(RATIO)
            }
            x = sorted(of)
            y = [value for ratio in x if (value := of[ratio].value) is not None]
            spread = [of[ratio].deviation or 0 for ratio in x] if side == OURS else []
            low, high = ([at + sign * by for at, by in zip(y, spread, strict=False)] for sign in (-1, 1))
            drawn |= {metric: Line(x, y, low, high)} if of else {}
        return drawn

    axis = Quantity("ratio", "new images for one base image", "number", 6, log=True, at_values=True)
    caption = (
        "Four numbers of TCP while base or new images are left out: means over the seeds and over draws of the images, "
        "the band one standard deviation of a single draw. Printed are Tables 11 and 12, of one draw each.",
        "A metric that should compare learners must stay level: overall accuracy follows the larger side.",
    )
    return _beside(both, lines, axis, caption, "metric")


def draw_miss_hit(runs: Runs, table: PaperTable) -> Figure:
    """Return one chart of Miss-Hit curves per data set, one curve per method."""
    by_title: dict[str, list[Outcome]] = {}
    for run in runs:
        for outcome in run.read(load):
            facts = {**outcome.facts, "learner": run.method(outcome.learner)}
            if outcome.facts.get("kind") in (None, "source"):  # fitted once, and scored in several places
                by_title.setdefault(dataset_of(run, outcome), []).append(replace(outcome, facts=facts))
    names = [name for name in table.datasets if name in by_title] or list(by_title)
    settings = {title: methods for title in names for methods in by_setting(by_title[title]).values()}
    learners = dict.fromkeys(name for methods in settings.values() for name in methods)
    figure = miss_hit(settings, series_styles(list(learners), [BASELINE]))
    undefined = Figure("", "", ("No method has base and new images that it names right: no curve is defined.",), ())
    about = "The paper prints its curves without numbers; the areas under them are those of Tables 8 and 9."
    return replace(figure, caption=(*figure.caption, about)) if figure else undefined


_TABLES = TABLES[PAPER]
_RATIOS = tuple(_TABLES[number] for number in ("11", "12"))
_NAMING = {
    "HM": Quantity("harmonic_mean", "HM of base and new accuracy, %"),
    "AUROC": Quantity("auroc", "AUROC base against new, %"),
}
_COSTS = {
    "n_params": Quantity("tuned_parameters", "tuned parameters", "number", 6, log=True),
    "OpenworldAUC": Quantity.of(AUC),
}
_PLANES = {
    "5a": (("8-9",), _NAMING, True, "HM against AUROC, mean over the data sets"),
    "5b": (("2", "7"), _COSTS, True, "OpenworldAUC against tuned parameters, mean over the data sets"),
    "5c": (("10",), _NAMING, True, "HM against AUROC, mean over ImageNet's variants"),
    "7": (("8-9",), _NAMING, False, "HM against AUROC, data set by data set"),
    "8": (("10",), _NAMING, False, "HM against AUROC, variant by variant"),
}
_ABOUT = {
    "products": "Each dot is one method: how well it names (HM) and separates base from new (AUROC), means over the "
    "seeds; the thin curves join equal products of the two. Further up and to the right is better.",
    "frontier": "Each dot is one method: its OpenworldAUC, mean over the seeds, against how many numbers it tunes; no "
    "method that tunes as little or less reaches above the thin steps. Up and to the left is better.",
}


def _figures() -> Iterator[PaperFigure]:
    yield PaperFigure("2", "four metrics against the ratio of new to base images", draw_mixes, _RATIOS)
    yield PaperFigure("3", "Miss-Hit curves", partial(draw_miss_hit, table=_TABLES["2"]), (_TABLES["2"],))
    for number, (names, axes, averaged, title) in _PLANES.items():
        tables, guide = tuple(_TABLES[name] for name in names), "products" if axes is _NAMING else "frontier"
        options = {"tables": tables, "axes": axes, "guide": guide, "caption": _ABOUT[guide], "averaged": averaged}
        yield PaperFigure(number, title, partial(draw_plane, **options), tables)
    table = _TABLES["14"]
    yield PaperFigure("9", "base accuracy, new accuracy and AUROC", partial(draw_profile, table=table), (table,))
    yield from sweep_figures()


FIGURES = by_number(_figures())  # number -> the figure
