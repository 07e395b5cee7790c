"""What labels say: in sentences, as tables, and as a page; and what a plan says before anything is labelled."""

from collections.abc import Iterator
from math import ceil

from openworld.applications.label.planning import HALF_WIDTHS, PAGE, WORKSHEET, Planned
from openworld.applications.label.results import (
    LIKE_THESE,
    QUANTITIES,
    LabelledStream,
    difference_entity,
    difference_of,
    metric_of,
    quantities_of,
    results_of,
)
from openworld.labels.design import PILOT
from openworld.report.charts import IntervalChart, IntervalRow, Quantity
from openworld.report.figure import Figure
from openworld.report.page import Page, Section
from openworld.report.report import Report
from openworld.report.sentences import counted
from openworld.report.series_style import series_styles
from openworld.report.table import Column, Row, Table
from openworld.report.text import bracketed, percent, signed
from openworld.results import TEXT, Metric, Result, Results, Value
from openworld.results.comparison import significant
from openworld.results.value import MINUS

CLOSE = 0.03  # half-width that is near enough that nobody is told how many labels a nearer number takes
NEEDED = Metric("labels_needed", "labels needed", "count", 0, 0, (0.0, None))
DRAWN = {
    "stratified": "in strata, more where the number depends on them",
    "poisson": "each by itself, more where the number depends on them",
    "random": "at random",
}
PERCENT = Metric("number", "these images", better=0)
POINTS = Metric("difference", "these images", "points", better=0, bounds=(-1.0, 1.0))


def plan_report(planned: Planned) -> Report:
    """Return what a plan says: how many labels are needed, what was drawn, and what to do next."""
    kept, batch = planned.kept, planned.batch
    results = Results("label-plan", tuple(_needed_rows(planned)))
    first = (
        f"{counted(len(batch), 'image')} of {kept.size:,} to label {DRAWN[planned.choice.design]}: {planned.file(PAGE)}"
    )
    sentences = tuple(_plan_sentences(planned))
    page = Page(f"Label {kept.stream}", (), (first, *sentences), ())
    return Report(results, (needed_table(planned),), page, sentences, found=planned)


def needed_table(planned: Planned) -> Table:
    """Return how many labels each half-width takes, by quantity."""
    columns = tuple(Column(NEEDED, f"±{percent(half).removesuffix('.0')} points", 1) for half in HALF_WIDTHS)
    rows = tuple(
        Row(f"{_title(planned, name)}, {case}", tuple(Value(count) for count in counts))
        for (name, case), counts in planned.needed.items()
    )
    caption = (
        "Labels that an interval of this half-width takes. At best: what is expected of the images holds. At worst: it "
        "is worth nothing."
    )
    return Table("needed", "Labels needed", caption, "for", columns, rows, best="")


def _needed_rows(planned: Planned) -> Iterator[Result]:
    for (name, case), counts in planned.needed.items():
        for half, count in zip(HALF_WIDTHS, counts, strict=True):
            yield Result(name, NEEDED, Value(count), {"half_width": half, "case": case})


def _title(planned: Planned, quantity: str) -> str:
    title = "accuracy" if planned.kept.closed else QUANTITIES[quantity].title
    title = {"base": "base accuracy", "new": "new accuracy"}.get(title, title)
    return f"difference in {title}" if len(planned.kept.models) == 2 and quantity != "base_share" else title


def _plan_sentences(planned: Planned) -> Iterator[str]:
    kept, choice = planned.kept, planned.choice
    if kept.plans[1:]:
        yield (
            f"This is batch {len(kept.plans)}; each batch counts by its share of the labels, which is fixed now, "
            "before any answer."
        )
    yield _promise_sentence(planned)
    if choice.reason:
        yield f"Drawn {DRAWN[choice.design]}: {choice.reason}."
    if choice.reason and not choice.labels:
        yield (
            f"{PILOT} answers or more show it: openworld label plan --add {planned.folder} then draws by what is "
            "expected, where that is better."
        )
    yield from planned.few
    if kept.left_out:
        yield f"{counted(kept.left_out, 'image')} of the stream had labels: the numbers are of the rest."
    asked = "Is the name right?" if kept.closed else "Base or new class, and is the name right?"
    where = " The images lie beside the page." if planned.pictures.beside else ""
    shown = "Open the page in a browser" if planned.pictures.addresses else "It shows no images: look at them by name"
    yield (
        f"{shown}, and answer with the keys: {asked}{where} Or fill in answer, or label, in {planned.file(WORKSHEET)}."
    )
    yield f"Put the downloaded answers into {planned.folder} and run: openworld label read {planned.folder}"


