"""What rows of recognition cannot hold: Miss/Hit curves, and images worth seeing.

MissRate(t) is the share of base images rejected or misnamed at threshold t, HitRate(t) the share of new images
flagged and named right; the area under the curve is OpenworldAUC (Hua et al., 2025, Section 4.2). A learner's curve is
the mean of its seeds' curves at equal miss rates, so its area is the mean of their OpenworldAUC.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from openworld.evaluations.recognition.outcome import Outcome
from openworld.evaluations.recognition.results import RecognitionResults
from openworld.evaluations.recognition_metrics import rows_of
from openworld.metrics import miss_hit_curve
from openworld.report.album import KINDS, Album, AlbumImage, Chosen, choose
from openworld.report.charts import Line, LineChart, Quantity, Reference, Region
from openworld.report.data_files import data_address
from openworld.report.figure import Figure
from openworld.report.sentences import percent
from openworld.report.series_style import SeriesStyle
from openworld.results import Results

MISS_GRID = tuple(round(float(miss), 4) for miss in np.linspace(0.0, 1.0, 101))
MISSED = Quantity("miss_rate", "base images missed, %", ends=(0, 1))
HIT = Quantity("hit_rate", "new images hit, %", ends=(0, 1))
CORNER = Region((0, 0.5), (0.5, 1), "few misses, many hits")
RULES = {"miss_rate": "x", "hit_rate": "y"}
Learners = Mapping[str, Sequence[Outcome]]


THUMBNAIL_BYTES = 500_000  # of the page's 1.5 MB; thumbnails beyond it are left out, and the page says so


def miss_hit(
    settings: Mapping[str, Learners],
    styles: Mapping[str, SeriesStyle],
    *,
    results: Results | None = None,
    rule: Mapping[str, float] | None = None,
    front: Sequence[str] = (),
) -> Figure | None:
    """Return a chart per setting, a curve per learner; None where no curve is defined."""
    rings = _rings(results) if results and rule else {}
    across = tuple(Reference(rule[key], "required", axis) for key, axis in RULES.items() if rule and key in rule)
    charts = []
    for title, learners in settings.items():
        lines = {
            learner: Line(MISS_GRID, mean_curve(outcomes), rings=rings.get((title, learner), ()))
            for learner, outcomes in learners.items()
            if all(outcome.area is not None for outcome in outcomes)
        }
        setting_title = title if len(settings) > 1 else ""
        charts.append(LineChart(setting_title, MISSED, HIT, lines, tuple(front), references=across, regions=(CORNER,)))
    if not any(chart.series for chart in charts):
        return None
    caption = (
        "Moving the threshold trades base images missed (flagged or misnamed) against new images hit (flagged and "
        "named right); means over the seeds. Higher and further left is better, and the area under a curve is its "
        f"OpenworldAUC.{' A ring marks where one is run, on the test images.' if rings else ''}",
    )
    names = ("setting", "learner")
    return Figure(
        "miss-hit", "Few misses, many hits?", caption, tuple(charts), styles, names=names, shared=_wide(charts)
    )


def mean_curve(outcomes: Sequence[Outcome]) -> tuple[float, ...]:
    """Return the hit rates at the miss rates of MISS_GRID, means over the seeds."""
    curves = [miss_hit_curve(*outcome.test.samples) for outcome in outcomes]
    # No hit is reached below the share of misnamed base images.
    rates = [np.interp(MISS_GRID, curve.miss_rate, curve.hit_rate, left=0.0) for curve in curves]
    return tuple(np.mean(rates, axis=0).tolist())


def _rings(results: Results) -> dict[tuple[str, str], tuple[tuple[float, float, str], ...]]:
    """A ring where both rates of a learner are known, by setting and learner."""
    rates: dict[tuple[str, str], dict[str, float]] = {}
    for row in results:
        if row.metric.key in ("miss", "hit") and "part" not in row.where and row.value.value is not None:
            rates.setdefault((str(row.where["setting"]), row.entity), {})[row.metric.key] = row.value.value
    return {
        place: ((at["miss"], at["hit"], f"run at {percent(at['miss'])} % missed, {percent(at['hit'])} % hit"),)
        for place, at in rates.items()
        if len(at) == 2
    }


def _wide(charts: Sequence[LineChart]) -> tuple[dict, ...]:
    """A row per miss rate and a column per learner: a fifth of the length of a row per point."""
    lines = {
        f"{name} ({chart.title})" if chart.title else name: line
        for chart in charts
        for name, line in chart.series.items()
    }
    return tuple(
        {MISSED.key: miss} | {name: round(y, 4) for name, line in lines.items() if (y := line.y[place]) is not None}
        for place, miss in enumerate(MISS_GRID)
    )


def albums(results: RecognitionResults) -> list[Album]:
    count = {1: 8, 2: 6}.get(len(results.settings), 4)
    left, albums = THUMBNAIL_BYTES, []
    for setting in results.settings:
        kinds = []
        for name, images in shown_images(setting.outcomes[setting.best][0], count).items():
            kept = []
            for image in images:
                left -= len(image.address or "")
                kept.append(image if left >= 0 else replace(image, address=None))
            kinds.append((KINDS[name], tuple(kept)))
        if kinds:
            group, seed = setting.first.group_name, setting.seeds(setting.best)[0]
            once = f"; of one {group} only the most telling image is shown" if group else ""
            caption = (
                f"Of {setting.best}, seed {seed}. Confidence is its softmax among the names of the image's own half"
            )
            albums.append(Album(setting.title, f"{caption}{once}.", tuple(kinds)))
    return albums


def shown_images(outcome: Outcome, count: int = 8) -> dict[str, list[AlbumImage]]:
    """The chosen images of one outcome with names and scores, by kind; {} where confidences were not recorded."""
    if "confidence" not in outcome.test.images:
        return {}
    closed_set = outcome.test.closed_set
    if closed_set:  # a new image has no right name that could be missed
        base = rows_of(outcome.test.images, outcome.test.is_base)
        outcome = replace(outcome, test=replace(outcome.test, images=base))
    chosen = choose(outcome.test.images, count)
    return {
        kind: [_shown(outcome, image, by_class=kind.endswith("classes")) for image in picked]
        for kind, picked in chosen.items()
        if not (closed_set and kind == "wrong_new")
    }


def _shown(outcome: Outcome, chosen: Chosen, *, by_class: bool) -> AlbumImage:
    images, names, (place, accuracy, count) = outcome.test.images, outcome.facts["classnames"], chosen
    data = outcome.thumbnail(int(images["id"][place]))
    address = None if data is None else data_address("image/png", data)
    name = names[int(images["label"][place])]
    tags = {"side": str(images["side"][place]), "class": name}
    tags["outcome"] = "right" if images["correct"][place] else "wrong"
    value = float(images["score"][place])
    if by_class:
        share = f"{100 * accuracy:.0f}\u00a0%"
        caption = f"{images['side'][place]} · {share} of {count} named right"
        return AlbumImage(address, name, caption, tags, value)
    prediction = int(images["prediction"][place]) if "prediction" in images else -1
    said = f"“{names[prediction]}”" if prediction >= 0 else "something else"
    confidence = f"{100 * float(images['confidence'][place]):.0f}\u00a0%"
    score = f"{value:.2f}".replace("-", "−")
    return AlbumImage(address, name, f"named {said} with {confidence} · baseness\u00a0{score}", tags, value)
