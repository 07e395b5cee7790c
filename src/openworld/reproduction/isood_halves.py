"""IS-OOD's Table 3 as a run: zero-shot accuracy with whole features and their halves, on clean and shifted pictures."""

from collections.abc import Sequence

from openworld.datasets.corruptions import CORRUPTIONS, SEVERITIES
from openworld.datasets.emoji.drawings import TARGET_STYLES
from openworld.datasets.styles import STYLES
from openworld.datasets.templates import CLIP_80
from openworld.evaluations.decomposed_zero_shot.entries import HalvesSpec, LabelledSetSpec
from openworld.evaluations.decomposed_zero_shot.task import DecomposedZeroShotSpec
from openworld.reproduction.settings import ReproductionSetup

WHOLE = "CLIP"
"""What the paper calls whole features."""

METHODS: dict[str, HalvesSpec] = {name: HalvesSpec(name) for name in ("PCA", "LAID")}
"""What the paper calls a method -> what is run."""

ROWS = {"imagenet": "ImageNet-1K", "imagenet-c": "ImageNet-C", "imagenet-r": "ImageNet-R"}
EXTRA = ("speckle_noise", "gaussian_blur", "spatter", "saturate")
"""Corruptions that ImageNet-C's mean leaves out."""

FEWEST_IMAGES = 1000
_STEPS, _RATE, _WIDTH = 2000, 3e-3, 112  # of the embedded world's LAID, as docs/shift.md tells it
_DRAWN = "emoji-concepts"
_FEWEST_STEPS = 100


def remark(setup: ReproductionSetup) -> str:
    """What sets the table apart from the paper's."""
    if setup.embedded:
        return (
            "Table 3 is of 100 concepts drawn by one artist, corrupted and restyled; other concepts' names teach. Its "
            f"semantic half has {_WIDTH} of 128 numbers, where the paper's has half."
        )
    return (
        "Of Table 3 the paper names no CLIP and no class sentences: ImageNet's names in CLIP's 80 teach and are "
        "compared with, and corruptions are made here from the validation pictures."
    )


def halves_spec(kept: Sequence[str], setup: ReproductionSetup) -> DecomposedZeroShotSpec:
    """The run; of whole features alone PCA's, which is the quickest."""
    methods = [METHODS[name] for name in METHODS if name in kept] or [METHODS["PCA"]]
    return _embedded(methods, setup) if setup.embedded else _downloaded(methods, setup)


def _downloaded(methods: Sequence[HalvesSpec], setup: ReproductionSetup) -> DecomposedZeroShotSpec:
    looks = tuple(f"{name} {severity}" for name in CORRUPTIONS if name not in EXTRA for severity in SEVERITIES)
    return DecomposedZeroShotSpec(
        sets=(
            LabelledSetSpec("imagenet", row=ROWS["imagenet"]),
            LabelledSetSpec("imagenet", row=ROWS["imagenet-c"], looks=looks),
            LabelledSetSpec("imagenet-r", row=ROWS["imagenet-r"]),
        ),
        methods=tuple(methods),
        images=None if setup.quick == 1 else max(FEWEST_IMAGES, 10_000 // setup.quick),
        backbone=setup.backbone,
        sentences=CLIP_80,
        class_sentences=CLIP_80,
        seeds=setup.seeds,
    )


def _embedded(methods: Sequence[HalvesSpec], setup: ReproductionSetup) -> DecomposedZeroShotSpec:
    """As `bench/laid_halves.py` has it."""
    style, steps = "noto", max(_FEWEST_STEPS, _STEPS // setup.quick)
    settings = {"semantic_width": _WIDTH, "learning_rate": _RATE, "steps": steps}
    corrupted = tuple(f"{name} 3" for name in CORRUPTIONS)
    rows = {"clean": (style, ("plain",)), "corrupted": (style, corrupted), "restyled": (style, tuple(STYLES))}
    rows |= {"twemoji": (TARGET_STYLES[0], ("plain",))}
    return DecomposedZeroShotSpec(
        sets=tuple(
            LabelledSetSpec(_DRAWN, domain, row=row, looks=looks, as_drawn=True)
            for row, (domain, looks) in rows.items()
        ),
        methods=tuple(HalvesSpec("LAID", settings=settings) if one.method == "LAID" else one for one in methods),
        names=("emoji-concepts-400",),
        tested_teach=False,
        backbone=setup.backbone,
        seeds=setup.seeds,
    )
