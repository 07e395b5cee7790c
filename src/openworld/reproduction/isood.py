"""IS-OOD's tables as runs ("Rethinking the Evaluation of Out-of-Distribution Detection: A Sorites Paradox").

On downloaded data the division is the published one: the image lists of qqwsad5/IS-OOD @ 7b52db8, read in that
repository's own layout below the folder of data (`imglist/imagenet21k` and `imagenet21k`, `imglist/SynIS` and `SynIS`;
`imglist/imagenet1k/test_imagenet.txt` for the in-distribution test images), and the judged classifier is a saved one.
On embedded data drawings are divided here, by LAID, and a rendered twin of Syn-IS is made. Table 3 is a run of its own:
zero-shot accuracy with whole features and their halves, on clean and shifted images.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from openworld.classifiers import published
from openworld.datasets.checking import lacking_corruptions
from openworld.datasets.corruptions import CORRUPTIONS, SEVERITIES
from openworld.datasets.emoji.drawings import TARGET_STYLES
from openworld.datasets.styles import STYLES as RESTYLED
from openworld.datasets.templates import CLIP_80
from openworld.detectors import PROFILES
from openworld.evaluations.decomposed_zero_shot.spec import DecomposedZeroShotSpec, HalvesSpec, LabelledSetSpec
from openworld.evaluations.entries import CellsSpec, DecompositionSpec, PoolSpec
from openworld.evaluations.image_selection import DatasetSpec
from openworld.ood.by_shift.spec import OODDetectionSpec
from openworld.ood.model_entries import DetectorSpec, JudgedSpec
from openworld.papers import TABLES, PaperTable
from openworld.reproduction.planned_runs import TWIN_DATASET, TWIN_FOLDER, TWIN_STYLE, PlannedRun, RenderedTwin
from openworld.reproduction.settings import ReproductionSetup

PAPER = "is-ood"
DEFAULTS = ("ViT-B/16", (0, 1, 2))
"""Ours: the paper judges one published classifier, which is judged once, and names no CLIP for its decomposition."""

DETECTORS: dict[str, DetectorSpec] = {detector.name: DetectorSpec(detector.name) for detector in PROFILES[PAPER]}
HALVES: dict[str, HalvesSpec] = {name: HalvesSpec(name) for name in ("PCA", "LAID")}
WHOLE = "CLIP"  # what the paper calls whole features

METHODS = DETECTORS | HALVES | {WHOLE: replace(HALVES["PCA"], label=WHOLE)}
"""What the paper calls a detector, a decomposition, or whole features -> what is run."""

ABSENT: dict[str, str] = {}
CLASSIFIER = "resnet50_imagenet1k_v1"
CLASSIFIERS = (CLASSIFIER, "resnet50-0676ba61.pth", f"{CLASSIFIER}.pth", f"pretrained_weight/{CLASSIFIER}.pth")
"""Where the judged classifier is looked for below the folder of data: a folder as `openworld.classifiers` saves one, or
torchvision's file by its own name or by that of the paper's repository."""

FEWEST_IMAGES, FEWEST_MIXED = 100, 300
FEWEST_EPOCHS = 6  # after fewer, the small network knows next to nothing of the drawings, and neither does any detector
DRAWN = ("emoji-concepts", "emoji-concepts-b")  # the concepts that are in distribution, and others
EACH, FEWEST_EACH = 100, 25  # images of every cell of the rendered twin
STYLES = ("noto", "fluent-emoji-flat", "emojione")  # what is in distribution on embedded data

ROWS = {"imagenet": "ImageNet-1K", "imagenet-c": "ImageNet-C", "imagenet-r": "ImageNet-R"}
EXTRA = ("speckle_noise", "gaussian_blur", "spatter", "saturate")  # corruptions that ImageNet-C's mean leaves out

_CORRUPTED = tuple(name for name in CORRUPTIONS if name not in EXTRA)

FEWEST_NAMED, FEWEST_STEPS = 1000, 100
_STEPS, _RATE, _WIDTH = 2000, 3e-3, 112  # of the embedded world's LAID, as docs/evidence/laid-halves.md measured it

NEW_STYLES = ("noto-v1", "fluent-emoji", "twemoji", "fluent-emoji-high-contrast", "emojione-monotone")

_GENERATED, _DECOMPOSED = ("2", "5", "7"), "3"
_LISTS = {"imagenet21k": ("imglist/imagenet21k/train", "imglist/imagenet21k/val"), "SynIS": ("imglist/SynIS",)}
_TESTED = "imglist/imagenet1k/test_imagenet.txt"
_TITLES = {"imagenet21k": "ImageNet-21K", "SynIS": "Syn-IS"}


def default_tables(setup: ReproductionSetup) -> tuple[str, ...]:
    return tuple(number for number in TABLES[PAPER] if setup.embedded or number not in _GENERATED)


def spellings(setup: ReproductionSetup) -> dict[str, str]:
    return {title: title for title in (*_TITLES.values(), *ROWS.values())} | _TITLES | ROWS


def remarks(setup: ReproductionSetup, runs: Sequence[PlannedRun]) -> tuple[str, ...]:
    """What sets these runs apart from the paper's, in sentences: those on detection, on Table 3, or both."""
    if setup.embedded:
        detection = (
            "Drawings and a small network stand in for ImageNet-21K and ResNet-50; levels are cut by LAID, here.",
            "A rendered twin, made first, stands in for Syn-IS (Tables 2, 5 and 7): drawings by one artist, redrawn in "
            "17 styles, equally many in each of up to 36 cells.",
        )
        decomposed = (
            "Table 3 is of 100 concepts drawn by one artist, corrupted and restyled; other concepts' names teach. Its "
            f"semantic half has {_WIDTH} of 128 numbers, where the paper's has half."
        )
    else:
        detection = (
            "All of ImageNet-21K-P is evaluated, as in the paper: 64 lists of validation images and 64 of training "
            "images, about 11.6 million images together. All are resized alike, where the paper brings those of "
            "ImageNet-21K to 224 pixels and the others to 256.",
            "Detectors are fitted once, and images scored in shards of 4,096, which workers, GPUs and Ray share; a run "
            "that is stopped goes on with those that lack. KNN's search among the 1.28 million training images of "
            "ImageNet takes days on a CPU, and 10.5 GB of memory in every worker.",
            "The folder of data must hold imglist and the images as the paper's repository has them. The judged "
            f"classifier is {find_classifier(setup)}.",
        )
        taught = "They teach, too, where the paper takes the names of ImageNet-21K (--names FILE.txt)"
        if setup.names:
            taught = f"The names in {Path(setup.names).name} teach"
        made = "corruptions are made here from the validation images (ImageNet-C is read where all of it is on disk)"
        if has_imagenet_c(setup):
            made = "corrupted images are those of ImageNet-C as published, on disk"
        decomposed = (
            "Of Table 3 the paper names no CLIP and no class sentences: ImageNet's names in CLIP's 80 are compared "
            f"with. {taught}, and {made}."
        )
    ours = "Of Table 8 the second column is read from the upper half of the semantic levels: the paper names no subset."
    halves = [run for run in runs if _DECOMPOSED in run.tables]
    return (*((*detection, ours) if len(halves) < len(runs) else ()), *([decomposed] if halves else []))


