"""A tiny tree in the exact layout in which IS-OOD is released (qqwsad5/IS-OOD @ 7b52db8), and ImageNet beside it."""

from pathlib import Path

import numpy as np
from PIL import Image
from small_images import save_network

IDS = {"n01440764": "tench", "n01443537": "goldfish", "n01484850": "great white shark", "n01491361": "tiger shark"}
OTHERS = ("n01819313", "n02099712")
LEVELS = 8
TOO_FEW = {(6, 0): 9, (7, 0): 0, (7, 1): 4}
"""Cells of ImageNet-21K with fewer than ten images, as released; all others hold eleven here, ten for validation."""


def plant(root: Path) -> Path:
    """ImageNet's class folders, all lists and their images, and a saved classifier, as people keep them."""
    generator = np.random.default_rng(0)
    _plant_imagenet(root, generator)
    for cell in np.ndindex(LEVELS, LEVELS):
        count = TOO_FEW.get(cell, 10)
        for part, numbers in {"val": range(count), "train": range(count, count + (cell not in TOO_FEW))}.items():
            known = list(IDS)[0] if cell[1] == 0 else OTHERS[0]
            where = [(known if number % 2 else OTHERS[1], 64 * number + 8 * cell[0] + cell[1]) for number in numbers]
            paths = [f"./imagenet21k_{part}/{one}/{one}_{number}.JPEG" for one, number in where]
            _list(root, f"imagenet21k/{part}", cell, paths, generator)
        made = [f"./cov_{cell[0]}_sem_{cell[1]}/{number}_{17 + cell[1]}_{number % 3}.png" for number in range(10)]
        _list(root, "SynIS", cell, made, generator)
    save_network(root / "resnet50_imagenet1k_v1", tuple(IDS.values()), side=16, architecture="convnet")
    return root


def _plant_imagenet(root: Path, generator: np.random.Generator) -> None:
    lines, number = [], 0
    for one in IDS:
        for place in range(3):
            _paint(root / f"imagenet/images/train/{one}/{one}_{place}.JPEG", generator)
            number += 1
            _paint(root / f"imagenet/images/val/{one}/ILSVRC2012_val_{number:08d}.JPEG", generator)
            lines += [f"./val/ILSVRC2012_val_{number:08d}.JPEG"] if place < 2 else []
    _write(root / "imagenet/classnames.txt", [f"{one} {name}" for one, name in IDS.items()])
    _write(root / "imglist/imagenet1k/test_imagenet.txt", lines[::-1])


def _list(root: Path, name: str, cell: tuple[int, int], paths: list[str], generator) -> None:
    _write(root / f"imglist/{name}/cov_{cell[0]}_sem_{cell[1]}.txt", paths)
    for path in paths:
        _paint(root / name.partition("/")[0] / path, generator)


def _paint(path: Path, generator: np.random.Generator) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(generator.integers(0, 256, (8, 8, 3), dtype=np.uint8)).save(path)


def _write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))
