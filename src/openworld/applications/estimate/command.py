"""From what a person names to a report: files of scores, or images that models look at, and then an estimate."""

import hashlib
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from openworld import __version__
from openworld._errors import OpenworldError
from openworld.applications.estimate.accuracy_estimate import AccuracyEstimate
from openworld.applications.estimate.estimation import EstimateOptions, estimate_accuracy
from openworld.applications.estimate.images import is_pictures
from openworld.applications.estimate.inputs import EstimateInputs
from openworld.applications.estimate.labelled_shifts import CORRUPTIONS, LabelledTable
from openworld.applications.estimate.report import plots, report
from openworld.applications.estimate.score_tables import ScoreTable, open_table
from openworld.applications.estimate.scoring import refuse_models, score_images
from openworld.applications.observer import SILENT, Observer
from openworld.datasets.names.class_names import class_names
from openworld.report.class_names import FILE as AUDIT
from openworld.report.command_report import CommandReport
from openworld.report.data_files import json_text
from openworld.runs import to_json

NO_OPTIONS = EstimateOptions()
JSON, SCORES = "estimate.json", "scores"


def estimate(
    inputs: EstimateInputs,
    options: EstimateOptions = NO_OPTIONS,
    observer: Observer = SILENT,
    made: Mapping[str, str] | None = None,
) -> CommandReport:
    """Estimate the accuracy of a model on a target without labels.

    Args:
        inputs: source, target, and models where these are images.
        options: what is wanted.
        observer: told what is being done.
        made: facts for the page, such as the command line.

    Returns:
        A report whose `found` is an `AccuracyEstimate`; written into `inputs.out` where that is a folder.

    Raises:
        OpenworldError: inputs that do not go together or cannot be read, as the message says.
    """
    if inputs.out is not None:
        (inputs.out / AUDIT).unlink(missing_ok=True)  # of an earlier call, maybe on other class names
    with ExitStack() as scratch:
        facts = {**(made or {}), "openworld": __version__, "seed": str(options.seed)}
        source, target, labelled = _tables(inputs, scratch, facts, observer, options.seed)
        found = estimate_accuracy(
            source, target, options, lambda doing, done: observer.progress(doing, done, None), labelled=labelled
        )
    found = replace(found, made=facts)
    answer = report(found)
    text = json_text(json_of(found))
    answer = replace(answer, found=found, json=text, files={JSON: text.encode(), **plots(found)})
    if inputs.out is not None:
        answer.write(inputs.out)
    return answer


def json_of(found: AccuracyEstimate) -> dict:
    """Return every number, under the names that `--json` documents."""
    renamed = {"chunks": "stretches"}
    data = {renamed.get(name, name): value for name, value in to_json(found).items()}
    return data | {"alerts": list(found.alerts), "untold": list(found.untold)}


def _tables(
    inputs: EstimateInputs, scratch: ExitStack, made: dict[str, str], observer: Observer, seed: int
) -> tuple[ScoreTable, ScoreTable, list[LabelledTable]]:
    """Tables of source, target and labelled shifts; where they are images, models look at them first."""
    names = None if inputs.models.classnames is None else class_names(str(inputs.models.classnames)).names
    if inputs.source_partners and len(inputs.source_partners) != len(inputs.target_partners):
        raise OpenworldError(
            "--source-partner and --target-partner go in pairs, in the same order; GDE can do without --source-partner."
        )
    sources, targets, labelled = list(inputs.source), list(inputs.target), list(inputs.labelled)
    places = [*sources, *targets, *(shift.place for shift in labelled)]
    if any(place == CORRUPTIONS or is_pictures(place) for place in places):
        folder = _scores_folder(inputs.out, scratch)
        sources, targets, labelled = score_images(inputs, names, folder, made, observer, seed)
    else:
        refuse_models(inputs.models)
    for path in map(Path, (*sources, *targets, *(shift.place for shift in labelled if not shift.artificial))):
        if path.is_file():
            made[path.name] = f"SHA-256 {_digest(path)}"
    source = open_table(sources, classnames=names, partners=inputs.source_partners)
    names = names or source.layout.classnames
    target = open_table(targets, classnames=names, partners=inputs.target_partners, times=inputs.times)
    shifts = []
    for shift in labelled:
        table = replace(open_table([Path(shift.place)], classnames=names), title=shift.title)
        shifts.append(LabelledTable(shift.family, table, shift.artificial))
    return replace(source, title=_title(inputs.source)), replace(target, title=_title(inputs.target)), shifts


def _title(given: Sequence[str]) -> str:
    """What an image set is called: as it was named, without the folders above it."""
    first = Path(given[0]).name if Path(given[0]).exists() else given[0]
    return first if len(given) == 1 else f"{first} and {len(given) - 1} more"


def _scores_folder(out: Path | None, scratch: ExitStack) -> Path:
    """Where scores of images are written: they are kept where the rest is kept."""
    folder = Path(scratch.enter_context(tempfile.TemporaryDirectory())) if out is None else out / SCORES
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