def find_classifier(setup: ReproductionSetup) -> str:
    """Return the place of the judged classifier: what was named, the first of the usual places, or the very first."""
    if setup.classifier:
        return setup.classifier
    places = [Path(setup.data) / name for name in CLASSIFIERS]
    return str(next((place for place in places if place.exists()), places[0]))


def has_imagenet_c(setup: ReproductionSetup) -> bool:
    """Whether all of ImageNet-C that Table 3 shows is in the folder of data."""
    return not setup.embedded and not set(_CORRUPTED) & set(lacking_corruptions("imagenet-c", Path(setup.data)))


def further_downloads(run: PlannedRun) -> dict[str, str]:
    """Return what a run reads beside data sets by name: the published lists with their images, and the classifier."""
    cells = getattr(run.spec, "cells", None)
    if not cells:
        made = any(len(entry.looks) > 1 for entry in getattr(run.spec, "sets", ()))
        return {"imagenet-c": "corruptions made here"} if made else {}
    pool = {"imagenet21k": "imagenet21k-p", "SynIS": "syn-is"}[Path(cells.images).name]
    return dict.fromkeys(("is-ood-lists", pool, "resnet50"), "")


def plan_runs(tables: Sequence[PaperTable], setup: ReproductionSetup) -> Iterator[PlannedRun]:
    """One run per division, which every table of it is read from, and one of decomposed features."""
    names, suffix = _kept(setup)
    same = {name: name for name in names}
    for name, title in _TITLES.items() if names else ():
        wanted = tuple(table.number for table in tables if title in table.datasets)
        if not wanted:
            continue
        if not setup.embedded:
            yield PlannedRun(f"{name}{suffix}", _published(name, names, setup), {"given cells": title}, same, wanted)
        elif name == "imagenet21k":
            yield PlannedRun(f"emoji{suffix}", _drawn(names, setup), {}, same, wanted)
        else:
            yield PlannedRun(f"rendered{suffix}", _rendered(names, setup), {}, same, wanted, twin=_twin(setup))
    if _DECOMPOSED in [table.number for table in tables]:
        yield from _halves_runs(setup)