def _promise_sentence(planned: Planned) -> str:
    """How wide the interval will be."""
    promised, title = planned.promised, _title(planned, planned.plan.of)
    worst = f"To expect of {promised.labels:,} labels: {title} to ±{percent(promised.at_worst)} points at worst"
    if promised.at_best is None:
        return f"{worst}, on these images. At best cannot be told: nothing that tells them apart is expected of them."
    best = f"±{percent(promised.at_best)} at best"
    return f"{worst}, and {best}, if what is expected of these images holds. The interval holds either way."


def read_report(labelled: LabelledStream, made: dict[str, str]) -> Report:
    """Return what the labels of a plan say."""
    results = results_of(labelled)
    first, *rest = read_sentences(labelled)
    tables = tuple(_tables(labelled, results))
    subtitle = (
        f"{labelled.kept.size:,} images of {labelled.kept.stream}",
        f"{labelled.counts[0]:,} labelled",
        *labelled.kept.models,
    )
    figure = _figure(labelled)
    sections = [Section("The numbers", tables=tables)]
    if figure is not None:
        sections.append(Section(figure.title, figures=(figure,)))
    sections.append(Section("What this rests on", text=RESTS_ON))
    title = "How accurate is it?" if labelled.kept.closed else "How good is it in the open world?"
    styles = {} if figure is None else dict(figure.styles)
    page = Page(title, subtitle, (first, *rest), tuple(sections), styles, series="Numbers")
    return Report(results, tables, page, tuple(rest), made=made, found=labelled)


RESTS_ON = (
    "The images to label were drawn with known probabilities before anybody saw a label. So the intervals hold "
    "whatever the model's confidences are worth, however the images hang together and however far they are from its "
    "training: on these images the draw is all that is random. Better expectations only make them narrower.",
    "They rest on right labels, and on answers to the images that were drawn, in their order: an image that is left "
    "out because it is hard makes a number too high. Of the images that nobody could tell, both extremes are taken.",
    "Images like these: as if these images themselves were drawn from more of their kind; independently, or group by "
    "group where the stream has a column group. It says nothing of images of another time or place.",
)


def read_sentences(labelled: LabelledStream) -> Iterator[str]:
    """Yield everything that is to be said, the number first."""
    yield _headline(labelled)
    batches, (labels, base, new) = labelled.batches, labelled.counts
    sides = "" if labelled.kept.closed else f": {counted(base, 'base image')} and {new:,} new"
    more = f", in {len(batches.plans)} batches" if batches.plans[1:] else ""
    yield f"It rests on {counted(labels, 'label')}{sides}{more}.{_time(labelled)}"
    if batches.unsure:
        told = counted(batches.unsure, "image")
        yield (
            f'Of {told} the answer is "cannot tell": they count as whatever lowers, and as whatever raises, a number '
            "most; the intervals cover both."
        )
    if batches.missing:
        kind = "stratified" if batches.plans[-1].settings.design == "stratified" else "random"
        behind = f" {counted(batches.waiting, 'answer')} behind a gap in the order are not used." * bool(
            batches.waiting
        )
        yield (
            f"{counted(batches.missing, 'image')} of the plan have no answer yet. The first {len(batches.plans[-1])} "
            f"of its order are used; they are a {kind} sample of their own, if nobody stopped because of the numbers."
            f"{behind}"
        )
    if labelled.kept.left_out:
        yield f"{counted(labelled.kept.left_out, 'image')} of the stream had labels before and are not among them."
    yield from _refusals(labelled)
    yield from _nearer(labelled)


def _headline(labelled: LabelledStream) -> str:
    quantity, kept = labelled.main, labelled.kept
    metric, of = metric_of(labelled, quantity), f"{kept.size:,} images of {kept.stream}"
    name = _name(metric)
    if len(kept.models) == 2:
        first, second = kept.models
        number = labelled.number(quantity, (0, 1))
        if number.value is None:
            return f"The difference of {first} and {second} in {name} on {of} cannot be told: {number.reason}."
        ends = f"[{signed(number.these[0])} {signed(number.these[1])}]" if number.these else ""
        shown = "" if number.p is None or significant(number.p) else ", which is no clear difference"
        return (
            f"{_capital(name)} of {first} minus that of {second} on {of}: {signed(number.value)} points {ends}{shown}."
        )
    number = labelled.number(quantity, (0,))
    if number.value is None:
        return f"{_capital(name)} on {of} cannot be told: {number.reason}."
    like = f"; of images like these {bracketed(number.like_these)}" if number.like_these else ""
    return f"{_capital(name)} on {of}: {percent(number.value)} % {bracketed(number.these)}{like}."


