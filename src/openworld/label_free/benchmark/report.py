"""What a run of accuracy estimation shows: errors and tests, estimates beside the truth, references, costs, images."""

from collections.abc import Iterator
from dataclasses import replace

from openworld.label_free.benchmark.arrays import RunArrays, finite
from openworld.label_free.benchmark.figures import (
    albums,
    alignment_gap,
    estimated_and_true,
    example_probabilities,
    temperatures_figure,
)
from openworld.label_free.benchmark.results import is_complete, read_results
from openworld.report.layout import BASELINE, ENTITY, METRIC, Brief, Layout, Lines, Mark, Own, Pivot, Scatter, Tests
from openworld.report.report import Report
from openworld.report.sentences import counted, none_or, span
from openworld.report.series_style import series_styles
from openworld.results import METRICS, Results, RunFolder

OFF, TRUTH, GROWS = "How far off?", "Do the estimates follow the truth?", "What happens as the shift grows?"
CONFIDENCE, TEMPERATURE = "Is their confidence right?", "Which temperature calibrates a reference?"
THRESHOLD = "What is the threshold good for?"
MEANING, COST, MODELS = "Near in meaning", "What does a smaller error cost?", "The classifiers"

LINES, PAIRS = ("images",), (ENTITY, BASELINE)
KINDS, CALIBRATION = (ENTITY, "calibration"), ("expected_calibration_error",)
SIZES = ("median_absolute_error", "largest_absolute_error")
GAINS = ("semantic_alignment_gain", "share_of_gains")
ESTIMATE, FACTS = ("condition", "model", "epoch", "seed"), ("kind", "dataset", "domain", "corruption", "severity")
MODEL, SHIFT = ("model", "epoch"), ("images", "shift")

INCOMPLETE = Mark("*", "estimates are missing, and such a method is never called the best", may_be_best=False)
ONE_SIDED = 0.5
"""Share of the mean error that is bias; beyond it a method errs in one direction."""

BIAS_IS = "Bias: mean of estimated minus true accuracy, + = overestimated."
MEDIANS = "Medians over conditions and classifiers."
LEFT_OUT = "Points that leaving the threshold out adds to the mean absolute error (FRAP, section 5.4 and Table 6)."
CALIBRATED = (
    "On the targets, 15 bins. Raw: as the model says it, a reference at its own scale; scaled: with the temperature "
    "fitted on the source; unscaled: the softmax of bare similarities; TTC: with the temperature that FRAP finds on "
    "the unlabelled images; τ: at a fixed one."
)
NEARNESS = (
    "Semantic Alignment Score: expected similarity in meaning of a class drawn from the prediction to the true one. "
    "Gain: fused minus alone; share above 0: of conditions and classifiers."
)


def _whole_and_lines(name: str, title: str, metrics: tuple[str, ...], **options) -> tuple[Pivot, Pivot]:
    """Return a table of numbers of the whole, and one with a column per line; a note stands below the first."""
    whole = Pivot(name=name, title=title, metrics=metrics, **options)
    return whole, replace(whole, name=f"{name}-lines", columns=LINES, note="")


LAYOUT = Layout(
    "How accurate, without labels?",
    "absolute_error",
    (
        Pivot(
            name="errors",
            title=OFF,
            metrics=("absolute_error", "bias", *SIZES, "lines_won", "interval_coverage", "interval_width"),
            note=BIAS_IS,
        ),
        Pivot(name="lines", title=OFF, metrics=("absolute_error",), columns=LINES, show="deviation", terminal=True),
        Tests(name="tests", title=OFF, metrics=("absolute_error",), rows=LINES, folded=True),
        Pivot(name="spread", title=OFF, metrics=("bias", *SIZES), columns=LINES, folded=True),
        Own(name="estimated", title=TRUTH, draw=estimated_and_true),
        Lines(
            name="severity",
            title=GROWS,
            metrics=("absolute_error_at_severity", "bias_at_severity"),
            along="severity",
            note="A method that sees the shift stays level in both.",
        ),
        Pivot(
            name="severities",
            title=GROWS,
            metrics=("absolute_error_at_severity", "bias_at_severity", "true_accuracy", "estimates"),
            columns=("severity",),
            folded=True,
        ),
        Pivot(
            name="shifts",
            title="Every shift",
            metrics=("absolute_error_of_shift",),
            rows=SHIFT,
            columns=(ENTITY,),
            label="shift",
        ),
        Pivot(
            name="shift-estimates",
            title="How accurate under every shift, and how many estimates",
            metrics=("true_accuracy", "estimates_expected", "estimates"),
            rows=SHIFT,
            columns=(METRIC, ENTITY),
            label="shift",
            note="Under the name of a method: how many estimates it gave.",
        ),
        *_whole_and_lines("calibration", CONFIDENCE, CALIBRATION, rows=KINDS, note=CALIBRATED, label="model"),
        *_whole_and_lines("temperature", TEMPERATURE, ("temperature",), note=MEDIANS, label="reference"),
        Own(name="temperatures", title=TEMPERATURE, draw=temperatures_figure),
        Own(
            name="examples",
            title="How sure is a reference of its answers?",
            draw=lambda brief: (example_probabilities(brief.source),),
        ),
        *_whole_and_lines("threshold", THRESHOLD, ("threshold_cost",), rows=PAIRS, note=LEFT_OUT, label="method"),
        *_whole_and_lines("alignment", MEANING, ("semantic_alignment",), note=NEARNESS, label="model"),
        *_whole_and_lines("gains", MEANING, GAINS, rows=PAIRS, label="model"),
        Own(name="alignment-gap", title=MEANING, draw=lambda brief: (alignment_gap(brief.source),)),
        Scatter(name="error-time", title=COST, metrics=("absolute_error", "estimate_seconds")),
        Pivot(name="times", title=COST, metrics=("fit_seconds", "estimate_seconds", "times_fastest")),
        Pivot(name="models", title=MODELS, metrics=("source_accuracy", "temperature"), rows=MODEL),
        Pivot(
            name="model-calibration",
            title=MODELS,
            metrics=CALIBRATION,
            rows=MODEL,
            columns=("calibration",),
            note="On the labelled source set.",
        ),
        Pivot(name="model-accuracy", title=MODELS, metrics=("true_accuracy",), rows=MODEL, columns=LINES),
        Pivot(
            name="counts",
            title="How many estimates?",
            metrics=("estimates", "estimates_expected"),
            per=LINES,
            folded=True,
        ),
        Pivot(
            name="estimates",
            title="Every estimate",
            metrics=("true_accuracy", "images", "estimated_accuracy"),
            rows=ESTIMATE,
            columns=(METRIC, ENTITY),
            per=LINES,
            beside=FACTS,
            folded=True,
        ),
        Pivot(
            name="warnings",
            title="Every warning",
            metrics=("warnings",),
            rows=ESTIMATE,
            columns=(ENTITY,),
            per=LINES,
            beside=FACTS,
            folded=True,
        ),
        Own(name="images", title="The images", draw=albums),
    ),
)