def generated_runs(setup: ReproductionSetup) -> Iterator[PlannedRun]:
    """The run that holds generated images against real ones at equal degree: both in one pool, measured alike."""
    names, suffix = _kept(setup)
    if names and setup.embedded:
        real = (PoolSpec(name, style) for name in DRAWN for style in (TWIN_STYLE, *NEW_STYLES))
        spec = replace(
            _rendered(names, setup),
            cells=None,
            pool=(*real, PoolSpec(TWIN_FOLDER, style="rendered", generated=True)),
            images=None if setup.quick == 1 else FEWEST_MIXED,
            decomposition=DecompositionSpec(setup.backbone, taught_by="images"),
        )
        same = {name: name for name in names}
        yield PlannedRun(f"real-and-rendered{suffix}", spec, {}, same, twin=_twin(setup))


def _kept(setup: ReproductionSetup) -> tuple[list[str], str]:
    names = [name for name, detector in DETECTORS.items() if setup.keeps(name, detector.label)]
    return names, setup.suffix(*(() if len(names) == len(DETECTORS) else names))


def _published(name: str, kept: Sequence[str], setup: ReproductionSetup) -> OODDetectionSpec:
    """The published division of a pool, and the published classifier."""
    folder, detectors = Path(setup.data), tuple(DETECTORS[detector] for detector in kept)
    lists = tuple(str(folder / file) for file in _LISTS[name])
    return OODDetectionSpec(
        models=(JudgedSpec(weights=find_classifier(setup), label="ResNet-50", detectors=detectors),),
        sources=(DatasetSpec("imagenet"),),
        classes="all",
        shots=None,
        cells=CellsSpec(lists, str(folder / name), tested=str(folder / _TESTED)),
        seeds=setup.seeds,
    )


