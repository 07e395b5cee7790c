"""What was fitted for a watch: which alarms there are and how often they are false, and what raises one by size."""

from dataclasses import replace
from pathlib import Path

from openworld.applications.watch.fitted import Watch
from openworld.estimators.engine.confidence_check import check_confidence
from openworld.report.data_files import json_text
from openworld.report.page import Page
from openworld.report.report import Report
from openworld.report.sentences import counted
from openworld.report.table import Column, Row, Table
from openworld.report.text import percent
from openworld.results import Metric, Result, Results, Value

LOW = Metric("source_like_low", "of the source, low", better=0)
HIGH = Metric("source_like_high", "of the source, high", better=0)
ALONE = Metric("alarm_alone", "one period below", better=0, bounds=(None, 1.0))
LASTING = Metric("alarm_lasting", "many below", better=0, bounds=(None, 1.0))


def fit_report(watch: Watch, path: Path) -> Report:
    """Return what was fitted, and what it takes for an alarm by size of a period."""
    settings, source = watch.settings, watch.source
    megabytes = path.stat().st_size / 1e6
    first = (
        f"Fitted on {source.name} ({counted(source.n, 'labelled image')}, {percent(source.accuracy)} % right): {path}, "
        f"{megabytes:.1f} MB."
    )
    kept = "" if watch.outputs.n == source.n else f"It holds a uniform sample of {watch.outputs.n:,} of them. "
    text = [f"{kept}Methods: {', '.join(watch.names)}. Other sizes of periods are measured when they are first met."]
    text.append(f"Then, with every new file: openworld estimate watch {path} NEW.parquet")
    results, table = _sizes(watch)
    notes = tuple(f"Note: {warning}." for warning in watch.warnings)
    page = Page("A source fitted for watching", (source.name,), (first, *text, *notes), (), {}, "")
    text += _alarms(watch)
    alert = f"; alarms below {percent(settings.alert)} %" if settings.alert is not None else ""
    table = replace(table, caption=f"{table.caption}{alert}.")
    return Report(results, (table,), page, tuple(text), notes, watch.made, watch, json_text(_fit_json(watch)))


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


def _fit_json(watch: Watch) -> dict:
    return {
        "fingerprint": watch.fingerprint,
        "source": {"name": watch.source.name, "images": watch.source.n, "accuracy": watch.source.accuracy},
        "kept": watch.outputs.n,
        "methods": list(watch.names),
        "sizes": sorted({*watch.measured.quotes, *watch.measured.limits}),
        "alarms": {"accuracy_below": watch.settings.alert, "shift": True, "false_alarms": watch.settings.false_alarms},
        "confidence_tells": check_confidence(watch.outputs).tells,
        "warnings": list(watch.warnings),
        "made": dict(watch.made),
    }


def _sizes(watch: Watch) -> tuple[Results, Table]:
    """Return, by size of a period, what is quoted of periods like the source, and what raises an alarm."""
    measured, alert = watch.measured, watch.settings.alert
    rows, lines = [], []
    for size in sorted({*measured.quotes, *measured.limits}):
        place, cells = {"images_per_period": size}, []
        null = measured.quotes.get(size, {}).get("DoC")
        ends = (None, None) if null is None else null.range
        values = [(LOW, ends[0]), (HIGH, ends[1])]
        if size in measured.limits:
            limit = measured.limits[size]
            values += [(ALONE, limit.alone(size, alert)), (LASTING, limit.lasting(size, alert))]
        for metric, number in values:
            value = Value(number, (), "" if number is not None else "not measured")
            rows.append(Result("", metric, value, place))
            cells.append(value)
        lines.append(Row(f"{size:,} images", tuple(cells)))
    metrics = [LOW, HIGH] + [ALONE, LASTING] * bool(measured.limits)
    columns = tuple(Column(metric, priority=1) for metric in metrics)
    caption = "Percent: what DoC says of periods like the source, 95 % of them; what raises an alarm"
    caption = caption if measured.limits else caption.partition(";")[0]
    table = Table("sizes", "Sizes of periods", caption, "period", columns, tuple(lines), best="")
    return Results("watch-fit", tuple(rows)), table
