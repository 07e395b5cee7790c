"""IS-OOD's tables as runs ("Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox").

On downloaded data the division is the published one: the image lists of qqwsad5/IS-OOD @ 7b52db8, read in that
repository's own layout below the folder of data (`imglist/imagenet21k` and `imagenet21k`, `imglist/SynIS` and `SynIS`;
`imglist/imagenet1k/test_imagenet.txt` for the in-distribution test pictures), and the judged classifier is a saved one.
On embedded data drawings are divided here, by LAID. Table 3 is a run of its own (`isood_halves`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from openworld._errors import OpenworldError
from openworld.classifiers import published
from openworld.detectors import PROFILES
from openworld.evaluations.entries import CellsSpec, DecompositionSpec, PoolSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.ood_detection.entries import DetectorSpec, JudgedSpec
from openworld.evaluations.ood_detection.spec import IncrementalShiftSpec
from openworld.papers import TABLES, PaperTable
from openworld.reproduction.isood_halves import METHODS as HALVES
from openworld.reproduction.isood_halves import ROWS, WHOLE, halves_spec, remark
from openworld.reproduction.settings import PaperDefaults, PlannedRun, ReproductionSetup

PAPER = "is-ood"
DEFAULTS = PaperDefaults(seeds=(0, 1, 2))
"""Ours: the paper judges one published classifier, which is judged once, and names no CLIP for its decomposition."""

DETECTORS: dict[str, DetectorSpec] = {one.name: DetectorSpec(one.name) for one in PROFILES[PAPER]}
METHODS = DETECTORS | HALVES | {WHOLE: replace(HALVES["PCA"], label=WHOLE)}
"""What the paper calls a detector, a decomposition, or whole features -> what is run."""

ABSENT: dict[str, str] = {}

CLASSIFIER = "resnet50_imagenet1k_v1"
"""Folder of the judged classifier below that of data, as `openworld.classifiers` saves one."""

FEWEST_IMAGES = 100
FEWEST_EPOCHS = 6
"""After fewer, the small network knows next to nothing of the drawings, and neither does any detector."""

STYLES = ("noto", "fluent-emoji-flat", "emojione")
"""What is in distribution on embedded data."""

NEW_STYLES = ("noto-v1", "fluent-emoji", "twemoji", "fluent-emoji-high-contrast", "emojione-monotone")

_GENERATED, _DECOMPOSED = ("2", "5", "7"), "3"
_LISTS = {"imagenet21k": ("imglist/imagenet21k/train", "imglist/imagenet21k/val"), "SynIS": ("imglist/SynIS",)}
_TESTED = "imglist/imagenet1k/test_imagenet.txt"
_TITLES = {"imagenet21k": "ImageNet-21K", "SynIS": "Syn-IS"}


def default_tables(setup: ReproductionSetup) -> tuple[str, ...]:
    """The tables that are made where none is named: all but those of generated pictures."""
    return tuple(number for number in TABLES[PAPER] if number not in _GENERATED)


def remarks(setup: ReproductionSetup) -> tuple[str, ...]:
    """What sets these runs apart from the paper's, in sentences."""
    ours = "Of Table 8 the second column is read from the upper half of the semantic levels: the paper names no subset."
    third = remark(setup)
    if setup.embedded:
        stand_in = "Drawings and a small network stand in for ImageNet-21K and ResNet-50; levels are cut by LAID, here."
        return stand_in, ours, third
    return (
        "All of ImageNet-21K-P is judged, as in the paper: 64 lists of validation pictures and 64 of training "
        "pictures, about 11.6 million pictures together. All are resized alike, where the paper brings those of "
        "ImageNet-21K to 224 pixels and the others to 256.",
        "One process reads the pictures one after the other, and a saved classifier is a single unit: if the run is "
        "stopped, that unit starts again from its beginning. The hours leave out KNN's search among the 1.28 million "
        "training pictures of ImageNet, which takes days on a CPU.",
        f"The folder of data must hold imglist and the pictures as the paper's repository has them, and {CLASSIFIER}, "
        "a saved classifier of ImageNet's 1,000 classes.",
        ours,
        third,
    )