def _network(kept: Sequence[str], setup: ReproductionSetup) -> tuple[JudgedSpec, ...]:
    epochs = max(FEWEST_EPOCHS, published("emoji-concepts").epochs // setup.quick)
    detectors, recipe = tuple(DETECTORS[name] for name in kept), {} if setup.quick == 1 else {"epochs": epochs}
    return (JudgedSpec("resnet-8", recipe=recipe, detectors=detectors, profile=PAPER),)


def _drawn(kept: Sequence[str], setup: ReproductionSetup) -> OODDetectionSpec:
    """The run of `examples/ood-detection-embedded.toml`, of its small network alone."""
    return OODDetectionSpec(
        models=_network(kept, setup),
        sources=tuple(DatasetSpec("emoji-concepts", style) for style in STYLES),
        id_part="validation",
        pool=tuple(PoolSpec(name, style) for name in DRAWN for style in (*STYLES, *NEW_STYLES)),
        images=None if setup.quick == 1 else FEWEST_IMAGES,
        decomposition=DecompositionSpec(setup.backbone, taught_by="images"),
        seeds=setup.seeds,
    )


def _rendered(kept: Sequence[str], setup: ReproductionSetup) -> OODDetectionSpec:
    return OODDetectionSpec(
        models=_network(kept, setup),
        sources=(DatasetSpec(TWIN_DATASET, TWIN_STYLE),),
        classes="all",
        id_part="validation",
        cells=CellsSpec(generated=TWIN_FOLDER),
        seeds=setup.seeds,
    )


def _twin(setup: ReproductionSetup) -> RenderedTwin:
    return RenderedTwin(each=max(FEWEST_EACH, EACH // setup.quick), backbone=setup.backbone)


def _halves_runs(setup: ReproductionSetup) -> Iterator[PlannedRun]:
    """The run of decomposed features; of whole features alone PCA's, which is the quickest."""
    every = [*HALVES, WHOLE]
    names = [name for name in every if setup.keeps(name, METHODS[name].label)]
    if not names:
        return
    halves = [HALVES[name] for name in HALVES if name in names] or [HALVES["PCA"]]
    same, parts = {name: name for name in names}, () if names == every else names
    if setup.embedded:
        yield PlannedRun(f"halves{setup.suffix(*parts)}", _embedded_halves(halves, setup), {}, same, (_DECOMPOSED,))
        return

    # ImageNet's names teach, so that ImageNet is always among the rows.
    rows = tuple(name for name, title in ROWS.items() if name == "imagenet" or setup.keeps_data(title))
    files = "-published-corruptions" if "imagenet-c" in rows and has_imagenet_c(setup) else ""
    parts = (*(() if set(rows) == set(ROWS) else rows), *parts)
    parts += (f"taught-by-{Path(setup.names).stem}",) if setup.names else ()
    titles = {ROWS[name]: ROWS[name] for name in rows}
    spec = _downloaded_halves(halves, rows, setup)
    yield PlannedRun(f"halves{files}{setup.suffix(*parts)}", spec, titles, same, (_DECOMPOSED,))


def _downloaded_halves(
    halves: Sequence[HalvesSpec], rows: Sequence[str], setup: ReproductionSetup
) -> DecomposedZeroShotSpec:
    row, looks = ROWS["imagenet-c"], tuple(f"{name} {severity}" for name in _CORRUPTED for severity in SEVERITIES)
    made = (LabelledSetSpec("imagenet", row=row, looks=looks),)
    as_published = tuple(LabelledSetSpec("imagenet-c", look, row=row) for look in looks)
    sets = {
        "imagenet": (LabelledSetSpec("imagenet", row=ROWS["imagenet"]),),
        "imagenet-c": as_published if has_imagenet_c(setup) else made,
        "imagenet-r": (LabelledSetSpec("imagenet-r", row=ROWS["imagenet-r"]),),
    }
    return DecomposedZeroShotSpec(
        sets=tuple(entry for name in rows for entry in sets[name]),
        methods=tuple(halves),
        names=(setup.names,) if setup.names else (),
        images=None if setup.quick == 1 else max(FEWEST_NAMED, 10_000 // setup.quick),
        backbone=setup.backbone,
        sentences=CLIP_80,
        class_sentences=CLIP_80,
        seeds=setup.seeds,
    )


def _embedded_halves(halves: Sequence[HalvesSpec], setup: ReproductionSetup) -> DecomposedZeroShotSpec:
    """Return the spec of `bench/laid_halves.py`."""
    style, steps = "noto", max(FEWEST_STEPS, _STEPS // setup.quick)
    settings = {"semantic_width": _WIDTH, "learning_rate": _RATE, "steps": steps}
    corrupted = tuple(f"{name} 3" for name in CORRUPTIONS)
    rows = {"clean": (style, ("plain",)), "corrupted": (style, corrupted), "restyled": (style, tuple(RESTYLED))}
    rows |= {"twemoji": (TARGET_STYLES[0], ("plain",))}
    return DecomposedZeroShotSpec(
        sets=tuple(
            LabelledSetSpec("emoji-concepts", domain, row=row, looks=looks, as_drawn=True)
            for row, (domain, looks) in rows.items()
        ),
        methods=tuple(HalvesSpec("LAID", settings=settings) if half.method == "LAID" else half for half in halves),
        names=("emoji-concepts-400",),
        tested_teach=False,
        backbone=setup.backbone,
        seeds=setup.seeds,
    )
