"""From what a person names to a report on a stream by level."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from openworld._errors import OpenworldError
from openworld._observer import Observer
from openworld._score_files import ScoreFile
from openworld.applications.estimate.by_level.estimation import estimate_curve
from openworld.applications.estimate.by_level.reading import read_scores
from openworld.applications.estimate.by_level.report import report
from openworld.applications.estimate.inputs import EstimateInputs
from openworld.applications.images import are_images
from openworld.datasets import ImageSet
from openworld.datasets.names.class_names import class_names
from openworld.report.report import Report


def estimate_by_level(
    inputs: EstimateInputs, estimators: tuple[str, ...], observer: Observer, made: Mapping[str, str]
) -> Report:
    """Estimate the dynamic robustness curve of a stream whose column `inputs.levels` says the level of each image.

    Returns:
        A report whose `found` is a `CurveEstimate`; written into `inputs.out` where that is a folder.
    Raises:
        OpenworldError: images instead of scores, options of other estimates, inputs that do not go together.
    """
    places = (*inputs.source, *inputs.target)
    if any(isinstance(place, ImageSet) or (isinstance(place, str) and are_images(place)) for place in places):
        raise OpenworldError("--levels reads files of scores, and images came; score them first (openworld predict).")
    inputs.models.refuse()
    others = {
        "--labelled-shift": inputs.labelled,
        "--source-partner": inputs.source_partners,
        "--timestamps": inputs.times,
    }
    for option, given in others.items():
        if given:
            raise OpenworldError(f"{option} does not go with --levels; leave one of the two out.")
    names = inputs.models.classnames
    if isinstance(names, str | Path):
        names = class_names(str(names)).names
    source = read_scores(inputs.source, classnames=names, title=_title(inputs.source))
    stream = read_scores(
        inputs.target, levels=inputs.levels, classnames=names or source.names, title=_title(inputs.target)
    )
    facts = {**made, **dict(_hashes(places))}
    found = estimate_curve(
        source, stream, estimators, inputs.zero_shot, lambda doing, done: observer.progress(doing, done, None)
    )
    answer = report(replace(found, made=facts))
    if inputs.out is not None:
        answer.write(inputs.out)
    return answer


def _title(given) -> str:
    first = given[0].path.name if isinstance(given[0], ScoreFile) else Path(given[0]).name
    return first if len(given) == 1 else f"{first} and {len(given) - 1} more"


def _hashes(places):
    for path in (Path(place) for place in places if isinstance(place, str | Path)):
        if path.is_file():
            with path.open("rb") as file:
                yield path.name, f"SHA-256 {hashlib.file_digest(file, 'sha256').hexdigest()}"
