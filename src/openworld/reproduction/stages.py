"""Which stage of zero-shot CLIP's runs is not the papers'? Images, names, sentences, preprocessing, weights.

Each is looked at by itself. What comes behind them, the metrics, is the same everywhere and tested with the package.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from openworld.backbones import ImageConfig, TextConfig
from openworld.backbones.preprocess import openai_preprocess
from openworld.datasets import PUBLISHED
from openworld.datasets.names.class_names import listed_names
from openworld.datasets.published.class_folders import MENDED
from openworld.datasets.templates import PHOTO, TEMPLATES
from openworld.evaluations import read_protocol
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.runtime import backbone
from openworld.own_data.doctor import check_backbone
from openworld.reproduction.settings import PlannedRun
from openworld.runs import RunStore

STAGES = ("images", "names", "sentences", "preprocessing", "weights")
SHARED_LISTS = ("imagenetv2", "imagenet-sketch", "imagenet-a", "imagenet-r")
"""Data sets whose classes are ImageNet's, or some of them."""

PREPROCESS = openai_preprocess(224)
LOOKED_AT, ALIKE = 3, 1e-3  # images of a data set that are prepared again, and how near their pixels must be

TOKENS = ("end_token", "pad_token")
VIT_B_16 = {
    **{f"image {name}": value for name, value in asdict(ImageConfig()).items()},
    **{f"text {name}": value for name, value in asdict(TextConfig()).items()},
    "parameters": 149_620_737 + 1,
    "logit scale": 100.0,  # and a bias, which CLIP has none of
}
"""What is known of OpenAI's CLIP ViT-B/16."""

LEAST_NAMED = 0.1  # weights that learned anything name embedded drawings better than one in 100


@dataclass(frozen=True)
class Departure:
    """A stage that is not as it should be: of STAGES; of which data sets, () for all; what was found and expected."""

    stage: str
    datasets: tuple[str, ...]
    what: str


def departures(runs: Sequence[PlannedRun], folder: Path, name: str, device: str) -> tuple[Departure, ...]:
    """Return every stage of finished runs of zero-shot CLIP that departs, in the order of STAGES."""
    clip = backbone(name, device)
    departures_found = [Departure("weights", (), what) for what in wrong_weights(check_backbone(name, device=device))]
    for run in runs:
        titles = []
        for entry in run.data:
            title, images = run.datasets[str(entry)], DatasetSpec(entry.dataset, entry.domain).images().load()
            titles.append(title)
            for stage, wrong in (
                ("images", wrong_counts(entry.dataset, images)),
                ("names", wrong_names(entry.dataset, images.classnames)),
                ("preprocessing", wrong_pixels(clip.preprocess, images)),
            ):
                departures_found += [Departure(stage, (title,), f"{title}: {what}") for what in wrong]
        for record in RunStore(folder / run.name).records():
            task = read_protocol(record.unit.arguments["task"])
            dataset = task.image_sets["train"].sources[0].dataset
            ours, expected = tuple(task.learner.settings["templates"]), (TEMPLATES.get(dataset, PHOTO),)
            if ours != expected:
                what = f"names of {dataset} stand in {list(ours)}, CoOp's in {list(expected)}"
                departures_found.append(Departure("sentences", tuple(titles), what))
    return tuple(sorted(dict.fromkeys(departures_found), key=lambda departure: STAGES.index(departure.stage)))


def wrong_counts(dataset: str, images) -> Iterator[str]:
    """Yield counts of classes and of test images that are not the published ones."""
    card = PUBLISHED[dataset]
    pairs = {"classes": (len(images.classnames), card.classes), "test images": (len(images), card.counts["test"])}
    for what, (count, expected) in pairs.items():
        if count != expected:
            yield f"{count:,} {what}, published are {expected:,}"


def wrong_names(dataset: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the first class name that is not the published one; nothing where no list is at hand."""
    shared = dataset in SHARED_LISTS
    known = listed_names("imagenet" if shared else dataset)
    original = {ours: theirs for theirs, ours in MENDED.values()}
    ours, expected = ([original.get(name, name) for name in side] for side in (names, known.names if known else ()))
    if shared and len(ours) < len(expected):
        expected = [name for name in expected if name in set(ours)]
    for place, (name, published) in enumerate(zip_longest(ours, expected, fillvalue="nothing") if known else ()):
        if name != published:
            yield f"class {place} is {name!r}, published is {published!r}"
            return


def wrong_pixels(preprocess, images) -> Iterator[str]:
    """Yield the first image that does not become what CLIP's own preprocessing makes of it."""
    for number in np.linspace(0, len(images) - 1, min(LOOKED_AT, len(images))).astype(int):
        ours, expected = (np.asarray(each(images.image(int(number)))) for each in (preprocess, PREPROCESS))
        if ours.shape != expected.shape:
            yield f"images become {ours.shape}, CLIP's are {expected.shape}"
            return
        if (apart := float(np.abs(ours - expected).max())) > ALIKE:
            yield f"pixels of image {number} differ by {apart:.3g} from those of CLIP's preprocessing"
            return


def wrong_weights(model: Mapping[str, Any]) -> Iterator[str]:
    """Yield shapes, a count and a temperature that are not those of OpenAI's ViT-B/16; weights that know nothing."""
    if not model["image"]:
        yield f"{model['name']} is read by another library, and cannot be compared with OpenAI's ViT-B/16"
        return
    ours = {"parameters": model["parameters"], "logit scale": round(model["logit_scale"], 1)}
    for part in ("image", "text"):
        ours |= {f"{part} {name}": value for name, value in model[part].items() if name not in TOKENS}
    for what, value in ours.items():
        if value != VIT_B_16[what]:
            yield f"{what} is {value}, that of OpenAI's ViT-B/16 is {VIT_B_16[what]}"
    share = model["zero_shot"]["right"] / model["zero_shot"]["images"]
    if share < LEAST_NAMED:
        yield f"{100 * share:.0f} % of embedded drawings are named right: these weights are not trained"
