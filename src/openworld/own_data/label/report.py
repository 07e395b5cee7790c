"""What labels say, and what a plan says before anything is labelled: two layouts, and sentences."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from math import ceil
from pathlib import Path
from typing import Any

from openworld import __version__
from openworld.core.console import Ending
from openworld.core.errors import OpenworldError, failing
from openworld.core.progress import SILENT, Observer
from openworld.labels.plan import PILOT
from openworld.own_data.label.kept_plan import KeptPlan, read_plan
from openworld.own_data.label.planning import HALF_WIDTHS, PAGE, WORKSHEET, Planned, make_plan
from openworld.own_data.label.reading import (
    LIKE_THESE,
    QUANTITIES,
    THESE,
    LabelledStream,
    answers_in,
    difference_entity,
    difference_of,
    labelled,
    results_of,
)
from openworld.report.charts import IntervalChart, IntervalRow, Quantity
from openworld.report.figure import Figure
from openworld.report.layout import ENTITY, METRIC, Brief, Layout, Own, Pivot
from openworld.report.report import Report
from openworld.report.sentences import counted, percent
from openworld.report.series_style import series_styles
from openworld.report.table import Cell
from openworld.results import METRICS, Metric, Result, Results, Value
from openworld.results.comparison import significant
from openworld.runs.outputs import LABEL_PLAN, LABELLED, require_folder

JSON = "label.json"

CLOSE = 0.03  # half-width that is near enough that nobody is told how many labels a nearer number takes
NEEDED = Metric("labels_needed", "labels needed", "count", 0, 0, (0.0, None))
DRAWN = {
    "stratified": "in strata, more where the number depends on them",
    "poisson": "each by itself, more where the number depends on them",
    "random": "at random",
}
PLAN_LAYOUT = Layout(
    "Which images to label",
    "",
    (
        Pivot(
            name="needed",
            title="Labels needed",
            metrics=(NEEDED.key,),
            rows=("quantity", "case"),
            columns=("half_width",),
            note="For an interval of this half-width. At best: the expectations of the images are right. At worst: "
            "they are worth nothing.",
        ),
    ),
)


@wraps(make_plan)
def plan_labels(*sources: Any, **options: Any) -> Report:
    """Plan which images to label, as `make_plan` does, and say how many are needed, what was drawn and what comes next.

    `found` is a `Planned`.
    """
    planned = make_plan(*sources, **options)
    plan, batch, choice = planned.kept, planned.batch, planned.choice
    first = f"{counted(len(batch), 'image')} of {plan.size:,} to label {DRAWN[choice.design]}: {planned.file(PAGE)}"
    rows = []
    for (quantity, case), counts in planned.needed.items():
        for half, count in zip(HALF_WIDTHS, counts, strict=True):
            place: dict[str, Any] = {"quantity": quantity, "quantity_name": _title(planned, quantity), "case": case}
            place |= {"half_width": half, "half_width_name": f"±{percent(half).removesuffix('.0')} points"}
            rows.append(Result("", NEEDED, Value(count), place))
    results = Results("label-plan", tuple(rows))
    brief = Brief(results, subtitle=(plan.stream,), sentences=(first, *_plan_sentences(planned)))
    facts = {
        "plan": batch.mark,
        "folder": str(planned.folder),
        "images": plan.size,
        "to_label": len(batch),
        "batch": len(plan.batches),
        "models": list(plan.models),
        "closed_set": plan.closed,
        "quantity": planned.plan.of,
        "design": choice.design,
        "design_reason": choice.reason,
        "variance_ratio": choice.ratio,
        "seed": planned.plan.settings.seed,
        "half_width_at_best": planned.promised.at_best,
        "half_width_at_worst": planned.promised.at_worst,
        "page": planned.file(PAGE).name,
        "worksheet": planned.file(WORKSHEET).name,
    }
    return PLAN_LAYOUT.report(brief, found=planned, facts=facts)


def _title(planned: Planned, quantity: str) -> str:
    title = "accuracy" if planned.kept.closed else QUANTITIES[quantity].title
    return f"difference in {title}" if len(planned.kept.models) == 2 and quantity != "base_share" else title


def _plan_sentences(planned: Planned) -> Iterator[str]:
    plan, choice = planned.kept, planned.choice
    if plan.plans[1:]:
        yield (
            f"This is batch {len(plan.plans)}; each batch counts by its share of the labels, which is fixed now, "
            "before any answer."
        )
    yield _promise_sentence(planned)
    if choice.reason:
        yield f"Drawn {DRAWN[choice.design]}: {choice.reason}."
    if choice.reason and not choice.labels:
        yield (
            f"With {PILOT} answers or more, openworld label plan --add {planned.folder} draws by the expectations, "
            "where that is better."
        )
    yield from planned.few
    if plan.left_out:
        yield f"{counted(plan.left_out, 'image')} of the stream had labels: the numbers are of the rest."
    question = "Is the name right?" if plan.closed else "Base or new class, and is the name right?"
    where = " The images lie beside the page." if planned.files else ""
    how = "Open the page in a browser" if planned.page_images[0][0] else "It shows no images: look at them by name"
    yield (
        f"{how}, and answer with the keys: {question}{where} Or fill in answer, or label, in {planned.file(WORKSHEET)}."
    )
    yield f"Put the downloaded answers into {planned.folder} and run: openworld label read {planned.folder}"


def _promise_sentence(planned: Planned) -> str:
    """How wide the interval will be."""
    promised, title = planned.promised, _title(planned, planned.plan.of)
    worst = f"To expect of {promised.labels:,} labels: {title} to ±{percent(promised.at_worst)} points at worst"
    if promised.at_best is None:
        return f"{worst}, on these images. At best is not known: the same is expected of every image."
    best = f"±{percent(promised.at_best)} at best"
    return f"{worst}, and {best}, if the expectations of the images are right. The interval holds either way."


RESTS_ON = (
    "The images to label were drawn with known probabilities before anybody saw a label. So the intervals hold "
    "whatever the model's confidences are worth, however the images depend on one another and however far they are "
    "from its training: on these images the draw is all that is random. Better expectations only make them narrower.",
    "They rest on right labels, and on answers to the images that were drawn, in their order: an image that is left "
    "out because it is hard makes a number too high. Images answered with 'cannot tell' count both ways.",
    "Images like these: as if these images themselves were drawn from more of their kind; independently, or group by "
    "group where the stream has a column group. It says nothing of images of another time or place.",
)
METRICS_TOLD = {**QUANTITIES, "accuracy": METRICS["accuracy"]}
OVER = "Over labels: other draws of the labels on these images. Over images: other images of the same kind, too."


def _chart(brief: Brief) -> Iterator[Figure]:
    """Yield every number with its two intervals, a chart per model."""
    charts, axis = {}, Quantity("number", "percent", ends=(0.0, 1.0))
    for row in brief.results:
        if row.metric.key in METRICS_TOLD and row.value.value is not None:
            ends: Any = [
                (span.low, span.high) if (span := row.value.over(each)) else None for each in (THESE, LIKE_THESE)
            ]
            charts.setdefault(row.entity, {})[row.metric.title] = IntervalRow(row.value.value, *ends)
    drawn = tuple(IntervalChart(model if len(charts) > 1 else "", axis, rows) for model, rows in charts.items())
    caption = ("Lines: 95 % on these images. Faint bars: of images like these.",)
    styles = series_styles(list(dict.fromkeys(title for rows in charts.values() for title in rows)))
    if drawn:
        yield Figure("intervals", "The numbers and how far they may be off", caption, drawn, styles)


LAYOUT = Layout(
    "How good is it, by a few labels?",
    "",
    (
        Pivot(
            name="numbers",
            title="The numbers",
            metrics=tuple(METRICS_TOLD),
            rows=(METRIC,),
            columns=(ENTITY,),
            note=OVER,
        ),
        Pivot(
            name="differences",
            title="The differences",
            metrics=tuple(difference_of(metric).key for metric in METRICS_TOLD.values()),
            rows=(METRIC,),
            columns=(ENTITY,),
            note="From the same labels; p after Holm over all differences.",
            terminal=True,
        ),
        Own(name="intervals", title="The numbers and how far they may be off", draw=_chart),
        Own(name="rests-on", title="What this rests on", draw=lambda _: RESTS_ON),
        Pivot(name="counts", title="What this rests on", rows=("images",)),
    ),
)


def read_report(stream: LabelledStream, folder: Path, made: dict[str, str]) -> Report:
    """Return what the labels of a plan in a folder say."""
    results, kept = results_of(stream), stream.kept
    subtitle = (f"{kept.size:,} images of {kept.stream}", f"{stream.counts[0]:,} labelled", *kept.models)
    tests = {test.metric.title: Cell(test, note=test.sentence) for test in results.comparisons}
    brief = Brief(
        results,
        baseline=kept.models[-1] if len(kept.models) > 1 else "",
        label="model",
        subtitle=subtitle,
        words={"differences": {"test": tests}},
        sentences=tuple(read_sentences(stream, folder, results)),
    )
    return LAYOUT.report(brief, made=made, found=stream)


def read_sentences(labelled: LabelledStream, folder: Path, results: Results) -> Iterator[str]:
    """Yield everything that is to be said, the number that the draw served first."""
    plan, (labels, base, new) = labelled.kept, labelled.counts
    main = next(row for row in results if len(plan.models) == 1 or row.entity == difference_entity(labelled))
    yield _headline(labelled, results, main)
    sides = "" if plan.closed else f": {counted(base, 'base image')} and {new:,} new"
    more = f", in {len(labelled.plans)} batches" if labelled.plans[1:] else ""
    yield f"It rests on {counted(labels, 'label')}{sides}{more}."
    if labelled.unsure:
        yield (
            f'Of {counted(len(labelled.unsure), "image")} the answer is "cannot tell": they count as whatever lowers, '
            "and as whatever raises, a number most; the intervals cover both."
        )
    if labelled.missing:
        kind = "stratified" if labelled.plans[-1].settings.design == "stratified" else "random"
        behind = ""
        if labelled.waiting:
            behind = f" {counted(labelled.waiting, 'answer')} behind a gap in the order are not used."
        yield (
            f"{counted(labelled.missing, 'image')} of the plan have no answer yet. The first {len(labelled.plans[-1])} "
            f"of its order are used; they are a {kind} sample of their own, if nobody stopped because of the numbers."
            f"{behind}"
        )
    if plan.left_out:
        yield f"{counted(plan.left_out, 'image')} of the stream had labels before and are not among them."
    reasons: dict[str, list[str]] = {}
    for row in results:
        if row.value.value is None and row != main:
            reasons.setdefault(row.value.reason, []).append(row.metric.title)
    for reason, names in reasons.items():
        yield f"Not estimated: {', '.join(dict.fromkeys(names))} ({reason})."
    yield from _nearer(labelled, folder, main)


def _headline(labelled: LabelledStream, results: Results, main: Result) -> str:
    plan, metric, value = labelled.kept, main.metric, main.value
    name, of = f"{metric.title[0].upper()}{metric.title[1:]}", f"{plan.size:,} images of {plan.stream}"
    if len(plan.models) == 2:
        name = f"{name} of {plan.models[0]} minus that of {plan.models[1]}"
    if value.value is None:
        return f"{name} on {of} cannot be estimated: {value.reason}."
    text = f"{name} on {of}: {metric.write(value.value)} {'points' if len(plan.models) == 2 else '%'}"
    text = f"{text} {metric.write_interval(value.over(THESE))}".rstrip()
    if len(plan.models) == 2:
        p = next(test.p for test in results.comparisons if difference_of(test.metric) == metric)
        return f"{text}." if p is None or significant(p) else f"{text}, which is no clear difference."
    like = value.over(LIKE_THESE)
    return f"{text}; of images like these {metric.write_interval(like)}." if like else f"{text}."


def _nearer(labelled: LabelledStream, folder: Path, main: Result) -> Iterator[str]:
    """Yield about how many labels would bring the main number near."""
    interval = main.value.over(THESE)
    if interval is None or labelled.missing:
        return
    used, left = labelled.used, labelled.kept.size - labelled.used
    if interval.width / 2 > CLOSE and left > 0:
        more = min(ceil(used * (interval.width / 2 / CLOSE) ** 2 / 10) * 10 - used, left)
        yield (
            f"About {more:,} labels more would bring it to ±{percent(CLOSE).removesuffix('.0')} points: openworld "
            f"label plan --add {folder} --n {more}."
        )


def read_labels(
    folder: Path,
    answers: Path | Sequence[Path | str] = (),
    out: Path | None = None,
    observer: Observer = SILENT,
    made: Mapping[str, str] | None = None,
) -> Report:
    """Read labels of a plan (without `answers` those in its folder); write page, rows and label.json into `out`."""
    beside = out is None or out.resolve() == folder.resolve()
    require_folder("--out", out or folder, own=(LABEL_PLAN, LABELLED) if beside else (LABELLED,))
    observer.progress("reading the plan", 0)
    plan = read_plan(folder)
    by_id, files = answers_in(plan, folder, [answers] if isinstance(answers, Path) else list(map(Path, answers)))
    if not by_id:
        raise OpenworldError(f"no image of {', '.join(files)} has an answer; fill in column answer, or use the page.")
    stream = labelled(plan, by_id)
    observer.progress("reading the labels", 0)
    with failing():
        report = read_report(stream, folder, {**(made or {}), **_facts(plan, files)})
        report = replace(report, files={JSON: report.to_json().encode()})
        report.write(out or folder)
    return replace(report, ending=Ending.at(out or folder))


def _facts(kept: KeptPlan, files: Sequence[str]) -> dict[str, str]:
    draws = [f"{len(plan)} images, {plan.settings.design}, seed {plan.settings.seed}" for plan in kept.plans]
    return {
        "openworld": __version__,
        "plan": ", ".join(batch.mark for batch in kept.batches),
        "drawn": "; ".join(draws),
        "for": kept.plans[0].of.replace("_", " "),
        "answers": ", ".join(files),
    }
