"""OpenworldAUC and its parts over the levels of measured shift, one line per learner."""

from collections.abc import Iterator

from openworld.evaluations.recognition_by_shift.numbers import Levels
from openworld.evaluations.recognition_by_shift.run import PARTS
from openworld.report.level_lines import Line, level_panel, range_of
from openworld.report.panels import Figure, Panel
from openworld.report.series_style import Look
from openworld.report.shift_axes import AXES

HEADER = ("learner", "axis", "base", "part", "level", "value", "low", "high")
_SHOWN = {"near": ("openworld_auc", "new_accuracy", "auroc"), "same_looks": tuple(PARTS)}
_HEADINGS = {
    ("near", "semantic"): "How far off in meaning?",
    ("near", "covariate"): "How far off in looks?",
    ("same_looks", "covariate"): "When all pictures change their looks",
}
_ABOUT = {
    "near": "Base test pictures stay as they are, so base accuracy is the same at every level; new pictures move away.",
    "same_looks": "Base pictures and new ones move away together, as when a camera changes.",
}


def open_world_levels(levels: Levels, view: str, axis: str, looks: dict[str, Look]) -> Figure:
    """A panel for OpenworldAUC and for each part that changes; bands are 95 % intervals over drawings."""
    lines = {part: {name: _line(levels, name, view, axis, part) for name in levels.run.learners} for part in PARTS}
    panels = tuple(
        Panel(PARTS[part], level_panel(axis, range_of("percent", list(lines[part].values())), lines[part], looks))
        for part in _SHOWN[view]
    )
    caption = (
        f"Pictures at every level of {AXES[axis]}, 0 the nearest to what was tuned on. {_ABOUT[view]}",
        "Bands: 95 % over pictures, clustered by drawing where pictures show one, given the seeds; percent.",
    )
    rows = tuple(_rows(lines, view, axis))
    return Figure(f"levels-{view}-{axis}".replace("_", "-"), _HEADINGS[view, axis], caption, panels, HEADER, rows)


def _line(levels: Levels, learner: str, view: str, axis: str, part: str) -> Line:
    found = [None if one is None else one.estimate(part) for one in levels.of(learner, view, axis)]
    values = [None if one is None else one.value for one in found]
    return Line(values, [None if one is None else one.interval() for one in found])


def _rows(lines, view: str, axis: str) -> Iterator[tuple]:
    for part, by_learner in lines.items():
        for learner, line in by_learner.items():
            for level, (value, ends) in enumerate(zip(line.values, line.intervals, strict=True)):
                yield learner, axis, view, part, level, value, *(ends or (None, None))
