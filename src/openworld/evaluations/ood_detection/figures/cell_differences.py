"""One model against another: the difference of their AUROCs in every cell, detector by detector."""

import numpy as np

from openworld.evaluations.ood_detection.numbers import means
from openworld.evaluations.ood_detection.run import ShiftRun
from openworld.report.cell_map import tone_map
from openworld.report.panels import Figure, Panel
from openworld.report.shift_axes import NEAR

MOST = 12  # maps that a page has room for
HEADER = ("detector", "first_model", "second_model", "covariate_level", "semantic_level", "difference")


def cell_differences(run: ShiftRun) -> Figure | None:
    """AUROC of every other model minus that of the first, of detectors that both have; None where there are none."""
    first = {one.detector: one for one in run.judged if one.model == run.models[0]}
    pairs = [(first[one.detector], one) for one in run.judged if one.model != run.models[0] and one.detector in first]
    if not pairs:
        return None
    pairs, beyond = pairs[:MOST], len(pairs) - MOST
    apart = {pair: means(run.cells, pair[1]) - means(run.cells, pair[0]) for pair in pairs}
    largest = max(float(np.abs(one[run.cells.present]).max(initial=0.0)) for one in apart.values()) or 1.0
    counts = run.cells.counts
    panels = tuple(
        Panel(
            f"{after.detector}: {after.model} − {before.model}", tone_map(counts, one, lambda v: v / largest, _points)
        )
        for (before, after), one in apart.items()
    )
    rows = tuple(
        (after.detector, before.model, after.model, *cell, float(one[cell]))
        for (before, after), one in apart.items()
        for cell in np.ndindex(one.shape)
        if run.cells.present[cell]
    )
    caption = (
        f"Difference of the AUROCs, whole points, means over the seeds. {NEAR}."
        + f" {beyond} more pairs are not shown." * (beyond > 0),
        f"Blue where the other model is better, orange where {run.models[0]} is; nothing is tested here.",
    )
    return Figure("differences", "Model against model", caption, panels, HEADER, rows)


def _points(difference: float) -> str:
    """A difference in whole points, which a cell has room for."""
    told = f"{100 * difference:+.0f}"
    return "0" if float(told) == 0 else told.replace("-", "−")
