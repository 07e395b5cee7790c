"""`openworld estimate fit` and `openworld estimate watch`: from files to files, safe against kill and double start.

The state is written first and in one step; JSON lines, Prometheus text and page follow from it. Whoever is killed in
between and runs the same command again finds the file counted, and what was not written is written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from openworld import __version__
from openworld._errors import OpenworldError
from openworld._observer import SILENT, Observer
from openworld._score_files import ScoreFile
from openworld.applications.estimate.inputs import checksums
from openworld.applications.estimate.late_labels import read_late_labels
from openworld.applications.estimate.score_tables import open_table
from openworld.applications.watch.exports import append_lines, require_lines, write_prometheus
from openworld.applications.watch.fit_report import fit_report
from openworld.applications.watch.fitted import (
    FITTED,
    USUAL_IMAGES,
    VECTORS,
    Watch,
    WatchSettings,
    fit_watch,
    read_watch,
)
from openworld.applications.watch.following import Followed, Follower
from openworld.applications.watch.labelled import proposed_labels, read_labels
from openworld.applications.watch.report import WatchView, watch_report
from openworld.applications.watch.state import STATE, read_state
from openworld.datasets.names.class_names import class_names
from openworld.report.report import Report
from openworld.runs.lock import file_lock
from openworld.runs.outputs import NUMBERS, WATCH, require_file, require_folder


@dataclass(frozen=True)
class WatchFiles:
    """Where a watch keeps what it finds; None for no such file."""

    state: Path | None = None  # None for a file beside the fitted one
    json_lines: Path | None = None
    prometheus: Path | None = None
    out: Path | None = None  # folder of the page
    labels: Path | ScoreFile | None = None  # of images of finished periods
    propose: int = 0  # about how many images of the last finished period to propose for labels, in `out`


def fit(
    source: Sequence[Path | str | ScoreFile],
    out: Path,
    settings: WatchSettings,
    *,
    classnames: Path | Sequence[str] | None = None,
    images: Sequence[int] = (),
    observer: Observer = SILENT,
    made: Mapping[str, str] | None = None,
) -> Report:
    """Fit on a labelled source what depends on it alone, and keep it in the file `out`; `found` is a `Watch`."""
    # `images` are how many a period usually has; `made` are facts for the page.
    require_file("--out", out, kind=FITTED, inputs=(*source, classnames))
    names = class_names(str(classnames)).names if isinstance(classnames, Path | str) else classnames
    table = open_table(source, classnames=names)
    facts = {**(made or {}), "openworld": __version__, "seed": str(settings.seed)}
    facts |= checksums(file.path for file in table.files)
    fitted = fit_watch(table, settings, images or (USUAL_IMAGES,), partial(observer.progress, total=None), facts)
    return fit_report(fitted.write(out), out)


def watch(
    fitted: Path,
    new: Sequence[Path | str | ScoreFile],
    files: WatchFiles = WatchFiles(),
    *,
    close: bool = False,
    observer: Observer = SILENT,
    made: Mapping[str, str] | None = None,
) -> Report:
    """Add new files to a watch in the order of time, and report what they finish; `found` is a `WatchView`."""
    # Without new files the report says what is known. `close`: whether the last period is finished with them.
    if files.propose and files.out is None:
        raise OpenworldError("--propose writes a worksheet; say where with --out FOLDER.")
    path = files.state or fitted.with_name(f"{fitted.stem}.state.safetensors")
    given = (fitted, *new, files.labels)
    require_file("--state", path, kind=STATE, inputs=given)
    require_lines(files.json_lines, (*given, path))
    require_file("--prometheus", files.prometheus, kind=NUMBERS, inputs=(*given, path, files.json_lines))
    require_folder("--out", files.out, own=(WATCH,), inputs=given)
    known = read_watch(fitted)
    with file_lock(path.with_name(f".{path.name}.lock"), wait=False) as held:
        if not held:
            raise OpenworldError(f"another call is at work on {path}; run the same command again when it has ended.")
        view = _followed(known, path, new, close, files.labels, observer)
        name = path.name.removesuffix(".safetensors").removesuffix(".state")
        if files.json_lines is not None:
            append_lines(files.json_lines, view.state, name, view.new, view.labels and view.labels.sheet)
        if files.prometheus is not None:
            write_prometheus(files.prometheus, view.state, name)
        facts = {**known.made, "fitted": known.fingerprint, **(made or {})}
        report = replace(watch_report(replace(view, name=name)), made=facts)
        if files.propose:
            name, sheet = proposed_labels(known, view.state, files.propose)
            there = (files.out / name).exists()  # it may be filled in
            stays = ", which was there already and stays as it is" if there else ""
            note = f"Images to label: {files.out / name}{stays}."
            kept = report.files if there else {**report.files, name: sheet.encode()}
            report = replace(report, notes=(*report.notes, note), files=kept)
        if files.out is not None:
            report.write(files.out)
    return report


def _followed(
    known: Watch,
    path: Path,
    new: Sequence[Path | str | ScoreFile],
    close: bool,
    labels: Path | ScoreFile | None,
    observer: Observer,
) -> WatchView:
    """Add labels, then the files, to the state, which is written after each."""
    state, read = read_state(path, known), None
    if labels is not None:
        read = read_labels(known, state, read_late_labels(labels))
        if not read.again:
            state = read.state
            state.write(path)
    follower = Follower.of(known, state, partial(observer.progress, total=None))
    done: list[Followed] = []
    for place, file in enumerate(new):
        table = open_table([file], classnames=known.classnames, times=known.settings.timestamps)
        kept = {name: getattr(known.outputs, name) is not None for name in VECTORS}
        table = replace(table.ordered(known.classnames, "those of the source").with_vectors(**kept), images=True)
        followed = follower.follow(state, table)
        if not followed.again:
            state = followed.state
        if close and place == len(new) - 1 and followed.file == state.files[-1]:
            state = follower.close(state)
            followed = Followed(state, state.files[-1], followed.again)
        if followed.state is state:
            state.write(path)
        done.append(followed)
    if close and not new and state.files:
        state = follower.close(state)
        state.write(path)
        done.append(Followed(state, state.files[-1], True))
    opened = follower.look(state)
    if new and len(follower.measured_since) > len(state.measured):  # a look may measure too
        state = replace(state, measured=follower.measured_since)
        state.write(path)
    return WatchView(known, state, tuple(done), opened, labels=read)
