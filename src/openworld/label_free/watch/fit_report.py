"""What was fitted for a watch: which alarms there are and how often they are false, and what raises one by size."""

from collections.abc import Iterator
from pathlib import Path

from openworld.estimators.engine.confidence_check import check_confidence
from openworld.label_free.watch.fitted import Watch
from openworld.report.layout import Brief, Layout, Pivot
from openworld.report.report import Report
from openworld.report.sentences import counted, percent
from openworld.results import Metric, Result, Results, Value

LOW = Metric("source_like_low", "of the source, low", better=0)
HIGH = Metric("source_like_high", "of the source, high", better=0)
ALONE = Metric("alarm_alone", "one period below", better=0, bounds=(None, 1.0))
LASTING = Metric("alarm_lasting", "many below", better=0, bounds=(None, 1.0))


LAYOUT = Layout(
    "A source fitted for watching",
    "",
    (
        Pivot(
            name="sizes",
            title="Sizes of periods",
            rows=("period",),
            note="What DoC says of periods like the source, 95 % of them; and what raises an alarm.",
        ),
    ),
)


def fit_report(watch: Watch, path: Path) -> Report:
    """Return what was fitted, and what it takes for an alarm by size of a period."""
    source = watch.source
    first = (
        f"Fitted on {source.name} ({counted(source.n, 'labelled image')}, {percent(source.accuracy)} % right): {path}, "
        f"{path.stat().st_size / 1e6:.1f} MB."
    )
    kept = "" if watch.outputs.n == source.n else f"It holds a uniform sample of {watch.outputs.n:,} of them. "
    said = (
        first,
        f"{kept}Methods: {', '.join(watch.names)}. Other sizes of periods are measured when they are first met.",
        f"Then, with every new file: openworld estimate watch {path} NEW.parquet",
        *_alarms(watch),
    )
    notes = tuple(f"Note: {warning}." for warning in watch.warnings)
    results = Results("watch-fit", tuple(_sizes(watch)))
    brief = Brief(results, subtitle=(source.name,), sentences=said, warnings=notes)
    facts = {
        "fingerprint": watch.fingerprint,
        "source": {"name": source.name, "images": source.n, "accuracy": source.accuracy},
        "kept": watch.outputs.n,
        "methods": list(watch.names),
        "sizes": sorted({*watch.measured.quotes, *watch.measured.limits}),
        "alarms": {"accuracy_below": watch.settings.alert, "shift": True, "false_alarms": watch.settings.false_alarms},
        "confidence_tells": check_confidence(watch.outputs).tells,
        "warnings": list(watch.warnings),
        "made": dict(watch.made),
    }
    return LAYOUT.report(brief, text=said[1:], notes=notes, made=watch.made, found=watch, facts=facts)


def _alarms(watch: Watch) -> list[str]:
    """Return which alarms there are, how often they are false, and whether confidences tell the accuracy."""
    settings, check = watch.settings, check_confidence(watch.outputs)
    rate = f"{100 * settings.false_alarms:.3g} % of years of 365 periods"
    text = [f"Shift alarm: where images over time are no longer like the source's; by chance in {rate}."]
    if settings.alert is not None:
        by = f"Accuracy alarm: where the accuracy is found below {percent(settings.alert)} %"
        text.append(f"{by}; by chance in {rate} that are all {percent(settings.alert)} % right.")
    elif check.tells:
        text.append("No accuracy alarm: add --alert 0.8, say, for one.")
    if not check.tells:
        rest = "no accuracy alarm"
        if settings.alert is not None:
            rest = "the accuracy alarm tests what the reference shows"
        text.append(f"Beware: {check.why}. So {rest}, and labels tell the accuracy.")
    return text


def _sizes(watch: Watch) -> Iterator[Result]:
    """Yield, by size of a period, what is quoted of periods like the source, and what raises an alarm."""
    measured, alert = watch.measured, watch.settings.alert
    for size in sorted({*measured.quotes, *measured.limits}):
        null = measured.quotes.get(size, {}).get("DoC")
        low, high = (None, None) if null is None else null.range
        numbers = {LOW: low, HIGH: high}
        if size in measured.limits:
            limit = measured.limits[size]
            numbers |= {ALONE: limit.alone(size, alert), LASTING: limit.lasting(size, alert)}
        for metric, number in numbers.items():
            value = Value(number, (), "" if number is not None else "not measured")
            yield Result("", metric, value, {"period": size, "period_name": f"{size:,} images"})