def report(run: RunFolder) -> Report:
    results, arrays = read_results(run)
    devices = sorted({record.timing.get("device", "an unknown device") for record in run.records})
    timed = (
        f"On {' and '.join(devices)}, every method alone, means over {counted(len(arrays.models), 'classifier')}: to "
        "fit on the labelled source set, and to estimate one condition, once models have seen its images."
    )
    seeds = " ".join(map(str, arrays.seeds))
    sources = [", ".join(filter(None, source.values())) for source in arrays.facts["sources"]]
    subtitle = (
        counted(len(arrays.methods), "method"),
        counted(len(arrays.conditions), "condition"),
        counted(len(arrays.models), "classifier"),
        f"trained on {'; '.join(sources)}",
        f"{arrays.facts['classes']} classes",
        f"seeds {seeds}",
    )
    return LAYOUT.report(
        Brief(
            results,
            arrays.baseline,
            "method",
            subtitle=subtitle,
            facts=(("seeds", seeds), *_facts(arrays)),
            notes={"times": timed},
            marks={label: INCOMPLETE for label in arrays.labels if not is_complete(results, label, {})},
            sentences=tuple(_sentences(results, arrays)),
            styles=series_styles(arrays.labels, [arrays.baseline]),
            source=arrays,
            run=run,
        )
    )


def _facts(arrays: RunArrays) -> Iterator[tuple[str, str]]:
    """Yield what records say of how the run was made, beside its spec."""
    units = [record.metrics for record in arrays.run.records]
    yield "records", str(len(units))
    for name, architecture in {unit["model"]: unit["architecture"] for unit in units}.items():
        if architecture != name:
            yield f"model {name}", architecture
    taxonomy = arrays.facts["taxonomy"]
    yield "nearness in meaning", taxonomy["name"] or f"not known: {taxonomy['reason']}"
    for name, reason in arrays.facts["left_out"].items():
        yield f"left out: {name}", reason


def _sentences(results: Results, arrays: RunArrays) -> Iterator[str]:
    """Yield in which direction methods err, and how hard the conditions are."""
    pairs = [[results.value(label, key).value for key in ("absolute_error", "bias")] for label in arrays.labels]
    complete = [(error, bias) for error, bias in pairs if error is not None and bias is not None]
    over = sum(bias > ONE_SIDED * error for error, bias in complete)
    under = sum(-bias > ONE_SIDED * error for error, bias in complete)
    if over + under:
        methods = counted(len(complete), "method")
        yield f"Of {methods} {none_or(over)} mostly overestimate and {none_or(under)} mostly underestimate."
    sizes = [int(row.value.value or 0) for _, row in arrays.single if row.metric == METRICS["images"]]
    natural, true = sum(condition.kind == "natural" for condition in arrays.conditions), finite(arrays.accuracy)
    low, high = (METRICS["accuracy"].write(float(end)) for end in (true.min(), true.max()))
    yield (
        f"{counted(len(arrays.conditions), 'condition')} ({natural} natural, {len(arrays.conditions) - natural} "
        f"synthetic) of {span(sizes)} images; true accuracy runs from {low} to {high}\u00a0%."
    )
