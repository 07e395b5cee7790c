"""`openworld estimate fit` and `openworld estimate watch`: from files to files, safe against kill and double start.

The state is written first and in one step; JSON lines, Prometheus text and page follow from it. Whoever is killed in
between and runs the same command again finds the file counted, and what was not written is written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from openworld import __version__
from openworld.core.console import ALERTED, UNKNOWN, Ending
from openworld.core.errors import OpenworldError
from openworld.core.progress import SILENT, Observer
from openworld.datasets.names.class_names import class_names
from openworld.label_free.estimate.late_labels import read_late_labels
from openworld.label_free.estimate.reading import checksums, open_table
from openworld.label_free.settings import RATE, Settings
from openworld.label_free.watch.exports import append_lines, require_lines, write_prometheus
from openworld.label_free.watch.following import Follower, proposed_labels, read_labels
from openworld.label_free.watch.report import WatchView, fit_report, watch_report
from openworld.label_free.watch.state import (
    FITTED,
    STATE,
    USUAL_IMAGES,
    VECTORS,
    Watch,
    fit_source,
    read_state,
    read_watch,
)
from openworld.report.report import Report
from openworld.runs.lock import file_lock
from openworld.runs.outputs import NUMBERS, WATCH, require_file, require_folder
from openworld.tables.files import ScoreFile

Files = Sequence[Path | str | ScoreFile]


def fit_watch(
    source: Files,
    out: Path,
    *,
    classnames: Path | str | Sequence[str] | None = None,
    images: Sequence[int] = (),
    false_alarms: float | None = None,
    observer: Observer = SILENT,
    made: Mapping[str, str] | None = None,
    estimator: Sequence[str] = (),
    **options,
) -> Report:
    """Fit on a labelled source what depends on it alone, and keep it in the file `out`; `found` is a `Watch`."""
    # `images` are how many a period usually has; `made` are facts for the page; `options` are fields of `Settings`.
    rate = RATE if false_alarms is None else false_alarms
    settings = Settings(estimators=tuple(estimator), false_alarms=rate, **options)
    require_file("--out", out, kind=FITTED, inputs=(*source, classnames))
    names = class_names(str(classnames)).names if isinstance(classnames, Path | str) else classnames
    table = open_table(source, classnames=names)
    facts = {**(made or {}), "openworld": __version__, "seed": str(settings.seed)}
    facts |= checksums(file.path for file in table.files)
    fitted = fit_source(table, settings, images or (USUAL_IMAGES,), partial(observer.progress, total=None), facts)
    return fit_report(fitted.write(out), out)


def watch(
    fitted: Path,
    new: Files = (),
    *,
    state: Path | None = None,
    json_lines: Path | None = None,
    prometheus: Path | None = None,
    close: bool = False,
    labels: Path | ScoreFile | None = None,
    propose: int = 0,
    out: Path | None = None,
    observer: Observer = SILENT,
    made: Mapping[str, str] | None = None,
) -> Report:
    """Add new files to a watch in the order of time, and report what they finish; `found` is a `WatchView`."""
    # Without new files the report says what is known. `state`: None for a file beside the fitted one. `close`: whether
    # the last period is finished with them. `labels` are of images of finished periods. `propose`: about how many
    # images of the last finished period to propose for labels, in `out`, the folder of the page.
    if propose and out is None:
        raise OpenworldError("--propose writes a worksheet; say where with --out FOLDER.")
    if not fitted.name:
        raise OpenworldError(f"{fitted} is a folder; give the file that openworld estimate fit wrote.")
    path = state or fitted.with_name(f"{fitted.stem}.state.safetensors")
    inputs = (fitted, *new, labels)
    require_file("--state", path, kind=STATE, inputs=inputs)
    require_lines(json_lines, (*inputs, path))
    require_file("--prometheus", prometheus, kind=NUMBERS, inputs=(*inputs, path, json_lines))
    require_folder("--out", out, own=(WATCH,), inputs=inputs)
    source = read_watch(fitted)
    with file_lock(path.with_name(f".{path.name}.lock"), wait=False) as held:
        if not held:
            raise OpenworldError(f"another call is at work on {path}; run the same command again when it has ended.")
        view = _followed(source, path, new, close, labels, observer)
        name = path.name.removesuffix(".safetensors").removesuffix(".state")
        if json_lines is not None:
            append_lines(json_lines, view.state, name, view.new, view.labels)
        if prometheus is not None:
            write_prometheus(prometheus, view.state, name)
        facts = {**source.made, "fitted": source.fingerprint, **(made or {})}
        report = replace(watch_report(replace(view, name=name)), made=facts)
        if propose and out is not None:
            name, sheet = proposed_labels(source, view.state, propose)
            there = (out / name).exists()  # it may be filled in
            stays = ", which was there already and stays as it is" if there else ""
            note = f"Images to label: {out / name}{stays}."
            files = report.files if there else {**report.files, name: sheet}
            report = replace(report, notes=(*report.notes, note), files=files)
        if out is not None:
            report.write(out)
    code = ALERTED if view.alerts or view.shift_alerts else UNKNOWN if view.unknown else 0
    return replace(report, ending=Ending.at(out, f"Numbers: {out}/watch.json", code))


def _followed(
    source: Watch, path: Path, new: Files, close: bool, labels: Path | ScoreFile | None, observer: Observer
) -> WatchView:
    """Add labels, then the files, to the state, which is written after each."""
    before, sheet = read_state(path, source), None
    state = before
    if labels is not None:
        state, sheet = read_labels(source, before, read_late_labels(labels))
        if state is not before:
            state.write(path)
    follower = Follower(source, state, partial(observer.progress, total=None))
    done = []
    for place, file in enumerate(new):
        table = open_table([file], classnames=source.classnames, times=source.settings.timestamps)
        vectors = [column for name, column in VECTORS.items() if getattr(source.outputs, name) is not None]
        table = replace(table.ordered(source.classnames, "those of the source").with_vectors(vectors), images=True)
        file, again = follower.follow(table)
        if close and place == len(new) - 1 and file == follower.state.files[-1]:
            follower.close()
            file = follower.state.files[-1]
        follower.state.write(path)
        done.append((file, again))
    if close and not new and state.files:
        follower.close()
        follower.state.write(path)
        done.append((follower.state.files[-1], True))
    opened, now = follower.look(), follower.state
    if new and len(follower.measured_since) > len(now.measured):  # a look may measure too
        now = replace(now, measured=follower.measured_since)
        now.write(path)
    return WatchView(source, now, tuple(done), opened, labels=sheet, labels_again=state is before)
