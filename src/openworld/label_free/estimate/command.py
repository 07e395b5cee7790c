"""From what a person names to a report: files of scores, or images that models score, and then an estimate."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

from openworld import __version__
from openworld.core.arrays import require_fraction
from openworld.core.console import ALERTED, UNKNOWN, Ending
from openworld.core.errors import OpenworldError
from openworld.core.plain_files import read_lines
from openworld.core.progress import SILENT, Observer
from openworld.datasets import ImageSet
from openworld.datasets.names.class_names import class_names
from openworld.label_free.estimate import levels_report
from openworld.label_free.estimate import open_world as quality
from openworld.label_free.estimate.accuracy_estimate import AccuracyEstimate
from openworld.label_free.estimate.embedded import embedded_scores, is_embedded
from openworld.label_free.estimate.estimation import estimate_accuracy
from openworld.label_free.estimate.late_labels import ROW, SHEET, images_at_hand, read_late_labels, worksheet
from openworld.label_free.estimate.levels import estimate_curve, read_scores
from openworld.label_free.estimate.reading import (
    CORRUPTIONS,
    NamedShift,
    ScoreTable,
    checksums,
    named_shift,
    open_table,
)
from openworld.label_free.estimate.report import report
from openworld.label_free.settings import RATE, Settings
from openworld.labels import PlanSettings
from openworld.own_data.images import are_images
from openworld.report.class_names import FILE as AUDIT
from openworld.report.data_files import json_text
from openworld.report.report import Report
from openworld.runs import to_json
from openworld.runs.outputs import ESTIMATE, require_folder
from openworld.runs.scratch import ScratchFolder
from openworld.tables.files import ScoreFile
from openworld.tables.judged import IMAGE_COLUMNS
from openworld.tables.stream import read_stream

JSON, SCORES = "estimate.json", "scores"
ENOUGH = 97  # labels at random give any accuracy to within ten points: 1.96^2 / 4 / .1^2


def estimate(
    source: Sequence[Any],
    target: Sequence[Any],
    *,
    levels: str = "",
    open_world: bool = False,
    out: Path | None = None,
    seed: int = 0,
    observer: Observer = SILENT,
    made: Mapping[str, str] | None = None,
    **options: Any,
) -> Report:
    """Answer one of three questions of a target without labels, and write the report to `out`.

    Its accuracy (`estimate_whole`); with `levels` its curve (`estimate_levels`); with `open_world` bounds of the
    quality on a stream (`estimate_stream`). Each takes the options that its signature names, and no other one.
    """
    answer = estimate_stream if open_world else partial(estimate_levels, levels=levels) if levels else estimate_whole
    cut = "--open-world" if open_world else "--levels" if levels else ""
    options = _options_of(answer, cut, options)
    beside = (options.get("labels"), options.get("base_names"))
    inputs = [*source, *target, *(place for place in beside if not isinstance(place, list | tuple))]
    inputs += [*options.get("source_partner", ()), *options.get("target_partner", ())]
    inputs += [named_shift(each).place for each in options.get("labelled_shift", ())]
    require_folder("--out", out, own=(ESTIMATE,), inputs=inputs)
    if out is not None:
        (out / AUDIT).unlink(missing_ok=True)  # of an earlier call, maybe on other class names
    if isinstance(options.get("classnames"), str | Path):
        options["classnames"] = class_names(str(options["classnames"])).names
    facts = {**(made or {}), "openworld": __version__, "seed": str(seed)}
    report = answer(source, target, seed=seed, out=out, observer=observer, made=facts, **options)
    report = replace(report, files={JSON: report.to_json().encode(), **report.files})
    if out is not None:
        report.write(out)
    result = report.found
    alarm = isinstance(result, AccuracyEstimate) and (
        result.alerts or (result.alert is not None and result.shift_alerts)
    )
    code = ALERTED if alarm else UNKNOWN if result.unknown else 0
    return replace(report, ending=Ending.at(out, f"Numbers: {out}/{JSON}   Plots: {out}/*.svg", code))


def _options_of(answer: Callable, cut: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that a question takes; refuse others that are not as they are by default."""
    questions = {"--levels": estimate_levels, "--open-world": estimate_stream, "": estimate_whole}
    parameters = {option: signature(question).parameters.items() for option, question in questions.items()}
    takes = {option: {name: each.default for name, each in every} for option, every in parameters.items()}
    takes[""] = {field.name: field.default for field in fields(Settings)} | takes[""]
    for name, value in options.items():
        default = next((defaults[name] for defaults in takes.values() if name in defaults), None)
        same = (len(value) == 0) if isinstance(value, list | tuple) else value is default or value == default
        if name in takes[cut] or name == "device" or same:
            continue
        option = "--" + name.replace("_", "-")
        if cut:
            raise OpenworldError(f"{option} does not go with {cut}; leave one of the two out.")
        (other,) = (other for other, defaults in takes.items() if name in defaults)
        raise OpenworldError(f"{option} came without {other}; give both, or neither.")
    return {name: value for name, value in options.items() if name in takes[cut]}