def plan_runs(tables: Sequence[PaperTable], setup: ReproductionSetup) -> Iterator[PlannedRun]:
    """One run per division, which every table of it is read from, and one of decomposed features."""
    _require_makeable(tables, setup)
    kept = [name for name, one in DETECTORS.items() if setup.keeps(name, one)]
    suffix = setup.suffix(*(() if len(kept) == len(DETECTORS) else kept))
    same = {one: one for one in kept}
    for name, title in _TITLES.items() if kept else ():
        wanted = tuple(one.number for one in tables if title in one.datasets)
        if wanted and setup.embedded:
            yield PlannedRun(f"emoji{suffix}", _embedded(kept, setup), {}, same, wanted)
        elif wanted:
            yield PlannedRun(f"{name}{suffix}", _given(name, kept, setup), {"given cells": title}, same, wanted)
    yield from _halves_runs(tables, setup)


def _halves_runs(tables: Sequence[PaperTable], setup: ReproductionSetup) -> Iterator[PlannedRun]:
    every = [*HALVES, WHOLE]
    kept = [name for name in every if setup.keeps(name, METHODS[name])]
    if kept and _DECOMPOSED in [one.number for one in tables]:
        suffix = setup.suffix(*(() if kept == every else kept))
        titles = {} if setup.embedded else {row: row for row in ROWS.values()}
        methods = {one: one for one in kept}
        yield PlannedRun(f"halves{suffix}", halves_spec(kept, setup), titles, methods, (_DECOMPOSED,))


def _require_makeable(tables: Iterable[PaperTable], setup: ReproductionSetup) -> None:
    for table in tables:
        if setup.embedded and table.number in _GENERATED:
            raise OpenworldError(
                f"Table {table.number} of {PAPER} is of generated pictures (Syn-IS), for which nothing embedded stands "
                "in; leave it out, or give the folder that holds them. To judge detectors on pictures of your own "
                "making: openworld synthesize, then openworld run with cells = { generated = FOLDER }."
            )


def _given(name: str, kept: Sequence[str], setup: ReproductionSetup) -> IncrementalShiftSpec:
    folder = Path(setup.data)
    return IncrementalShiftSpec(
        models=(JudgedSpec(weights=str(folder / CLASSIFIER), label="ResNet-50", detectors=_detectors(kept)),),
        sources=(DatasetSpec("imagenet"),),
        classes="all",
        shots=None,
        cells=CellsSpec(
            tuple(str(folder / one) for one in _LISTS[name]), str(folder / name), tested=str(folder / _TESTED)
        ),
        seeds=setup.seeds,
    )


def _embedded(kept: Sequence[str], setup: ReproductionSetup) -> IncrementalShiftSpec:
    """The run of `examples/ood-detection-embedded.toml`, of its small network alone."""
    every = published("emoji-concepts").epochs
    recipe = {} if setup.quick == 1 else {"epochs": max(FEWEST_EPOCHS, every // setup.quick)}
    datasets = ("emoji-concepts", "emoji-concepts-b")
    return IncrementalShiftSpec(
        models=(JudgedSpec("resnet-8", recipe=recipe, detectors=_detectors(kept), profile=PAPER),),
        sources=tuple(DatasetSpec("emoji-concepts", style) for style in STYLES),
        id_part="validation",
        pool=tuple(PoolSpec(name, style) for name in datasets for style in (*STYLES, *NEW_STYLES)),
        images=None if setup.quick == 1 else FEWEST_IMAGES,
        decomposition=DecompositionSpec(setup.backbone, taught_by="pictures"),
        seeds=setup.seeds,
    )


def _detectors(kept: Sequence[str]) -> tuple[DetectorSpec, ...]:
    return tuple(DETECTORS[name] for name in kept)
