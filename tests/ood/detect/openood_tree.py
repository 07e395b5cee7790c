"""A small tree laid out as OpenOOD's download: lists below benchmark_imglist/, images below images_*/."""

from pathlib import Path

import numpy as np
from PIL import Image

SETS = {  # list -> folder of images, paths below it, number of a class or -1
    "imagenet/test_ssb_hard": ("images_largescale", "ssb_hard/n00470682/n00470682_{}.JPEG", -1),
    "imagenet/test_ninco": ("images_largescale", "ninco/amphiuma_means/amphiuma_means_{}.jpeg", -1),
    "imagenet/test_inaturalist": ("images_largescale", "inaturalist/images/{}.jpg", -1),
    "imagenet/test_textures": ("images_classic", "texture/banded/banded_{}.jpg", -1),
    "imagenet/test_openimage_o": ("images_largescale", "openimage_o/images/{}.jpg", -1),
    "imagenet/val_openimage_o": ("images_largescale", "openimage_o/images/v{}.jpg", -1),
    "imagenet200/test_imagenet200_r": ("images_largescale", "imagenet_r/n01443537/art_{}.jpg", 0),
    "imagenet/test_imagenet_c": ("images_largescale", "imagenet_c/fog/3/ILSVRC2012_val_{}.JPEG", 7),
    "cifar10/test_cifar100": ("images_classic", "cifar100/test/apple/{}.png", -1),
    "cifar10/test_tin": ("images_classic", "tin/test/n01443537/{}.png", -1),
    "cifar10/test_mnist": ("images_classic", "mnist/test/{}.png", -1),
    "cifar10/test_svhn": ("images_classic", "svhn/test/1/{}.png", -1),
    "cifar10/test_texture": ("images_classic", "texture/dotted/dotted_{}.jpg", -1),
    "cifar10/test_places365": ("images_classic", "places365/airfield/{}.png", -1),
}
CIFAR10 = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
COUNTS = {"train": 4, "val": 2, "test": 3}


def make_tree(root: Path, side: int = 16) -> Path:
    """Write lists and images; `COUNTS` of each of CIFAR-10's classes, and 4 to 9 of every set."""
    generator = np.random.default_rng(0)
    for place, (name, (images, path, number)) in enumerate(SETS.items()):
        paths = [path.format(f"{row:04d}") for row in range(4 + place % 6)]
        _write_list(root, name, [(own, number) for own in paths])
        for own in paths:
            _draw(root / images / own, generator, side)
    for part, count in COUNTS.items():
        split = "train" if part == "train" else "test"
        entries = [(f"cifar10/{split}/{name}/{part}{row:04d}.png", label)
                   for row in range(count) for label, name in enumerate(CIFAR10)]  # fmt: skip
        _write_list(root, f"cifar10/{part}_cifar10", entries)
        for own, label in entries:
            _draw(root / "images_classic" / own, generator, side, label)
    entries = [(f"imagenet_1k/val/ILSVRC2012_val_{row:08d}.JPEG", 3 * row) for row in range(5)]
    _write_list(root, "imagenet/test_imagenet", entries)
    for own, _ in entries:
        _draw(root / "images_largescale" / own, generator, side)
    return root


def _write_list(root: Path, name: str, entries: list[tuple[str, int]]) -> None:
    path = root / "benchmark_imglist" / f"{name}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{own} {number}\n" for own, number in entries))


def _draw(path: Path, generator: np.random.Generator, side: int, label: int | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = generator.integers(0, 100, (side, side, 3))
    if label is not None:
        pixels[label, :, label % 3] += 150
    Image.fromarray(pixels.astype(np.uint8)).save(path, "PNG")