def _name(metric: Metric) -> str:
    return {"base": "base accuracy", "new": "new accuracy"}.get(metric.title, metric.title)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _time(labelled: LabelledStream) -> str:
    seconds = sorted(labelled.seconds)
    if len(seconds) < 5:
        return ""
    whole = sum(seconds)
    long = f"{whole / 60:.0f} min" if whole >= 90 else f"{whole:.0f} s"
    return f" Answering took {long}, {seconds[len(seconds) // 2]:.1f} s an image (median)."


def _refusals(labelled: LabelledStream) -> Iterator[str]:
    """Yield why numbers other than the main one cannot be told, those with one reason together."""
    reasons: dict[str, list[str]] = {}
    for quantity in quantities_of(labelled)[1:]:
        number = labelled.number(quantity, (0, 1) if labelled.is_difference_alone else (0,))
        if number.value is None:
            reasons.setdefault(number.reason, []).append(_name(metric_of(labelled, quantity)))
    for reason, names in reasons.items():
        yield f"Not told: {', '.join(names)} ({reason})."


def _nearer(labelled: LabelledStream) -> Iterator[str]:
    """Yield about how many labels would bring the main number near."""
    models = (0, 1) if len(labelled.kept.models) == 2 else (0,)
    number = labelled.number(labelled.main, models)
    if number.these is None or labelled.batches.missing:
        return
    half, used = (number.these[1] - number.these[0]) / 2, labelled.batches.used
    left = labelled.kept.size - used
    if half > CLOSE and left > 0:
        more = min(ceil(used * (half / CLOSE) ** 2 / 10) * 10 - used, left)
        yield (
            f"About {more:,} labels more would bring it to ±{percent(CLOSE).removesuffix('.0')} points: openworld "
            f"label plan --add {labelled.folder} --n {more}."
        )


def _tables(labelled: LabelledStream, results: Results) -> Iterator[Table]:
    """Yield the numbers, a column per model where there are two, and the differences."""
    models = labelled.kept.models
    if not labelled.is_difference_alone:
        columns = tuple(Column(PERCENT, model, priority=2) for model in models)
        caption = "Percent [95 % on these images, over other draws of the labels]."
        if not models[1:]:
            columns = Column(PERCENT, priority=2, headline=True), _like(PERCENT)
            caption = (
                "Percent [95 %]. These images: other draws of the labels. Images like these: other images of the same "
                "kind too."
            )
        rows = tuple(_number_row(labelled, results, quantity) for quantity in quantities_of(labelled))
        yield Table("numbers", "The numbers", caption, "number", columns, rows, best="")
    if models[1:]:
        yield _difference_table(labelled, results)


def _number_row(labelled: LabelledStream, results: Results, quantity: str) -> Row:
    """Return a number of each model; of one model twice, for its two intervals."""
    metric, models = metric_of(labelled, quantity), labelled.kept.models
    values = {row.entity: row.value for row in results.where(metric=metric.key)}
    cells = [values.get(model, values.get(models[0])) for model in models]
    return Row(_name(metric), tuple(cells if models[1:] else cells * 2))


def _like(metric: Metric) -> Column:
    return Column(metric, "images like these", 1, show="interval", over=LIKE_THESE)


def _difference_table(labelled: LabelledStream, results: Results) -> Table:
    entity, rows = difference_entity(labelled), []
    tests = {own.metric.key: own for own in results.comparisons}
    for quantity in quantities_of(labelled):
        metric = metric_of(labelled, quantity)
        for row in results.where(entity=entity, metric=difference_of(metric).key):
            rows.append(Row(_name(metric), (row.value, row.value, tests[metric.key].p_text)))
    caption = f"Points [95 %], {entity}, from the same labels; p-values after Holm's correction."
    columns = (Column(POINTS, priority=2), _like(POINTS), Column(TEXT, "test", 1))
    return Table(
        "differences", entity.replace(" minus ", f" {MINUS} "), caption, "difference in", columns, tuple(rows), best=""
    )


def _figure(labelled: LabelledStream) -> Figure | None:
    """Return every number with its interval, a chart per model."""
    charts, models = [], labelled.kept.models
    for place, model in enumerate(() if labelled.is_difference_alone else models):
        numbers = {quantity: labelled.number(quantity, (place,)) for quantity in quantities_of(labelled)}
        series = {
            _name(metric_of(labelled, quantity)): IntervalRow(number.value, number.these, number.like_these)
            for quantity, number in numbers.items()
            if number.value is not None and not (place and quantity == "base_share")
        }
        axis = Quantity("number", "percent", ends=(0.0, 1.0))
        charts += [IntervalChart(model if models[1:] else "", axis, series)] * bool(series)
    if not charts:
        return None
    caption = ("Lines: 95 % on these images. Faint bars: of images like these.",)
    styles = series_styles([_name(metric_of(labelled, quantity)) for quantity in quantities_of(labelled)])
    return Figure("numbers", "The numbers and how far they may be off", caption, tuple(charts), styles)
