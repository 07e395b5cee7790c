"""From what a person names to a report: files of scores, or images that models score, and then an estimate."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from openworld import __version__
from openworld._errors import OpenworldError
from openworld._observer import SILENT, Observer
from openworld.applications.estimate.accuracy_estimate import AccuracyEstimate
from openworld.applications.estimate.by_level import report as curve_report
from openworld.applications.estimate.by_level.estimation import estimate_curve
from openworld.applications.estimate.by_level.reading import read_scores
from openworld.applications.estimate.embedded import embedded_scores, is_embedded
from openworld.applications.estimate.estimation import EstimateOptions, estimate_accuracy
from openworld.applications.estimate.inputs import CORRUPTIONS, EstimateInputs, checksums, title_of
from openworld.applications.estimate.late_labels import SHEET, proposal, read_late_labels
from openworld.applications.estimate.reading import LabelledTable, Pass
from openworld.applications.estimate.report import report
from openworld.applications.estimate.score_tables import ScoreTable, open_table
from openworld.applications.images import are_images
from openworld.datasets import ImageSet
from openworld.datasets.names.class_names import class_names
from openworld.estimators.engine.temperature import temperature_of
from openworld.report.class_names import FILE as AUDIT
from openworld.report.data_files import json_text
from openworld.report.report import Report
from openworld.runs import to_json
from openworld.runs.outputs import ESTIMATE, require_folder
from openworld.runs.scratch import ScratchFolder

NO_OPTIONS = EstimateOptions()
JSON, SCORES = "estimate.json", "scores"
ENOUGH = 97  # labels at random tell any accuracy to ten points either way: 1.96^2 / 4 / .1^2


def estimate(
    inputs: EstimateInputs,
    options: EstimateOptions = NO_OPTIONS,
    observer: Observer = SILENT,
    made: Mapping[str, str] | None = None,
) -> Report:
    """Return a report that has found an `AccuracyEstimate`, or by level a `CurveEstimate`; write it to `inputs.out`."""
    partners = (*inputs.source_partners, *inputs.target_partners)
    given = (*inputs.source, *inputs.target, *partners, *(shift.place for shift in inputs.labelled), inputs.labels)
    require_folder("--out", inputs.out, own=(ESTIMATE,), inputs=given)
    if inputs.propose and inputs.out is None:
        raise OpenworldError("--propose writes a worksheet; say where with --out FOLDER.")
    if inputs.propose and (inputs.out / SHEET).exists():
        raise OpenworldError(f"{inputs.out / SHEET} is there already, and may be filled in; give another --out.")
    if inputs.out is not None:
        (inputs.out / AUDIT).unlink(missing_ok=True)  # of an earlier call, maybe on other class names
    facts = {**(made or {}), "openworld": __version__, "seed": str(options.seed)}
    if inputs.levels:
        options.require_no_cut("--levels")
        answer = _by_level(inputs, options.estimators, observer, facts)
    else:
        answer = _overall(inputs, options, observer, facts)
    if inputs.out is not None:
        answer.write(inputs.out)
    return answer


def json_of(estimate: AccuracyEstimate) -> dict:
    """Return every number, under the names that `--json` documents."""
    data = {"stretches" if name == "chunks" else name: value for name, value in to_json(estimate).items()}
    alerts = {"alerts": list(estimate.alerts), "shift_alerts": list(estimate.shift_alerts)}
    return data | alerts | {"untold": list(estimate.unknown)}


def _overall(inputs: EstimateInputs, options: EstimateOptions, observer: Observer, facts: dict[str, str]) -> Report:
    """Estimate a target as a whole, and its chunks; name images to label where that is wanted or nothing is told."""
    with ExitStack() as scratch:
        source, target, labelled = _tables(inputs, scratch, facts, observer, options.seed)
        late = None if inputs.labels is None else read_late_labels(inputs.labels)
        progress = partial(observer.progress, total=None)
        estimate = estimate_accuracy(source, target, options, progress, labelled=labelled, late=late)
        sheet = _worksheet(inputs, estimate, source, target, options.seed)
    rows = sum(text.count(b"\n") - 1 for text in sheet.values())
    estimate = replace(estimate, made=facts, worksheet=rows)
    gone = inputs.out is None and any(name.startswith("pictures target") for name in facts)
    first, text = inputs.target[0], json_text(json_of(estimate))
    answer = report(estimate, Path(first).parent if isinstance(first, str | Path) else Path())
    files = {JSON: text.encode(), **answer.files, **sheet}
    return replace(answer, found=estimate, json=text, files=files, scores=() if gone else target.files)


def _by_level(inputs: EstimateInputs, estimators: tuple[str, ...], observer: Observer, facts: dict[str, str]) -> Report:
    """Estimate the dynamic robustness curve of a stream whose column `inputs.levels` says the level of each image."""
    places = (*inputs.source, *inputs.target)
    if any(isinstance(place, ImageSet) or (isinstance(place, str) and are_images(place)) for place in places):
        raise OpenworldError("--levels reads files of scores, and images came; score them first (openworld predict).")
    inputs.models.refuse()
    others = {"--labelled-shift": inputs.labelled, "--source-partner": inputs.source_partners}
    for option, given in (others | {"--timestamps": inputs.times}).items():
        if given:
            raise OpenworldError(f"{option} does not go with --levels; leave one of the two out.")
    names = _class_names(inputs)
    source = read_scores(inputs.source, classnames=names, title=title_of(inputs.source))
    names, title = names or source.names, title_of(inputs.target)
    stream = read_scores(inputs.target, levels=inputs.levels, classnames=names, title=title)
    progress = partial(observer.progress, total=None)
    found = estimate_curve(source, stream, estimators, inputs.zero_shot, progress)
    return curve_report.report(replace(found, made=facts | checksums(places)))


def _class_names(inputs: EstimateInputs):
    names = inputs.models.classnames
    return class_names(str(names)).names if isinstance(names, str | Path) else names


def _worksheet(
    inputs: EstimateInputs, estimate: AccuracyEstimate, source: ScoreTable, target: ScoreTable, seed: int
) -> dict[str, bytes]:
    """Return the worksheet of images to label, by the name of its file: where one is wanted, or nothing can be told."""
    n, design = inputs.propose, "poisson"
    labelled = estimate.labelled is not None or estimate.target.accuracy is not None
    if not n and estimate.quote.accuracy is None and not estimate.chunks and not labelled and estimate.target.n > 1:
        if inputs.out is not None and (inputs.out / SHEET).exists():  # it may be filled in
            return {}
        n, design = min(ENOUGH, estimate.target.n), "random"
    if not n:
        return {}
    target = target.ordered(source.classnames, f"those of {source.name}")
    temperature = temperature_of(Pass(source, "reading the source").outputs).value
    return {SHEET: proposal(estimate, target, temperature, n, design=design, seed=seed).encode()}


def _tables(
    inputs: EstimateInputs, scratch: ExitStack, made: dict[str, str], observer: Observer, seed: int
) -> tuple[ScoreTable, ScoreTable, list[LabelledTable]]:
    """Return the tables of source, target and labelled shifts; where they are images, models score them first."""
    names = _class_names(inputs)
    if inputs.source_partners and len(inputs.source_partners) != len(inputs.target_partners):
        raise OpenworldError("--source-partner and --target-partner go in pairs; GDE can do without the first.")
    sources, targets, shifts = inputs.source, inputs.target, inputs.labelled
    places = [*sources, *targets, *(shift.place for shift in shifts)]
    embedded = [place for place in (*sources, *targets) if is_embedded(place)]
    if embedded:
        if len(embedded) < len(sources) + len(targets) or shifts:
            raise OpenworldError("embeddings came beside scores, images or shifts; give source and target alike.")
        scored = embedded_scores(embedded, inputs.models.model)
        sources, targets = scored[: len(sources)], scored[len(sources) :]
        replace(inputs.models, model="").refuse()
    elif any(isinstance(place, ImageSet) or place == CORRUPTIONS or are_images(place) for place in places):
        from openworld.applications.estimate.scoring import score_images

        folder = inputs.out / SCORES if inputs.out else Path(scratch.enter_context(ScratchFolder()))
        folder.mkdir(parents=True, exist_ok=True)
        sources, targets, shifts = score_images(inputs, names, folder, made, observer, seed)
    else:
        inputs.models.refuse()

    given = (*inputs.source, *inputs.target) if embedded else (*sources, *targets)
    made |= checksums([*given, *(shift.place for shift in shifts if not shift.artificial)])
    source = open_table(sources, classnames=names, partners=inputs.source_partners, title=title_of(inputs.source))
    shared = {"classnames": names or source.classnames}
    about = {"partners": inputs.target_partners, "times": inputs.times, "title": title_of(inputs.target)}
    target = open_table(targets, **about, **shared)
    labelled = [
        LabelledTable(shift.family, open_table([shift.place], title=shift.title, **shared), shift.artificial)
        for shift in shifts
    ]
    return source, target, labelled
