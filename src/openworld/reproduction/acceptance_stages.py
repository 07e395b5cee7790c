"""Where does a number of zero-shot CLIP depart? Every stage on its way is looked at by itself.

images -> names -> sentences -> preprocessing -> weights -> metric. What a stage should be is written down here, apart
from the code that it checks; pixels and metrics are made again in another, plain form.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

import numpy as np

from openworld.datasets import PUBLISHED
from openworld.datasets.names.class_names import listed_names
from openworld.datasets.published.class_folders import MENDED
from openworld.evaluations.dynamic.record import DynamicRecord
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.recognition.outcome import Outcome, outcomes
from openworld.evaluations.runtime import backbone
from openworld.reproduction.acceptance import STAGES, Departure
from openworld.reproduction.acceptance_model import pixels_departures, preprocessing_departures, weights_departures
from openworld.reproduction.settings import PlannedRun
from openworld.results import RunFolder
from openworld.runs import Record, RunStore, read_spec

PHOTO = "a photo of a {}."
SENTENCES: Mapping[str, str] = {
    "oxford_pets": "a photo of a {}, a type of pet.",
    "oxford_flowers": "a photo of a {}, a type of flower.",
    "food101": "a photo of {}, a type of food.",
    "fgvc_aircraft": "a photo of a {}, a type of aircraft.",
    "dtd": "{} texture.",
    "eurosat": "a centered satellite photo of {}.",
    "ucf101": "a photo of a person doing {}.",
}
"""CoOp's sentence of a data set; PHOTO for every other."""

SHARED_LISTS = ("imagenetv2", "imagenet-sketch", "imagenet-a", "imagenet-r")
"""Data sets whose classes are ImageNet's, or some of them."""


def departures(runs: Sequence[PlannedRun], folder: Path, name: str, device: str) -> tuple[Departure, ...]:
    """Every stage of finished runs that is not as it should be, in the order of STAGES.

    Args:
        runs: of zero-shot CLIP, in `folder`.
        name: of the backbone, which is loaded on `device`.
    """
    clip, departures = backbone(name, device), []
    for run in runs:
        sets = {
            run.datasets[str(entry)]: (entry.dataset, DatasetSpec(entry.dataset, entry.domain).images().load())
            for entry in run.data
        }
        for title, (dataset, images) in sets.items():
            departures += images_departures(title, dataset, images)
            departures += names_departures(title, dataset, images.classnames)
            departures += pixels_departures(title, clip, images)
        if run.spec.protocol == "dynamic":
            records = RunStore(folder / run.name).records()
            departures += [departure for record in records for departure in curve_departures(tuple(sets), record)]
        else:
            titles = {dataset: title for title, (dataset, _) in sets.items()}
            whole = RunFolder.read(folder / run.name)
            records = whole.records
            departures += [departure for outcome in outcomes(whole) for departure in metric_departures(titles, outcome)]
        departures += [departure for record in records for departure in sentences_departures(tuple(sets), record)]
    departures += [*preprocessing_departures(clip), *weights_departures(clip)]
    return tuple(sorted(dict.fromkeys(departures), key=lambda departure: STAGES.index(departure.stage)))


def images_departures(title: str, dataset: str, images) -> Iterator[Departure]:
    """Counts of classes and of test pictures that are not the published ones."""
    card = PUBLISHED[dataset]
    counts = {"classes": len(images.classnames), "test images": len(images)}
    expected = {"classes": card.classes, "test images": card.pictures["test"]}
    for what, count in counts.items():
        if count != expected[what]:
            yield Departure("images", (title,), f"{title} has {count:,} {what}, published are {expected[what]:,}")


def names_departures(title: str, dataset: str, names: Sequence[str]) -> Iterator[Departure]:
    """The first class name that is not the published one; nothing where no list is at hand."""
    shared = dataset in SHARED_LISTS
    known = listed_names("imagenet" if shared else dataset)
    if known is None:
        return
    expected = [_original_name(name) for name in known.names]
    ours = [_original_name(name) for name in names]
    if shared and len(ours) < len(expected):
        expected = [name for name in expected if name in set(ours)]
    pairs = zip_longest(ours, expected, fillvalue="nothing")
    for place, (our_name, published) in enumerate(pairs):
        if our_name != published:
            yield Departure("names", (title,), f"class {place} of {title} is {our_name!r}, published is {published!r}")
            return


def _original_name(name: str) -> str:
    """CLIP's name of a class that has another one here."""
    return {ours: theirs for theirs, ours in MENDED.values()}.get(name, name)


def sentences_departures(titles: tuple[str, ...], record: Record) -> Iterator[Departure]:
    """Sentences around the names that are not CoOp's one of the data set."""
    task = record.unit.arguments["task"]
    dataset = task.get("dataset") or (task.get("data") or task["source"])["dataset"]
    ours, expected = tuple(task["learner"]["settings"]["templates"]), (SENTENCES.get(dataset, PHOTO),)
    if ours != expected:
        yield Departure("sentences", titles, f"names of {dataset} stand in {list(ours)}, CoOp's in {list(expected)}")


def metric_departures(titles: Mapping[str, str], outcome: Outcome) -> Iterator[Departure]:
    """Metrics of a record that are not those of its own scores, counted plainly."""
    record = outcome.record
    title = titles[record.dataset or record.task]
    kept = {name: getattr(record, name) for name in ("base_accuracy", "new_accuracy", "harmonic_mean", "auroc")}
    kept |= {"openworld_auc": record.openworld_auc.value}
    for name, value in plain_metrics(*outcome.test.samples).items():
        if kept[name] is None or abs(kept[name] - value) > 1e-9:
            what = f"{name} of {title} is {kept[name]}, its own scores give {value}"
            yield Departure("metric", (title,), what)


def plain_metrics(base_scores, base_correct, new_scores, new_correct) -> dict[str, float]:
    """The metrics by their definitions: shares, and pairs of which the base picture scores higher, ties as halves."""
    base, new = float(np.mean(base_correct)), float(np.mean(new_correct))
    pairs = len(base_scores) * len(new_scores)
    right = base_scores[np.asarray(base_correct, bool)], new_scores[np.asarray(new_correct, bool)]
    return {
        "base_accuracy": base,
        "new_accuracy": new,
        "harmonic_mean": 2 * base * new / (base + new) if base + new else 0.0,
        "auroc": _higher(base_scores, new_scores) / pairs,
        "openworld_auc": _higher(*right) / pairs,
    }


def _higher(first: np.ndarray, second: np.ndarray) -> float:
    """How many pairs have the first higher, ties counted as halves."""
    ordered = np.sort(second)
    return float((np.searchsorted(ordered, first, "left") + np.searchsorted(ordered, first, "right")).sum()) / 2


def curve_departures(titles: tuple[str, ...], record: Record) -> Iterator[Departure]:
    """Accuracies before any change that are not those of the record's own predictions."""
    rows = record.table("predictions")
    for number, scenario_run in enumerate(read_spec(record.metrics, DynamicRecord).courses):
        first_level = (rows["course"] == number) & (rows["level"] == 0)
        value = float(np.mean(rows["prediction"][first_level] == rows["label"][first_level]))
        accuracy = scenario_run.views[0].accuracy
        if abs(value - accuracy) > 1e-9:
            what = f"Acc(0) of {scenario_run.scenario} is {accuracy}, its own predictions give {value}"
            yield Departure("metric", titles, what)
