"""From what a person names to a report: files of scores, or images that models score, and then an estimate."""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from openworld import __version__
from openworld._errors import OpenworldError
from openworld._observer import SILENT, Observer
from openworld._score_files import ScoreFile
from openworld.applications.estimate.accuracy_estimate import AccuracyEstimate
from openworld.applications.estimate.by_level.command import estimate_by_level
from openworld.applications.estimate.embedded import embedded_scores, is_embedded
from openworld.applications.estimate.estimation import EstimateOptions, estimate_accuracy, temperature_of
from openworld.applications.estimate.inputs import CORRUPTIONS, EstimateInputs
from openworld.applications.estimate.late_labels import SHEET, proposal, read_late_labels
from openworld.applications.estimate.reading import LabelledTable, Pass
from openworld.applications.estimate.report import report
from openworld.applications.estimate.score_tables import ScoreTable, open_table
from openworld.applications.images import are_images
from openworld.datasets import ImageSet
from openworld.datasets.names.class_names import class_names
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
    """Estimate the accuracy of a model on a target without labels.

    Args:
        inputs: source, target, and models where these are images.
        options: what is wanted.
        observer: hears what is being done.
        made: facts for the page, such as the command line.

    Returns:
        A report whose `found` is an `AccuracyEstimate`, or by level a `CurveEstimate`; written into `inputs.out` where
        that is a folder.

    Raises:
        OpenworldError: inputs that do not go together or cannot be read, as the message says.
    """
    partners = (*inputs.source_partners, *inputs.target_partners)
    given = (*inputs.source, *inputs.target, *partners, *(shift.place for shift in inputs.labelled), inputs.labels)
    require_folder("--out", inputs.out, own=(ESTIMATE,), inputs=given)
    _require_place_for_proposal(inputs)
    if inputs.out is not None:
        (inputs.out / AUDIT).unlink(missing_ok=True)  # of an earlier call, maybe on other class names
    facts = {**(made or {}), "openworld": __version__, "seed": str(options.seed)}
    if inputs.levels:
        options.require_no_cut("--levels")
        return estimate_by_level(inputs, options.estimators, observer, facts)
    with ExitStack() as scratch:
        source, target, labelled = _tables(inputs, scratch, facts, observer, options.seed)
        late = None if inputs.labels is None else read_late_labels(inputs.labels)
        progress = partial(observer.progress, total=None)
        estimate = estimate_accuracy(source, target, options, progress, labelled=labelled, late=late)
        sheet = _proposal(inputs, estimate, source, target, options.seed)
    rows = sum(text.count(b"\n") - 1 for text in sheet.values())
    estimate = replace(estimate, made=facts, worksheet=rows)
    gone = inputs.out is None and any(name.startswith("pictures target") for name in facts)
    scored = () if gone else target.files
    text = json_text(json_of(estimate))
    answer = report(estimate, _folder(inputs.target))
    answer = replace(
        answer, found=estimate, json=text, files={JSON: text.encode(), **answer.files, **sheet}, scores=scored
    )
    if inputs.out is not None:
        answer.write(inputs.out)
    return answer


def _require_place_for_proposal(inputs: EstimateInputs) -> None:
    """Refuse a worksheet without a folder, and one that would take the place of another, which may be filled in."""
    if not inputs.propose:
        return
    if inputs.out is None:
        raise OpenworldError("--propose writes a worksheet; say where with --out FOLDER.")
    if (inputs.out / SHEET).exists():
        raise OpenworldError(
            f"{inputs.out / SHEET} is there already, and may be filled in; move it away, or give another --out."
        )


def _proposal(
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
    temperature = temperature_of(Pass(source, "reading the source").outputs)
    return {SHEET: proposal(estimate, target, temperature, n, design=design, seed=seed).encode()}


def json_of(estimate: AccuracyEstimate) -> dict:
    """Return every number, under the names that `--json` documents."""
    renamed = {"chunks": "stretches"}
    data = {renamed.get(name, name): value for name, value in to_json(estimate).items()}
    alerts = {"alerts": list(estimate.alerts), "shift_alerts": list(estimate.shift_alerts)}
    return data | alerts | {"untold": list(estimate.unknown)}


def _tables(
    inputs: EstimateInputs, scratch: ExitStack, made: dict[str, str], observer: Observer, seed: int
) -> tuple[ScoreTable, ScoreTable, list[LabelledTable]]:
    """Return the tables of source, target and labelled shifts; where they are images, models score them first."""
    names = inputs.models.classnames
    if isinstance(names, str | Path):
        names = class_names(str(names)).names
    if inputs.source_partners and len(inputs.source_partners) != len(inputs.target_partners):
        raise OpenworldError(
            "--source-partner and --target-partner go in pairs, in the same order; GDE can do without --source-partner."
        )
    sources, targets, shifts = inputs.source, inputs.target, inputs.labelled
    places = [*sources, *targets, *(shift.place for shift in shifts)]
    embedded = [place for place in (*sources, *targets) if is_embedded(place)]
    if embedded:
        if len(embedded) < len(sources) + len(targets) or shifts:
            raise OpenworldError(
                "embeddings came beside scores, images or labelled shifts; give source and target alike."
            )
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
    given = (*given, *(shift.place for shift in shifts if not shift.artificial))
    for path in (Path(place) for place in given if isinstance(place, str | Path)):
        if path.is_file():
            with path.open("rb") as file:
                made[path.name] = f"SHA-256 {hashlib.file_digest(file, 'sha256').hexdigest()}"
    source = open_table(sources, classnames=names, partners=inputs.source_partners, title=_title(inputs.source))
    names = names or source.classnames
    target = open_table(
        targets, classnames=names, partners=inputs.target_partners, times=inputs.times, title=_title(inputs.target)
    )
    labelled = [
        LabelledTable(shift.family, open_table([shift.place], classnames=names, title=shift.title), shift.artificial)
        for shift in shifts
    ]
    return source, target, labelled


def _folder(given: Sequence[str | ImageSet | ScoreFile]) -> Path:
    """Return the folder that the first of some files lies in."""
    return Path(given[0]).parent if isinstance(given[0], str | Path) else Path()


def _title(given: Sequence[str | ImageSet | ScoreFile]) -> str:
    """Return what an image set is called: as it was named, without the folders above it."""
    first = given[0].path.name if isinstance(given[0], ScoreFile) else getattr(given[0], "name", given[0])
    first = Path(first).name if Path(first).exists() else str(first)
    return first if len(given) == 1 else f"{first} and {len(given) - 1} more"
