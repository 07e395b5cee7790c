"""The numbers that matter for other programs: Prometheus text, written whole; JSON lines, appended, one a period."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError, naming, present
from openworld.core.plain_files import parse_json
from openworld.label_free.estimate.accuracy_estimate import Period
from openworld.label_free.estimate.results import (
    ALARM_RATIO,
    ESTIMATED,
    IMAGES,
    QUOTED,
    SHIFT_ALARM,
    SHIFT_SCORE,
    SHIFTS,
    period_rows,
)
from openworld.label_free.watch.state import SheetRecord, WatchState
from openworld.results import Value
from openworld.runs import to_json
from openworld.runs.atomic import write_file
from openworld.runs.outputs import LINES, is_stream, require_file

TAIL = 1 << 20  # bytes at the end of a file in which its last line is looked for
BEGINNING = b'{"watch":'


CLASSES, CONFIDENCES = SHIFTS
FIELDS = {
    "images": ("", IMAGES, "period_images", "images."),
    "accuracy": (QUOTED, ESTIMATED, "accuracy_ratio", "estimated accuracy; absent where it cannot be estimated."),
    "alarm_ratio": (QUOTED, ALARM_RATIO, "alarm_ratio", "accuracy alarm over its limit; it stands above 1."),
    "shift_alarm_ratio": ("", SHIFT_ALARM, "shift_alarm_ratio", "shift alarm over its limit; stands above 1."),
    "shift_score": ("", SHIFT_SCORE, "shift_score", "from the source, in deviations of source-like periods."),
    "class_shift": ("", CLASSES, "class_shift_ratio", "energy distance of predicted classes, beyond chance; 0-1."),
    "confidence_shift": ("", CONFIDENCES, "confidence_shift_ratio", "the same of confidences; 0 to 1."),
}
"""A number of a period in JSON lines -> entity and metric of its row, its name in Prometheus text, what it is there."""


def write_prometheus(path: Path, state: WatchState, name: str) -> None:
    """Write the numbers of the last finished period in one step, so that a collector never reads half of them."""
    label = name.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
    lines = []
    for metric, number, what in _numbers(state):
        kind = "counter" if metric.endswith("_total") else "gauge"
        title = f"openworld_watch_{metric}"
        number = number if isinstance(number, int) else float(number)
        lines += [f"# HELP {title} {what}", f"# TYPE {title} {kind}", f'{title}{{watch="{label}"}} {number!r}']
    write_file(path, ("\n".join(lines) + "\n").encode())


def _values(period: Period) -> dict[str, Value]:
    """Return the numbers of a period by the names of `FIELDS`, without those that it does not have."""
    rows = {(row.entity, row.metric): row.value for row in period_rows(period, {})}
    return {name: rows[field[:2]] for name, field in FIELDS.items() if field[:2] in rows}


def _numbers(state: WatchState) -> Iterator[tuple[str, float | int, str]]:
    of_last, of_labels = "Of the last finished period:", "Of the last period with enough drawn labels:"
    for period in state.records[-1:]:
        values = _values(period)
        for name, (_, _, collected, what) in FIELDS.items():
            if name in values and (number := values[name].value) is not None:
                yield collected, number, f"{of_last} {what}"
        ends = present(values["accuracy"].over(), "an interval")
        for end, number in (("low", ends.low), ("high", ends.high)):
            yield f"accuracy_{end}_ratio", number, f"{of_last} {end} end of the 95 % interval, or of the bounds."
        has_number = int(values["accuracy"].value is not None)
        yield "accuracy_known", has_number, f"{of_last} 1 where the accuracy can be estimated, else 0."
        yield "shift_alarm", int(period.shifted), f"{of_last} 1 where the shift alarm stands, else 0."
    by_labels = [(each, each.labelled) for each in state.records if each.labelled]
    for period, labels in [pair for pair in by_labels if pair[1].accuracy is not None][-1:]:
        yield "labelled_accuracy_ratio", float(present(labels.accuracy, "it")), f"{of_labels} accuracy by these."
        for end, number in zip(("low", "high"), present(labels.interval, "an interval"), strict=True):
            yield f"labelled_accuracy_{end}_ratio", number, f"{of_labels} {end} end of the 95 % interval over the draw."
        yield "labelled_images", labels.n, f"{of_labels} how many."
        if period.ended:
            when = f"{of_labels} time stamp of its last image, in seconds since 1970."
            yield "labelled_last_image_timestamp_seconds", _seconds(period.ended), when
    yield "images_total", state.n, "Images counted since the watch began."
    yield "periods_total", len(state.records), "Periods finished since the watch began."
    if state.last:
        when = "Time stamp of the last image, in seconds since 1970."
        yield "last_image_timestamp_seconds", _seconds(state.last), when


def _seconds(time: str) -> int:
    return int(np.datetime64(time, "s").astype(np.int64))


def line_of(period: Period, watch: str, name: str) -> dict[str, Any]:
    """Return a period as an entry of JSON lines: what was said when it was finished, whatever labels came since."""
    period = replace(period, labelled=None)
    values, cause, ratios = _values(period), period.cause, (period.alarm, period.shift_alarm)
    further: dict[str, Any] = {}
    if cause is not None:
        images = [image.id or image.row for image in cause.images]
        further = {"cause": cause.text or cause.likely.cause, "cause_why": cause.likely.why, "cause_images": images}
    if period.corrected is not None:
        further["accuracy_before_correction"] = period.unlabelled.accuracy
    ends = present(values["accuracy"].over(), "an interval")
    return {
        "watch": watch[:12],
        "name": name,
        "number": period.number,
        "period": period.label,
        "began": period.began or None,
        "ended": period.ended or None,
        "file": period.file,
        "sampled": period.sampled,
        **{name: values[name].value if name in values else None for name in FIELDS},
        **dict(zip(("alarm", "shift_alarm"), (alarm and alarm.standing for alarm in ratios), strict=True)),
        "low": ends.low,
        "high": ends.high,
        "method": period.quote.method,
        "why": period.quote.why,
        "shift_sign": (period.shift_alarm and period.shift_alarm.sign) or None,
        "methods": to_json(period.methods),
        **further,
    }


def label_lines(sheet: SheetRecord, state: WatchState, name: str) -> list[dict[str, Any]]:
    """Return what a sheet of labels says, an entry of JSON lines of `kind` "labels" for each of its periods."""
    place = state.sheets.index(sheet)
    return [
        {
            "watch": state.watch[:12],
            "name": name,
            "kind": "labels",
            "number": number,
            "period": state.records[number].label,
            "sheet": place,
            "file": sheet.name,
            "labels": labelled.n,
            "drawn": labelled.drawn,
            "share_right": labelled.plain,
            "accuracy": labelled.accuracy,
            "low": labelled.interval and labelled.interval[0],
            "high": labelled.interval and labelled.interval[1],
            "standard_error": labelled.standard_error,
            "accuracy_without_labels": state.records[number].finished.accuracy,
            "why": labelled.reason,
        }
        for number, labelled in sheet.found
    ]


def append_lines(
    path: Path, state: WatchState, name: str, new: Sequence[Period], sheet: SheetRecord | None = None
) -> int:
    """Append the periods, and what labels say of periods, that the file lacks, one line each; return how many."""
    # A call that was killed may have left half a line, which is taken away; a file that ends with a line of this watch
    # gets all that came after that, a file without one gets the new ones.
    path.parent.mkdir(parents=True, exist_ok=True)
    stream = is_stream(path)
    with naming(path), open(path, "ab" if stream else "a+b", buffering=0) as file:
        last = {} if stream else _last_line(file, path)
        is_ours = last.get("watch") == state.watch[:12] and last.get("name") == name
        if is_ours:
            lines = list(_since(last, state, name))
        else:  # labels are read before files
            lines = [] if sheet is None else label_lines(sheet, state, name)
            lines += [line_of(record, state.watch, name) for record in new]
        left = memoryview("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode())
        while left:
            left = left[file.write(left) :]
        if not stream:  # the kernel refuses to wait for a pipe
            os.fsync(file.fileno())
    return len(lines)


def require_lines(path: Path | None, others: Sequence[Any]) -> None:
    """Refuse, before the state goes on, a place to which no lines can be appended; nothing is changed."""
    if path is None or is_stream(path):
        return
    require_file("--json-lines", path, kind=LINES, inputs=others)
    if path.exists():
        with open(path, "rb") as file:
            _last_line(file, path)


def _since(last: Mapping[str, Any], state: WatchState, name: str) -> Iterator[dict[str, Any]]:
    """Return all lines that come after one, in the order in which periods were finished and sheets were read."""
    labels, number = "sheet" in last, last["number"]
    finished = state.sheets[last["sheet"]].after if labels else number + 1  # periods whose lines are there
    for place, sheet in enumerate(state.sheets):
        if sheet.after < finished or (labels and place < last["sheet"]):
            continue
        yield from (line_of(record, state.watch, name) for record in state.records[finished : sheet.after])
        finished = max(finished, sheet.after)
        seen = number if labels and place == last["sheet"] else -1
        yield from (line for line in label_lines(sheet, state, name) if line["number"] > seen)
    yield from (line_of(record, state.watch, name) for record in state.records[finished:])


def _last_line(file, path: Path) -> dict[str, Any]:
    """Return the last whole line, {} of an empty file; what is left of a line behind it is cut off."""
    size = file.seek(0, os.SEEK_END)
    start = max(0, size - TAIL)
    file.seek(start)
    tail = file.read()
    whole, newline, rest = tail.rpartition(b"\n")
    if rest:
        if not (rest.startswith(BEGINNING) or BEGINNING.startswith(rest)):
            raise OpenworldError(f"{path} ends in half a line that is not ours; give --json-lines another file.")
        if file.writable():
            file.truncate(start + len(whole) + len(newline))
    if not newline:
        return {}
    try:
        last = parse_json(whole.rpartition(b"\n")[2])
    except ValueError as error:
        raise OpenworldError(f"last line of {path} is no JSON ({error}); give --json-lines another file.") from error
    return last if isinstance(last, dict) else {}
