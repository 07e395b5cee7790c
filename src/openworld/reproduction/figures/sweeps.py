"""Figures 6 and 10 to 13 of OpenworldAUC (Hua et al., 2025): K, shots, lambda and the mixture, run and drawn.

What they vary stands in `papers.toml`. Which competitors are swept over the shots is not said: they are those of
Table 14.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from openworld.evaluations.entries import LearnerSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.recognition.outcome import Outcome, load
from openworld.evaluations.recognition.paper import dataset_of
from openworld.evaluations.recognition.results import AUC, learner_results
from openworld.learners import override
from openworld.papers import published_numbers
from openworld.papers.results import PaperRun
from openworld.report.charts import IntervalChart, IntervalRow, LineChart, Quantity, Reference
from openworld.report.figure import Figure
from openworld.report.layout import Brief, Lines
from openworld.report.series_style import series_styles
from openworld.reproduction.openworldauc import LEARNERS, METHODS, PUBLISHED_TASK, STAND_INS, recognition_spec
from openworld.reproduction.planned_runs import PAPERS, PaperFigure, PlannedRun, Runs, with_tuples
from openworld.reproduction.settings import ReproductionSetup
from openworld.results import Result, Results

METHOD, BASELINE = "GMoP", "CLIP"


@dataclass(frozen=True)
class FigureSweep:
    """What one kind of figure varies, and on which data sets."""

    name: str
    numbers: tuple[str, str]
    title: str
    datasets: tuple[str, ...]  # as the paper calls them; the main text shows the first
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # of GMoP -> settings; {}: shots of several
    varies: str = ""  # the setting that differs, and its words; "" where learners stand below one another
    axis: str = ""
    printed: str = "printed"  # what Table 2 prints of it
    shots: tuple[int, ...] = ()  # training images of each class; () for the paper's

    def runs(self, setup: ReproductionSetup, datasets: Iterable[str]) -> Iterator[PlannedRun]:
        """Yield one run per data set, or stand-in, of those named; none where no method or data set is asked for."""
        for data in dict.fromkeys(setup.place(title, STAND_INS) for title in datasets if setup.keeps_data(title)):
            learners = self.learners(setup, data)
            if not learners:
                continue
            shared = LEARNERS.settings((), data, setup) | {"learners": tuple(learners.values())}
            spec = recognition_spec(data, shared | ({"shots": self.shots} if self.shots else {}))
            fewer = [name for name in learners if name in METHODS] if setup.learners and self.shots else ()
            methods = {learner.label: name for name, learner in learners.items()}
            yield PlannedRun(f"{self.name}-{data.dataset}{setup.suffix(*fewer)}", spec, setup.titles([data]), methods)

    def learners(self, setup: ReproductionSetup, data: DatasetSpec) -> dict[str, LearnerSpec]:
        """Return what is compared: the published mixture and its variants, or learners, with settings that suit."""
        if self.variants:
            usual = setup.every_method(METHODS)[METHOD]
            entries = {METHOD: usual} if setup.keeps(METHOD, METHODS[METHOD].label) else {}
            for name, settings in self.variants.items() if entries else ():
                entries[name] = replace(usual, label=name, settings=override(usual.settings, settings))
        else:  # CLIP and the methods of Table 14; of all methods those that are asked for, where any is
            names = {BASELINE} | {number.method for number in published_numbers("openworldauc", "14")}
            every = setup.methods(METHODS).items()
            entries = {
                name: methods for name, methods in every if setup.learners or name in names or name not in METHODS
            }
        return {name: setup.learner(entry, data.dataset, PUBLISHED_TASK) for name, entry in entries.items()}


SWEEPS = tuple(FigureSweep(**with_tuples(entry)) for entry in PAPERS["openworldauc"]["sweeps"])


def sweep_figures() -> Iterator[PaperFigure]:
    """Yield the figures that have runs of their own, on the first data set of a sweep, and on all."""
    for sweep in SWEEPS:
        for number, datasets in zip(sweep.numbers, (sweep.datasets[:1], sweep.datasets), strict=True):
            draw = partial(draw_sweep, sweep=sweep, datasets=datasets)
            runs = partial(sweep.runs, datasets=datasets)
            yield PaperFigure(number, f"{sweep.title} on {', '.join(datasets)}", draw, runs=runs)


def draw_sweep(runs: Runs, sweep: FigureSweep, datasets: Sequence[str]) -> Figure:
    """Return OpenworldAUC against what a sweep varies, one chart per data set, with what Table 2 prints."""
    rows = [row for row in sweep_rows(runs, sweep) if row.value.value is not None]
    ours = dict.fromkeys(str(row.where["data_set"]) for row in rows)
    names = [title for title in datasets if title in ours] or list(ours)
    results = Results("recognition", tuple(row for row in rows if row.where["data_set"] in names))
    if not names:
        return Figure("", "", ("No value of the sweep has an OpenworldAUC, so that nothing can be drawn.",), ())
    styles = series_styles(list(results.entities), [BASELINE])
    printed = {(each.dataset, each.method): each.in_data for each in published_numbers("openworldauc", "2")}
    charts: list[LineChart | IntervalChart] = []
    if sweep.varies:
        part = Lines(name="sweep", title="", metrics=(AUC.key,), along=sweep.varies, per=("data_set",))
        x = Quantity(sweep.varies, sweep.axis, "number", 6, log=bool(sweep.shots), at_values=True)
        drawn = part.figure(Brief(results, BASELINE, label="method"), styles)
        lines = [replace(chart, x=x) for chart in (drawn.charts if drawn else ()) if isinstance(chart, LineChart)]
        charts += sorted(lines, key=lambda chart: names.index(chart.title))
    for title in names if not sweep.varies else ():
        intervals = {}
        for row in results.where(data_set=title):
            images, per_seed = row.value.over("images"), [number for number in row.per_seed if number is not None]
            ends = (images.low, images.high) if images else None
            behind = (min(per_seed), max(per_seed)) if len(per_seed) > 1 else None
            if row.value.value is not None:
                further = {"seeds": len(row.per_seed)}
                intervals[row.entity] = IntervalRow(row.value.value, ends, behind, further=further)
        charts.append(IntervalChart(title, Quantity.of(AUC), intervals))
    for at, chart in enumerate(charts):
        if sweep.shots and isinstance(chart, LineChart):
            series = {}
            for method, line in chart.series.items():  # a ring where the paper prints the method
                area, most = printed.get((chart.title, method)), sweep.shots[-1]
                rings = () if area is None else ((most, area, f"printed {AUC.write(area)} %"),)
                column = [area if shot == most else None for shot in line.x]
                series[method] = replace(line, rings=rings, further={**line.further, "printed": column})
            charts[at] = replace(chart, series=series)
        elif (chart.title, METHOD) in printed:
            line = Reference(printed[chart.title, METHOD], sweep.printed, "y" if sweep.varies else "x")
            charts[at] = replace(chart, references=(line,))
    about = "Beside ours stands what Table 2 prints; the printed figure itself is an image without numbers."
    caption = ("OpenworldAUC, percent, means over the seeds; bands and bars: 95 % over images, given the seeds.", about)
    return Figure("", "", caption, tuple(charts), styles, names=("data_set", "method"))


def sweep_rows(runs: Iterable[PaperRun], sweep: FigureSweep) -> Iterator[Result]:
    """Yield OpenworldAUC by data set and value; entries that differ in a setting alone are one method, as shots are."""
    groups: dict[tuple, list[Outcome]] = {}
    for run in (run for run in runs if run.folder.name.startswith(f"{sweep.name}-")):
        for outcome in run.read(load):
            chosen = outcome.facts.get("detail", {}).get("chosen", {})
            value = outcome.facts.get("shots") or None if sweep.shots else chosen.get(sweep.varies)
            method = METHOD if sweep.varies and not sweep.shots else run.method(outcome.learner)
            groups.setdefault((dataset_of(run, outcome), method, value), []).append(outcome)
    every = list(dict.fromkeys(value for _, _, value in groups if value is not None))
    for (dataset, method, value), outcomes in groups.items():
        seeds = sorted(outcomes, key=lambda outcome: outcome.seed)
        for at in [value] if value is not None or not sweep.varies else every:  # untuned: the same at all shots
            place = {"data_set": dataset} | ({sweep.varies: at} if sweep.varies else {})
            yield from (row for row in learner_results(method, seeds, place) if row.metric == AUC)
