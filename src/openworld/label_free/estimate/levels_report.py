"""What a curve estimate says: rows of levels, the curve and what zero-shot names otherwise, and a layout."""

from collections.abc import Iterator
from dataclasses import replace

from openworld.core.errors import present
from openworld.estimators import find_estimator
from openworld.label_free.estimate.levels import (
    BOUND,
    COMPARISONS,
    NAMED_DIFFERENTLY,
    NEEDS_LABELS,
    OWN_NUMBERS,
    UNLABELLED,
    CurveEstimate,
)
from openworld.label_free.estimate.results import TARGET
from openworld.report.layout import ENTITY, METRIC, Brief, Layout, Lines, Pivot
from openworld.report.page import chart_files
from openworld.report.report import Report
from openworld.report.sentences import counted, percent
from openworld.results import METRICS

APART = 0.05  # what is estimated of level 0, and what labels say
PREMISE = (
    "Intervals say what other images would change, of the stream and of the labelled source. They do not say whether "
    "confidences mean at every level what they mean on the source: all of this rests on it, and labels alone show it."
)

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
            note="Accuracy among the names of each level. Where lines differ, the methods disagree on how sure "
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
            "Noise adds to EVM and VS, and the intervals allow for steps that may be none.",
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
    levels = counted(len(estimate.levels), "level")
    summaries = {name: find_estimator(name).summary for name in estimate.methods}
    brief = Brief(
        estimate.results,
        label="method",
        subtitle=(
            f"{estimate.target.name}: {estimate.target.n:,} images at {levels}",
            f"source {estimate.source.name}",
        ),
        words={"numbers-table": {"what it is": summaries | {"truth": "by the labels of the stream"}}},
        sentences=tuple(sentences(estimate)),
        warnings=tuple(f"Note: {warning}." for warning in estimate.warnings),
    )
    facts = {
        "source": estimate.source.name,
        "target": estimate.target.name,
        "quoted": estimate.quoted,
        "methods": list(estimate.methods),
        "grouped_by": estimate.grouped_by,
        "unknown": list(estimate.unknown),
        "warnings": list(estimate.warnings),
        "made": dict(estimate.made),
    }
    answer = LAYOUT.report(brief, made=estimate.made, found=estimate, facts=facts)
    return replace(answer, files=chart_files(answer.page, ("curve",)))


def sentences(estimate: CurveEstimate) -> Iterator[str]:
    """Yield everything that is to be said, the area under the quoted curve first."""
    quoted, area, results = estimate.quoted, estimate.area, estimate.results
    of = f"{estimate.target.name} ({counted(estimate.target.n, 'row')}, {counted(len(estimate.levels), 'level')})"
    if area.value is None:
        yield f"The curve of {of} cannot be estimated: {quoted} gives no number, {area.reason}."
    else:
        number = f"{percent(area.value)} % {METRICS['auc'].write_interval(area.over())}".rstrip()
        yield f"Estimated area under the curve of {of}: {number}, by {quoted}."
    for row in results.where(entity=quoted, metric=UNLABELLED.key):
        said, source = present(row.value.value, "what a method says of level 0"), estimate.source.right
        apart = " They differ: the first step of the curve is that gap as much as ageing, and EVM and VS hold it."
        yield (
            f"Of the stream's own images at level 0 {quoted} says {percent(said)} %, beside {percent(source)} % of the "
            f"labelled ones that stand for that level in the curve.{apart if abs(said - source) > APART else ''}"
        )
    yield PREMISE
    if estimate.differing is not None:
        differ = results.value("zero-shot", NAMED_DIFFERENTLY.key, **TARGET).value
        bound = present(results.value("zero-shot", BOUND.key, **TARGET).value, "the bound of ΔAUC")
        yield (
            "No difference to zero-shot is quoted (PA, NA, ΔAUC, ΔPN): "
            f"{estimate.not_compared.removeprefix(NEEDS_LABELS)}. What is sure: the two name "
            f"{percent(differ)} % of the rows differently, so that ΔAUC lies between "
            f"{BOUND.write(-bound)} and {BOUND.write(bound)} points. Labels settle it, and only of "
            f"the {estimate.differing:,} images that the two name differently at some level: labels.plan_curve draws "
            "them."
        )