def estimate_whole(
    source: Sequence[Any],
    target: Sequence[Any],
    *,
    model: Any = "",
    architecture: Sequence[str] = (),
    classnames: Sequence[str] | None = None,
    template: str = "",
    reference: Any = "",
    partner: Sequence[Any] = (),
    source_partner: Sequence[Any] = (),
    target_partner: Sequence[Any] = (),
    labelled_shift: Sequence[str] = (),
    estimator: Sequence[str] = (),
    same_shares: bool = False,
    other_shares: bool = False,
    false_alarms: float | None = None,
    by_class: bool = False,
    labels: Any = None,
    propose: int = 0,
    device: str = "auto",
    seed: int = 0,
    out: Path | None = None,
    observer: Observer = SILENT,
    made: Mapping[str, str],
    **further: Any,
) -> Report:
    """Estimate a target as a whole, and its periods; name images to label where that is wanted or nothing is told.

    `further` are fields of `Settings`.
    """
    if propose and out is None:
        raise OpenworldError("--propose writes a worksheet; say where with --out FOLDER.")
    if propose and out is not None and (out / SHEET).exists():
        raise OpenworldError(f"{out / SHEET} is there already, and may be filled in; give another --out.")
    if same_shares and other_shares:
        raise OpenworldError("--same-shares and --other-shares exclude one another; give what you know to hold.")
    if len(source_partner) not in (0, len(target_partner)):
        raise OpenworldError("--source-partner and --target-partner go in pairs; GDE can do without the first.")
    settings = Settings(
        estimators=tuple(estimator),
        false_alarms=RATE if false_alarms is None else false_alarms,
        shares="same" if same_shares else "other" if other_shares else "unknown",
        seed=seed,
        **further,
    )
    if false_alarms is not None and settings.alert is None and not settings.cuts:
        raise OpenworldError("--false-alarms is the rate of false alarms of --alert, or over time; add --alert.")
    models = {"model": model, "reference": reference, "partners": tuple(partner)}
    models |= {"template": template, "device": device, "architectures": tuple(architecture)}
    facts, shifts = dict(made), tuple(map(named_shift, labelled_shift))
    with ExitStack() as scratch:
        sources, targets, shifts, read = _scored(
            source, target, shifts, models, classnames, seed, facts, out, scratch, observer
        )
        facts |= checksums([*read, *(shift.place for shift in shifts if not shift.artificial)])
        source_table = open_table(sources, classnames=classnames, partners=source_partner, title=_title(source))
        target_table = open_table(
            targets,
            classnames=classnames or source_table.classnames,
            partners=target_partner,
            times=settings.timestamps,
            title=_title(target),
        )
        late = None if labels is None else read_late_labels(labels)
        progress = partial(observer.progress, total=None)
        result = estimate_accuracy(
            source_table, target_table, settings, progress, by_class=by_class, labelled=shifts, late=late
        )
        sheet = _worksheet(result, source_table, target_table, propose, out, seed)
    rows = sum(text.count(b"\n") - 1 for text in sheet.values())
    result = replace(result, made=facts, worksheet=0 if out is None else rows)  # that somebody can find
    gone = out is None and any(name.startswith("images target") for name in facts)
    beside = Path(target[0]).parent if isinstance(target[0], str | Path) else Path()
    answer = report(result, beside, json=json_text(json_of(result)), scores=() if gone else target_table.files)
    return replace(answer, files={**answer.files, **sheet})


def estimate_levels(
    source: Sequence[Any],
    target: Sequence[Any],
    *,
    levels: str = "",
    zero_shot: str = "",
    classnames: Sequence[str] | None = None,
    estimator: Sequence[str] = (),
    seed: int = 0,
    out: Path | None = None,
    observer: Observer = SILENT,
    made: Mapping[str, str],
) -> Report:
    """Estimate the dynamic robustness curve of a target whose column `levels` says the level of each image."""
    places = (*source, *target)
    if any(isinstance(place, str | ImageSet) and are_images(place) for place in places):
        raise OpenworldError("--levels reads files of scores, and images came; score them first (openworld predict).")
    source_scores = read_scores(source, classnames=classnames, title=_title(source))
    stream = read_scores(target, levels=levels, classnames=classnames or source_scores.names, title=_title(target))
    curve = estimate_curve(source_scores, stream, estimator, zero_shot, partial(observer.progress, total=None))
    return levels_report.report(replace(curve, made={**made, **checksums(places)}))


