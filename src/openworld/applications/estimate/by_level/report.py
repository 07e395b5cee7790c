"""What a curve estimate says: rows of levels, the curve and what zero-shot names otherwise, and a layout."""

from collections.abc import Iterator
from dataclasses import replace

from openworld.applications.estimate.by_level.estimation import OWN_NUMBERS, CurveEstimate, LevelPoint
from openworld.applications.estimate.results import DIFFERENCE, ESTIMATED, IMAGES, TARGET, TRUE
from openworld.estimators import find_estimator
from openworld.report.layout import ENTITY, METRIC, Brief, Layout, Lines, Pivot
from openworld.report.page import chart_files
from openworld.report.report import Report
from openworld.report.sentences import counted, percent
from openworld.results import METRICS, Metric, Result, Results, Value

JSON = "estimate.json"
COMPARISONS = ("positive_area", "negative_area", "delta_auc", "delta_pn")
APART = 0.05  # what is estimated of level 0, and what labels say
PREMISE = (
    "Intervals say what other images would change, of the stream and of the labelled source. They do not say whether "
    "confidences mean at every level what they mean on the source: all of this rests on it, and labels alone show it."
)
CLASSES = METRICS["classes"]
NAMED_DIFFERENTLY = Metric("named_differently", "zero-shot differs", better=0)
UNLABELLED = Metric("unlabelled_accuracy", "of its own images", better=0)
BOUND = Metric("delta_auc_bound", "|ΔAUC| at most", "points", better=0, bounds=(0.0, 1.0))
NEEDS_LABELS = "a difference to zero-shot needs labels where the two name images differently: "
NO_ZERO_SHOT = "no zero-shot scores were named"

LAYOUT = Layout(
    "How does it age? Estimated without labels",
    "",
    (
        Pivot(
            name="levels-table",
            title="The curve",
            metrics=("images", "classes", "estimated_accuracy", "true_accuracy"),
            rows=("level",),
            columns=(METRIC, ENTITY),
            of=TARGET,
            note="Under the name of a method the accuracy that it says; level 0: the labelled images of the source "
            "among the names of that level.",
        ),
        Lines(
            name="curve",
            title="The curve",
            metrics=("estimated_accuracy",),
            along="level",
            of=TARGET,
            truth="true_accuracy",
            note="Accuracy among the names of each level. Lines that part say that the methods disagree on how sure "
            "the model may be; none of them saw a label.",
        ),
        Pivot(
            name="levels-beside",
            title="The curve",
            metrics=("signed_error", "unlabelled_accuracy", "named_differently"),
            rows=("level",),
            columns=(METRIC, ENTITY),
            of=TARGET,
            folded=True,
        ),
        Pivot(
            name="numbers-table",
            title="The numbers of the curve",
            metrics=OWN_NUMBERS,
            of=TARGET,
            note="AUC: area under the curve; WA: worst level; EVM: all steps up and down; VS: variance of the slope. "
            "Noise adds to EVM and VS, and the intervals allow for steps that cannot be told from none.",
            terminal=True,
        ),
        Pivot(
            name="zero-shot",
            title="Beside zero-shot",
            metrics=("delta_auc_bound", "named_differently", *COMPARISONS),
            of=TARGET,
            note="PA, NA, ΔAUC and ΔPN are not estimated without labels.",
        ),
        Pivot(name="sets", title="Source and target", metrics=("images",), rows=("images",), label="set"),
    ),
)


def report(estimate: CurveEstimate) -> Report:
    """Return all that is to be said of a curve estimate; its file is the chart."""
    said, notes = tuple(sentences(estimate)), tuple(f"Note: {warning}." for warning in estimate.warnings)
    levels = counted(len(estimate.levels), "level")
    summaries = {name: find_estimator(name).summary for name in estimate.methods}
    brief = Brief(
        results_of(estimate),
        label="method",
        subtitle=(
            f"{estimate.target.name}: {estimate.target.n:,} images at {levels}",
            f"source {estimate.source.name}",
        ),
        words={"numbers-table": {"what it is": summaries | {"truth": "by the labels of the stream"}}},
        sentences=said,
        warnings=notes,
    )
    facts = {
        "source": estimate.source.name,
        "target": estimate.target.name,
        "quoted": estimate.quoted,
        "methods": list(estimate.methods),
        "grouped_by": estimate.grouped_by,
        "untold": list(estimate.unknown),
        "warnings": list(estimate.warnings),
        "made": dict(estimate.made),
    }
    answer = LAYOUT.report(brief, text=said[1:], notes=notes, made=estimate.made, found=estimate, facts=facts)
    return replace(answer, files={JSON: answer.to_json().encode(), **chart_files(answer.page, ("curve",))})


