"""What fusing adds in meaning (FRAP, Figure 4): the gap to the judged model against the gap to the reference."""

import numpy as np
from markupsafe import Markup

from openworld.evaluations.accuracy_estimation.alignment import Alignment, alignments
from openworld.evaluations.accuracy_estimation.figures.estimated_and_true import averaged, shape_names, shape_of
from openworld.evaluations.accuracy_estimation.run import EstimateRun
from openworld.report.axes import Axis
from openworld.report.dots import Dots, dots_key, drawn_dots
from openworld.report.panels import Figure, Panel, frame
from openworld.report.svg import drawing

TEXT = 8  # what a dot weighs here against one of many methods: its row of the download is its own
HEADER = ("reference", "line", "condition", "kind", "model", "over_judged_model", "over_reference")


def alignment_gap(run: EstimateRun) -> Figure | None:
    """One panel per reference; None where semantic alignment is not known."""
    found = alignments(run)
    if not found:
        return None
    cells = averaged(run, TEXT * len(found))
    panels = tuple(
        Panel(f"fused with {one.reference}", _panel(run, one, cells.groups, alone=len(found) == 1)) for one in found
    )
    caption = (
        f"Every dot is one condition with one judged model{cells.said}: how much higher the Semantic Alignment Score "
        "of the fused prediction is than the judged model's (across) and than the reference's own (upwards), points.",
        "In the upper right corner fusing beats both; on the dashed lines it changes nothing.",
    )
    rows = tuple(row for one in found for row in _rows(run, one, cells.groups))
    key = dots_key([one.kind for one in run.conditions], shape_names(run))
    return Figure(
        "alignment-gap", "Does fusing bring predictions nearer in meaning?", caption, panels, HEADER, rows, key
    )


def _panel(run: EstimateRun, one: Alignment, groups, *, alone: bool) -> Markup:
    over_base, over_reference = (_of_groups(gap, groups) for gap in one.gaps.values())
    known = np.isfinite(over_base) & np.isfinite(over_reference)
    axes = [_axis(f"over {name}, points", gap[known]) for name, gap in
            (("the judged model", over_base), (one.reference, over_reference))]  # fmt: skip
    plot = frame(*axes, alone=alone)
    shapes = shape_names(run)
    kinds = np.array([condition.kind for condition in run.conditions])
    clouds = []
    for g, group in enumerate(groups):
        for kind in dict.fromkeys(kinds.tolist()):
            chosen = known[g] & (kinds == kind)
            points = 100 * np.stack([over_base[g, chosen], over_reference[g, chosen]], axis=1)
            clouds.append(Dots(kind, shape_of(run, group, shapes), [tuple(point) for point in points.tolist()]))
    zero = [plot.line((0.0, 0.0), (plot.y.low, plot.y.high), class_="asked"),
            plot.line((plot.x.low, plot.x.high), (0.0, 0.0), class_="asked")]  # fmt: skip
    told = f"Gain in semantic alignment by fusing with {one.reference}, {int(known.sum())} cases."
    return drawing(
        plot.width, plot.height, told, [plot.axes(), *zero, *drawn_dots(plot, [one for one in clouds if one.points])]
    )


def _axis(title: str, values: np.ndarray) -> Axis:
    return Axis.around(title, [0.0, *(100 * values).tolist()], limits=(-100.0, 100.0))


def _of_groups(values: np.ndarray, groups) -> np.ndarray:
    return np.stack([values[list(group)].mean(axis=0) for group in groups])


def _rows(run: EstimateRun, one: Alignment, groups):
    gaps = [_of_groups(gap, groups) for gap in one.gaps.values()]
    for g, group in enumerate(groups):
        model = run.models[group[0]].title if len({run.models[place].title for place in group}) == 1 else ""
        for c, condition in enumerate(run.conditions):
            if all(np.isfinite(gap[g, c]) for gap in gaps):
                told = (one.reference, condition.row, condition.name, condition.kind, model)
                yield (*told, *(f"{gap[g, c]:.4f}" for gap in gaps))