def estimate_stream(
    source: Sequence[Any],
    target: Sequence[Any],
    *,
    base_names: Path | str | Sequence[str] | None = None,
    new_share: float | None = None,
    seed: int = 0,
    out: Path | None = None,
    observer: Observer = SILENT,
    made: Mapping[str, str],
) -> Report:
    """Say what holds of the open-world quality on a stream; `source` has labelled base images."""
    require_fraction(new_share=new_share)
    from_file = isinstance(base_names, str | Path)
    names = read_lines(Path(base_names), "name") if from_file else base_names
    progress = partial(observer.progress, "reading images", total=None)
    streams = [read_stream(list(side), base_names=names, progress=progress) for side in (source, target)]
    path = str(target[0]) if len(target) == 1 and isinstance(target[0], str | Path) else ""
    result = quality.measure_quality(*streams, new_share, seed, path, str(base_names) if from_file else "")
    return quality.report(replace(result, made={**made, **checksums([*source, *target])}))


def json_of(estimate: AccuracyEstimate) -> dict:
    """Return every number, under the names that `--json` documents."""
    data = {"stretches" if name == "chunks" else name: value for name, value in to_json(estimate).items()}
    for period, said in zip(estimate.chunks, data["stretches"], strict=True):
        said |= {"quote": to_json(period.quote), "on_source": to_json(period.on_source)}
    alerts = {"alerts": list(estimate.alerts), "shift_alerts": list(estimate.shift_alerts)}
    return data | alerts | {"unknown": list(estimate.unknown)}


def _worksheet(
    estimate: AccuracyEstimate, source: ScoreTable, target: ScoreTable, wanted: int, out: Path | None, seed: int
) -> dict[str, bytes]:
    """Return the worksheet of images to label, by the name of its file: where one is wanted, or nothing can be told."""
    n, draw = wanted, PlanSettings("poisson", seed=seed)
    labelled = estimate.labelled is not None or estimate.target.accuracy is not None
    if not n and estimate.quote.accuracy is None and not estimate.chunks and not labelled and estimate.target.n > 1:
        if out is not None and (out / SHEET).exists():  # it may be filled in
            return {}
        n, draw = min(ENOUGH, estimate.target.n), PlanSettings("random", seed=seed)
    if not n:
        return {}
    target = target.ordered(source.classnames, f"those of {source.name}")
    key = next((name for name in IMAGE_COLUMNS if name in target.files[0].columns), ROW)
    images = images_at_hand(target, estimate.temperature, key)
    if estimate.chunks:
        images = images.since(estimate.chunks[-1].first)
    return {SHEET: worksheet(images, key, n, target.classnames, draw)}


def _scored(
    source: Sequence[Any],
    target: Sequence[Any],
    shifts: Sequence[NamedShift],
    models: dict[str, Any],
    classnames: Sequence[str] | None,
    seed: int,
    made: dict[str, str],
    out: Path | None,
    scratch: ExitStack,
    observer: Observer,
) -> tuple[Sequence[Any], Sequence[Any], Sequence[NamedShift], Sequence[Any]]:
    """Return the files of scores of source, target and labelled shifts, and the files that were read for them."""
    embedded = [place for place in (*source, *target) if is_embedded(place)]
    if embedded:
        if len(embedded) < len(source) + len(target) or shifts:
            raise OpenworldError("embeddings came beside scores, images or shifts; give source and target alike.")
        scored = embedded_scores(embedded, models["model"])
        _refuse_models(models | {"model": ""})
        return scored[: len(source)], scored[len(source) :], shifts, (*source, *target)
    places = (*source, *target, *(shift.place for shift in shifts))
    if any(isinstance(place, ImageSet) or place == CORRUPTIONS or are_images(place) for place in places):
        from openworld.label_free.estimate.scoring import score_images

        folder = out / SCORES if out else Path(scratch.enter_context(ScratchFolder()))
        folder.mkdir(parents=True, exist_ok=True)
        files = score_images(source, target, shifts, models, classnames, folder, made, observer, seed, out)
        return *files, (*files[0], *files[1])
    _refuse_models(models)
    return source, target, shifts, (*source, *target)


def _refuse_models(models: Mapping[str, Any]) -> None:
    """Refuse models beside files of scores: these hold what models said, and no image that one could score."""
    options = {"--model": models["model"], "--reference": models["reference"], "--partner": models["partners"]}
    for option, value in (options | {"--architecture": models["architectures"]}).items():
        if not isinstance(value, str | tuple) or value:
            raise OpenworldError(
                f"{option} needs images, and source and target are files of scores. A reference in files is a "
                "table `reference`, a partner a table `partner_1`, or --source-partner and --target-partner."
            )


def _title(places: Sequence[Any]) -> str:
    """Return what an image set is called: as it was named, without the folders above it."""
    first = places[0].path.name if isinstance(places[0], ScoreFile) else getattr(places[0], "name", places[0])
    first = Path(first).name if Path(first).exists() else str(first)
    return first if len(places) == 1 else f"{first} and {len(places) - 1} more"