def results_of(estimate: CurveEstimate) -> Results:
    """Return all rows; `level` says which level a row is of."""
    rows = [row for point in estimate.levels for row in _level(point)]
    for name, images in (("source", estimate.source), ("target", estimate.target)):
        rows.append(Result("", IMAGES, Value(images.n), {"images": name}))
    return Results("estimate", (*rows, *_curves(estimate)))


def _level(point: LevelPoint) -> Iterator[Result]:
    place = {**TARGET, "level": point.level, "level_name": point.name}
    yield Result("", IMAGES, Value(point.n), place)
    yield Result("", CLASSES, Value(point.classes), place)
    if point.accuracy is not None:
        yield Result("", TRUE, Value(point.accuracy), place)
    if point.differ is not None:
        yield Result("zero-shot", NAMED_DIFFERENTLY, Value(point.differ), place)
    for name, number in point.methods.items():
        yield Result(name, ESTIMATED, number, place)
        if name in point.unlabelled:
            yield Result(name, UNLABELLED, Value(point.unlabelled[name]), place)
        if point.accuracy is not None and number.value is not None and point.level > 0:
            yield Result(name, DIFFERENCE, Value(number.value - point.accuracy), place)


def _curves(estimate: CurveEstimate) -> Iterator[Result]:
    """Yield the numbers of curves, and those that compare with zero-shot, none of which is given without labels."""
    compared = estimate.zero_shot
    reason = NO_ZERO_SHOT if compared is None else NEEDS_LABELS + compared.why
    for name in estimate.methods:
        yield from (Result(name, METRICS[key], estimate.numbers[name][key], TARGET) for key in OWN_NUMBERS)
        yield from (Result(name, METRICS[key], Value(None, reason=reason), TARGET) for key in COMPARISONS)
    for key in OWN_NUMBERS if estimate.truth else ():
        yield Result("truth", METRICS[key], Value(estimate.truth[key]), TARGET)
    if compared is not None:
        yield Result("zero-shot", BOUND, Value(compared.bound), TARGET)
        yield Result("zero-shot", NAMED_DIFFERENTLY, Value(compared.differ), TARGET)


def sentences(estimate: CurveEstimate) -> Iterator[str]:
    """Yield everything that is to be said, the area under the quoted curve first."""
    quoted, area = estimate.quoted, estimate.numbers[estimate.quoted]["auc"]
    of = f"{estimate.target.name} ({counted(estimate.target.n, 'row')}, {counted(len(estimate.levels), 'level')})"
    if area.value is None:
        yield f"The curve of {of} cannot be told: {quoted} tells nothing, {area.reason}."
    else:
        number = f"{percent(area.value)} % {METRICS['auc'].write_interval(area.over())}".rstrip()
        yield f"Estimated area under the curve of {of}: {number}, by {quoted}."
    said, source = estimate.levels[0].unlabelled.get(quoted), estimate.source.accuracy
    if said is not None:
        apart = " They part: the first step of the curve is that gap as much as ageing, and EVM and VS hold it."
        yield (
            f"Of the stream's own images at level 0 {quoted} says {percent(said)} %, beside {percent(source)} % of the "
            f"labelled ones that stand for that level in the curve.{apart if abs(said - source) > APART else ''}"
        )
    yield PREMISE
    zero_shot = estimate.zero_shot
    if zero_shot is not None:
        yield (
            f"No difference to zero-shot is quoted (PA, NA, ΔAUC, ΔPN): {zero_shot.why}. What is sure: the two name "
            f"{percent(zero_shot.differ)} % of the rows differently, so that ΔAUC lies between "
            f"{BOUND.write(-zero_shot.bound)} and {BOUND.write(zero_shot.bound)} points. Labels settle it, and only of "
            f"the {zero_shot.images:,} images that the two name differently at some level: labels.plan_curve draws "
            "them."
        )
